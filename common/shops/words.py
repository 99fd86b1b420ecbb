"""What has become of an order that a shop has posted, on pages."""

from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext_lazy

from common.shops.drafts import Reason, Result

RESULTS = {
    Result.DRAFT: pgettext_lazy("order of a shop", "Taken"),
    Result.REQUESTED: pgettext_lazy("order of a shop", "Requested"),
    Result.ORDER: pgettext_lazy("order of a shop", "Order made"),
    Result.UPDATED: pgettext_lazy("order of a shop", "Changed"),
    Result.CANCELLED: pgettext_lazy("order of a shop", "Cancelled in the shop"),
    Result.IGNORED: pgettext_lazy("order of a shop", "Ignored"),
    Result.REFUSED: pgettext_lazy("order of a shop", "Refused"),
}
LOOKS = {
    Result.DRAFT: "good",
    Result.REQUESTED: "good",
    Result.ORDER: "good",
    Result.UPDATED: "info",
    Result.REFUSED: "bad",
}
REASONS = {
    Reason.UNPAID: _("it is not paid"),
    Reason.OTHER_METHOD: _("its shipping method has not the text of the connection"),
    Reason.NOTHING_TO_SHIP: _("nothing of it has to be brought"),
    Reason.ALREADY_REQUESTED: _("a delivery or an order was made of it already"),
    Reason.DROPPED: _("it was dropped"),
    Reason.OUT_OF_DATE: _("a later state of it is known"),
    Reason.UNKNOWN_FORM: _("it is not an order of this platform"),
}
