"""What the codes of connected shops are called on pages."""

from django.utils.translation import gettext, pgettext_lazy
from django.utils.translation import gettext_lazy as _

from delivery.connections.drafts import MISSING_NUMBER, TEST_ORDER, Reason, Result

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
RESULTS = {
    Result.DRAFT: pgettext_lazy("order of a shop", "Taken"),
    Result.REQUESTED: pgettext_lazy("order of a shop", "Requested"),
    Result.UPDATED: pgettext_lazy("order of a shop", "Changed"),
    Result.CANCELLED: pgettext_lazy("order of a shop", "Cancelled in the shop"),
    Result.IGNORED: pgettext_lazy("order of a shop", "Ignored"),
    Result.REFUSED: pgettext_lazy("order of a shop", "Refused"),
}
LOOKS = {Result.DRAFT: "good", Result.REQUESTED: "good", Result.UPDATED: "info", Result.REFUSED: "bad"}
REASONS = {
    Reason.UNPAID: _("it is not paid"),
    Reason.OTHER_METHOD: _("its shipping method has not the text of the connection"),
    Reason.NOTHING_TO_SHIP: _("nothing of it has to be brought"),
    Reason.ALREADY_REQUESTED: _("its delivery is requested already"),
    Reason.DROPPED: _("it was dropped"),
    Reason.OUT_OF_DATE: _("a later state of it is known"),
    Reason.UNKNOWN_FORM: _("it is not an order of this platform"),
}


def missing(code: str) -> str:
    """Why an order cannot be requested, as a sentence."""
    return str(_MISSING[code]) if code in _MISSING else gettext("It is refused: %(code)s.") % {"code": code}
