"""Why no order can be made of an order of a shop yet, on pages."""

from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from integration.connections.models import PAYS_AT_DOOR, TEST_ORDER

_MISSING = {
    "missing_name": _("The receiver's name is missing."),
    "missing_zipcode": _("The CEP is missing, or has not eight digits."),
    "missing_street": _("The street is missing."),
    "missing_number": _("The number of the house is missing. Write S/N if it has none."),
    "missing_neighborhood": _("The district is missing."),
    "missing_city": _("The city is missing."),
    "missing_state": _("The state is missing."),
    TEST_ORDER: _("It is a test order, which is not created in production."),
    PAYS_AT_DOOR: _("It is to be paid at the door, which carriers do not ask for. Create it if it is paid otherwise."),
    "company_not_found": _("The connection has no company."),
    "duplicate_order": _("You have an order with this number already."),
    "account_suspended": _("The account is suspended."),
    "too_many_simulations": _("The sandbox moves as many orders of the seller as it can."),
}


def missing(code: str) -> str:
    """Why an order cannot be made, as a sentence."""
    return str(_MISSING[code]) if code in _MISSING else gettext("It is refused: %(code)s.") % {"code": code}
