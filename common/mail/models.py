from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from common.fields import CiphertextField, one_of, personal

LONGEST_SUBJECT = 200
LONGEST_ERROR = 500


class Kind(models.TextChoices):
    """What a message is about."""

    INVITATION = "invitation", _("Invitation")
    PASSWORD_RESET = "password_reset", _("Password reset")  # pragma: allowlist secret  # a name
    ALERT = "alert", _("Alert")
    DIGEST = "digest", _("Daily digest")
    RECEIVER = "receiver", _("Link for a receiver")
    ORDER = "order", _("Status of an order")


class MessageState(models.TextChoices):
    """Whether a message is still to be sent."""

    WAITING = "waiting", _("Waiting")
    SENT = "sent", _("Sent")
    FAILED = "failed", _("Failed, no more retries")


class Message(models.Model):
    """An e-mail, written in the transaction of what it tells. Workers send it, see `common.mail.sending`.

    The body can contain a link that lets its holder in, so it is encrypted, and erased when the message has ended.
    """

    kind = models.CharField(_("kind"), max_length=14, choices=Kind)
    recipient = personal(models.CharField(_("recipient"), max_length=254))
    subject = personal(models.CharField(_("subject"), max_length=LONGEST_SUBJECT))
    body_ciphertext = personal(CiphertextField(blank=True))
    # Where a POST ends further messages (RFC 8058). Erased with the body; no constraint says so, because the previous
    # version of the service does not.
    unsubscribe_ciphertext = personal(CiphertextField(blank=True, db_default=""))
    created_at = models.DateTimeField(_("created at"))
    expires_at = models.DateTimeField(_("not sent after"))

    state = models.CharField(_("state"), max_length=7, choices=MessageState, default=MessageState.WAITING)
    tries = models.PositiveSmallIntegerField(_("tries"), default=0)
    # When it is sent next; while a worker sends it, when another worker may take it over.
    due_at = models.DateTimeField(_("next attempt at"))
    ended_at = models.DateTimeField(_("ended at"), null=True)
    error = personal(models.CharField(_("last error"), max_length=LONGEST_ERROR, blank=True))

    class Meta:
        verbose_name = _("e-mail")
        verbose_name_plural = _("e-mails")
        ordering = ["-id"]
        constraints = [
            one_of("message_state", "state", MessageState.values),
            models.CheckConstraint(
                name="message_ended_has_no_body",
                condition=Q(state="waiting", ended_at=None)
                | (~Q(state="waiting") & Q(ended_at__isnull=False, body_ciphertext="")),
            ),
        ]
        indexes = [
            models.Index(fields=["due_at"], name="message_due", condition=Q(state="waiting")),
            models.Index(fields=["created_at"], name="message_age"),
            models.Index(fields=["recipient", "created_at"], name="message_to"),
        ]

    def __str__(self) -> str:
        return f"{self.get_kind_display()}, {self.recipient}"
