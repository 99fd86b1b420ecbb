"""The e-mails of the last 30 days in the admin, without their bodies."""

from django.contrib import admin
from django.utils.translation import gettext_lazy as _

from common.admin.base import LargeTable, ModelAdmin, Unchangeable, column, pill
from common.brazil.formats import moment
from common.mail.models import Message, MessageState


@admin.register(Message)
class MessageAdmin(Unchangeable, LargeTable, ModelAdmin):
    """Found by a part of the recipient's address, which is not encrypted. No index serves that: 30 days are kept."""

    list_display = [
        "recipient",
        "state_pill",
        "subject",
        column("created_at", _("created"), moment),
        "kind",
        "tries",
        "error",
    ]
    search_fields = ["recipient"]
    search_help_text = _("Recipient")
    nothing_yet = _("No e-mail in the last 30 days.")
    fields = readonly_fields = [
        "kind", "recipient", "subject", "state", "tries", "error", "created_at", "due_at", "ended_at", "expires_at",
    ]  # fmt: skip  # a list of names
    list_filter = ["state", "kind"]

    @admin.display(description=_("status"))
    def state_pill(self, message: Message) -> str:
        colours = {MessageState.WAITING: "info", MessageState.SENT: "good", MessageState.FAILED: "bad"}
        return pill(message.get_state_display(), colours[MessageState(message.state)])
