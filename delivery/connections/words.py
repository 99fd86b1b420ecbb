"""Why an order of a shop cannot be requested, on pages."""

from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from delivery.connections.drafts import MISSING_NUMBER, TEST_ORDER

_MISSING = {
    MISSING_NUMBER: _("The number of the house is missing. Write S/N if it has none."),
    TEST_ORDER: _("It is a test order, which is not requested in production."),
    "address_not_located": _("The address was not found. Correct it, or choose the place on the map."),
    "geocoder_unavailable": _("What looks addresses up does not answer. It is tried again within ten minutes."),
    "outside_service_area": _("The address is outside the area that this service serves."),
    "price_unavailable": _("There is no price for this trip: it is too long, or too much for the vehicle."),
    "pickup_not_linked": _("The connection has no active pickup point."),
    "closed": _("Nothing is picked up at this hour. It is looked at again every ten minutes."),
    "external_id_in_use": _("A delivery of the last 24 hours has this order number."),
    "account_suspended": _("The account is suspended."),
    "too_many_simulations": _("The sandbox moves as many deliveries of the account as it can."),
}


def missing(code: str) -> str:
    """Why an order cannot be requested, as a sentence."""
    return str(_MISSING[code]) if code in _MISSING else gettext("It is refused: %(code)s.") % {"code": code}
