"""The texts of refusals, as people read them."""

from datetime import datetime

from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _
from django_stubs_ext import StrPromise

from common.brazil.formats import named_moment
from common.errors import DomainError
from integration import lifecycle
from integration.errors import AmbiguousTrackingCode, InvalidStatusReport, MoveRefused, UnknownTrackingCode
from integration.lifecycle import Status
from integration.words import STATUSES

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
