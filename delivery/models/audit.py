import pgtrigger
from django.db import models
from django.utils.translation import gettext_lazy as _

from common.fields import one_of
from delivery.models.integrator import Environment, Integrator


class AuditAction(models.TextChoices):
    """Kinds of change to an account that the audit trail records."""

    TOKEN_ISSUED = "token_issued", _("Token issued")
    TOKEN_ROTATED = "token_rotated", _("Token rotated")
    TOKEN_REVOKED = "token_revoked", _("Token revoked")
    TOKEN_RENAMED = "token_renamed", _("Token renamed")
    URL_SET = "url_set", _("Webhook URL set")
    ENDPOINT_ON = "endpoint_on", _("Webhooks switched on")
    ENDPOINT_OFF = "endpoint_off", _("Webhooks switched off")
    SECRET_SHOWN = "secret_shown", _("Signing secret shown")  # pragma: allowlist secret  # a name
    SECRET_ROTATED = "secret_rotated", _("Signing secret rotated")  # pragma: allowlist secret  # a name
    TEST_SENT = "test_sent", _("Test event sent")
    EVENTS_REPLAYED = "events_replayed", _("Events sent again")
    ACCOUNT_SUSPENDED = "account_suspended", _("Account suspended")
    ALERTS_SET = "alerts_set", _("URL of alerts set")
    ALERT_TESTED = "alert_tested", _("Test alert sent")
    PERSON_INVITED = "person_invited", _("Person invited")
    INVITATION_RESENT = "invitation_resent", _("Invitation sent again")
    INVITATION_REVOKED = "invitation_revoked", _("Invitation revoked")
    PERSON_JOINED = "person_joined", _("Person joined")
    ROLE_CHANGED = "role_changed", _("Role changed")
    PERSON_REMOVED = "person_removed", _("Person removed")
    SUSPENSION_LIFTED = "suspension_lifted", _("Suspension lifted")
    ANY_PICKUP_ALLOWED = "any_pickup_allowed", _("Pick up anywhere: allowed")
    ANY_PICKUP_ENDED = "any_pickup_ended", _("Pick up anywhere: no longer allowed")


class AuditEntry(models.Model):
    """Who did what to an account, and when. Append-only. Changes of deliveries are recorded as `Transition`."""

    integrator = models.ForeignKey(
        Integrator,
        verbose_name=_("integrator"),
        on_delete=models.CASCADE,
        related_name="audit",
        db_index=False,  # an index begins with this column
    )
    environment = models.CharField(_("environment"), max_length=7, choices=Environment)
    action = models.CharField(_("action"), max_length=20, choices=AuditAction)
    subject = models.CharField(
        _("subject"), max_length=2000, blank=True, help_text=_("A token's name and hint, a URL, a count, a reason.")
    )
    by = models.CharField(_("by"), max_length=200)
    at = models.DateTimeField(_("at"))

    class Meta:
        verbose_name = _("audit entry")
        verbose_name_plural = _("audit trail")
        ordering = ["-id"]
        constraints = [one_of("audit_environment", "environment", Environment.values)]
        indexes = [models.Index(fields=["integrator", "environment", "-id"], name="audit_of_integrator")]
        triggers = [
            pgtrigger.Protect(name="audit_append_only", operation=pgtrigger.Update | pgtrigger.Delete),
        ]

    def __str__(self) -> str:
        return f"{self.get_action_display()} {self.subject}".strip()
