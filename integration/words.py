"""What pages call the codes of orders, which are the API's. One word in the panel and the admin."""

from datetime import datetime

from django.utils.translation import gettext, pgettext_lazy
from django.utils.translation import gettext_lazy as _
from django_stubs_ext import StrOrPromise, StrPromise

from common.brazil.formats import named_moment
from common.columns import State
from common.errors import DomainError
from integration import lifecycle
from integration.errors import AmbiguousTrackingCode, InvalidStatusReport, MoveRefused, UnknownTrackingCode
from integration.lifecycle import Reason, Status

STATUSES: dict[str, StrPromise] = {
    Status.PENDING: _("Waiting for collection"),
    Status.COLLECTED: _("Collected"),
    Status.IN_TRANSIT: _("In transit"),
    Status.OUT_FOR_DELIVERY: _("Out for delivery"),
    Status.DELIVERED: _("Delivered"),
    Status.DELIVERY_FAILED: _("Delivery failed"),
    Status.RETURNED: _("Returned"),
    Status.CANCELLED: pgettext_lazy("order", "Cancelled"),
}
REASONS: dict[Reason, StrPromise] = {
    Reason.ABSENT: _("Nobody there"),
    Reason.REFUSED: _("Refused by the receiver"),
    Reason.ADDRESS_NOT_FOUND: _("Address not found"),
    Reason.ADDRESS_INCOMPLETE: _("Address incomplete"),
    Reason.CLOSED: _("Place closed"),
    Reason.DAMAGED: _("Goods damaged"),
    Reason.LOST: _("Lost"),
    Reason.AREA_AT_RISK: _("Area at risk"),
    Reason.OTHER: _("Another reason"),
}
# Of a status' badge: good, info, warn, bad; empty for grey.
COLOURS: dict[str, str] = {
    Status.PENDING: "warn",
    Status.COLLECTED: "info",
    Status.IN_TRANSIT: "info",
    Status.OUT_FOR_DELIVERY: "info",
    Status.DELIVERED: "good",
    Status.DELIVERY_FAILED: "bad",
    Status.RETURNED: "bad",
    Status.CANCELLED: "",
}
# What an order names as its service.
ORDER_SERVICES: dict[str, StrPromise] = {
    "base": _("Base (economy)"),
    "next": _("Next (express)"),
    "turbo": _("Turbo"),
}


def state(status: str) -> State:
    return State(STATUSES[status], status, COLOURS[status])


def service(code: str) -> StrOrPromise:
    """The name of the service that an order names; an unknown code itself."""
    return ORDER_SERVICES.get(code, code)


# What pages say where the API's message, which is Portuguese, says it with the API's words. By code, and by fault.
_REFUSALS: dict[str, StrPromise] = {
    "unknown_tracking_code": _("No order has the tracking code %(code)s."),
    "unknown_invoice_key": _("No order has the NF-e %(code)s. Scan the tracking code or the QR code of the label."),
    "ambiguous_invoice_key": _(
        "Several orders have the NF-e %(code)s. Scan the tracking code or the QR code of the label."
    ),
    "postcode_read": _("%(code)s is a CEP. Scan the tracking code or the QR code of the label."),
    "address_read": _("The QR code %(code)s is not that of an order. Scan the tracking code of the label."),
    "ambiguous_tracking_code": _("Several orders have the tracking code %(code)s. Sellers: %(references)s"),
    "event_id_reused": _("Another event was recorded with the same id. Scan the parcel again."),
    "unknown_code": _("There is no such reason."),
    "no_reason_here": _("Only a failed delivery and a return have a reason."),
    "code_missing": _("A failed delivery and a return need a reason."),
    "text_missing": _("Another reason needs a text."),
    "too_long": _("The text is too long: at most %(most)s characters."),
    "nul": _("The text has a character that cannot be stored."),
    "moment_out_of_bounds": _("The moment is more than 30 days ago, or in the future."),
    "moment_before_the_last": _("The order has a later event already, of %(last)s."),
}


def refusal(error: DomainError) -> str:
    """A refused movement in the reader's language."""
    values = dict(error.values)
    if isinstance(error, MoveRefused):
        return _move_refused(str(values["current"]), str(values["target"]))
    if "last" in values:
        values["last"] = named_moment(datetime.fromisoformat(str(values["last"])))
    name = error.fault if isinstance(error, (InvalidStatusReport, UnknownTrackingCode)) else error.code
    text = str(_REFUSALS[name]) % values
    if isinstance(error, AmbiguousTrackingCode) and error.has_more:
        text += " " + gettext("More sellers use this code than are listed here.")  # it ends with "…"
    return text


def _move_refused(current: str, target: str) -> str:
    possible = [STATUSES[status] for status in lifecycle.TABLE[Status(current)] if status in lifecycle.BY_CARRIER]
    text = gettext("From “%(current)s” an order does not become “%(target)s”.") % {
        "current": STATUSES[current],
        "target": STATUSES[target],
    }
    if not possible:
        return text
    return f"{text} " + gettext("Possible now: %(possible)s.") % {"possible": ", ".join(map(str, possible))}
