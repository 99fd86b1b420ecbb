from datetime import datetime

import pgtrigger
from django.contrib.admin import display
from django.contrib.postgres.indexes import BrinIndex
from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from common import credentials
from common.constraints import one_of
from common.fields import CiphertextField
from delivery import breaker
from delivery.lifecycle import Status
from delivery.models.delivery import Delivery
from delivery.models.ids import Identified
from delivery.models.integrator import Environment, Integrator


class OffBecause(models.TextChoices):
    """Why an endpoint is switched off."""

    ON = "", _("Switched on")
    STAFF = "staff", _("Switched off by hand")
    GONE = "gone", _("It answered 410 Gone")
    FAILING = "failing", _("Five days without a success")


class WebhookEndpoint(models.Model):
    """Where an integrator receives events, one for each environment. Without a URL nothing is sent."""

    integrator = models.ForeignKey(
        Integrator, verbose_name=_("integrator"), on_delete=models.CASCADE, related_name="endpoints"
    )
    environment = models.CharField(_("environment"), max_length=7, choices=Environment)
    url = models.CharField(_("URL"), max_length=2000, blank=True)
    enabled = models.BooleanField(
        _("enabled"), default=True, help_text=_("While switched off, events are kept and sent later.")
    )
    off_because = models.CharField(
        _("why it is off"), max_length=7, choices=OffBecause, default=OffBecause.ON, blank=True, editable=False
    )
    off_since = models.DateTimeField(_("off since"), null=True, editable=False)
    secret_ciphertext = CiphertextField(editable=False)
    previous_secret_ciphertext = CiphertextField(blank=True, editable=False)
    previous_secret_until = models.DateTimeField(null=True, blank=True, editable=False)

    # What `breaker.Health` is made of; the workers write it.
    failures = models.PositiveIntegerField(_("failures in a row"), default=0, editable=False)
    failing_since = models.DateTimeField(_("failing since"), null=True, editable=False)
    paused_until = models.DateTimeField(_("paused until"), null=True, editable=False)
    last_success_at = models.DateTimeField(_("last success"), null=True, editable=False)

    class Meta:
        verbose_name = _("webhook endpoint")
        verbose_name_plural = _("webhook endpoints")
        ordering = ["integrator", "environment"]
        constraints = [
            models.UniqueConstraint(fields=["integrator", "environment"], name="one_endpoint_per_environment"),
            one_of("endpoint_environment", "environment", Environment.values),
            models.CheckConstraint(
                name="endpoint_off_has_its_reason",
                condition=Q(enabled=True, off_because=OffBecause.ON, off_since=None)
                | (Q(enabled=False, off_since__isnull=False) & ~Q(off_because=OffBecause.ON)),
            ),
        ]

    def __str__(self) -> str:
        return f"{self.integrator}, {self.get_environment_display()}"

    @property
    def health(self) -> breaker.Health:
        return breaker.Health(self.failures, self.failing_since, self.paused_until, self.last_success_at)

    @health.setter
    def health(self, health: breaker.Health) -> None:
        self.failures, self.failing_since = health.failures, health.failing_since
        self.paused_until, self.last_success_at = health.paused_until, health.last_success_at

    def switch_on(self) -> None:
        """As new: what it did before is forgotten. To be saved."""
        self.enabled, self.off_because, self.off_since = True, OffBecause.ON, None
        self.health = breaker.Health(last_success_at=self.last_success_at)

    def switch_off(self, because: OffBecause, *, at: datetime) -> None:
        """Hold events back from now on. To be saved."""
        self.enabled, self.off_because, self.off_since = False, because, at

    @property
    def secret(self) -> str:
        """The signing secret in force, `whsec_…`."""
        return credentials.decrypt(self.secret_ciphertext)

    def secrets(self, *, at: datetime) -> list[str]:
        """Every secret that signs at this moment: the one in force first, then the one it replaced lately."""
        live = [self.secret]
        if self.previous_secret_until is not None and self.previous_secret_until > at:
            live.append(credentials.decrypt(self.previous_secret_ciphertext))
        return live


class EventState(models.TextChoices):
    """Where an event stands on its way to the integrator."""

    PENDING = "pending", _("Pending")
    SENT = "sent", _("Sent")
    DEAD = "dead", _("Given up")
    UNADDRESSED = "unaddressed", _("No URL was set")


class WebhookEvent(Identified):
    """The outbox: one change of one delivery, written in the transaction of the change. `id` is the `webhook-id`.

    A test event belongs to no delivery.
    """

    delivery = models.ForeignKey(
        Delivery, verbose_name=_("delivery"), on_delete=models.CASCADE, related_name="events", null=True
    )
    endpoint = models.ForeignKey(
        WebhookEndpoint,
        verbose_name=_("endpoint"),
        on_delete=models.CASCADE,
        related_name="events",
        db_index=False,  # `event_log` serves
    )
    sequence = models.PositiveIntegerField(_("sequence"), help_text=_("1, 2, 3 … within the delivery."))
    name = models.CharField(_("event"), max_length=9, choices=[(s.value, s.value) for s in Status])
    # Text and not jsonb, so that every retry and replay sends, and signs, the same bytes.
    body = models.TextField(_("body"))
    created_at = models.DateTimeField(_("created at"))

    state = models.CharField(_("state"), max_length=11, choices=EventState, default=EventState.PENDING)
    attempts_made = models.PositiveSmallIntegerField(_("attempts"), default=0)
    sent_at = models.DateTimeField(_("sent at"), null=True)

    class Meta:
        verbose_name = _("webhook event")
        verbose_name_plural = _("webhook events")
        ordering = ["-created_at", "-sequence"]
        constraints = [
            models.UniqueConstraint(fields=["delivery", "sequence"], name="one_event_per_sequence"),
            one_of("event_state", "state", EventState.values),
        ]
        triggers = [
            pgtrigger.ReadOnly(
                name="event_body_immutable", fields=["delivery", "endpoint", "sequence", "name", "body", "created_at"]
            ),
        ]
        # No B-tree on `state`, so that finishing an event touches no index. A block range index lets the update stay
        # within its page (heap-only), and is enough for the states that few events end in.
        indexes = [
            models.Index(fields=["endpoint", "-created_at"], name="event_log"),
            BrinIndex(fields=["created_at", "state"], name="event_age_and_state", pages_per_range=32),
        ]

    def __str__(self) -> str:
        return f"{self.name} {self.sequence}"

    @property
    def is_test(self) -> bool:
        return self.delivery_id is None

    @property
    @display(description=_("next attempt at"))
    def next_attempt_at(self) -> datetime | None:
        """When it is tried next, or when a worker's lease ends. None when it is finished or waits for earlier ones."""
        try:
            return self.turn.due_at
        except WebhookTurn.DoesNotExist:
            return None


class WebhookTurn(models.Model):
    """The queue: whose turn it is. Small and hot; a row goes when there is nothing more to send.

    A delivery with something to send has one ordered turn, which names its first pending event and moves to the next
    when that is settled. A test event has a turn of its own, and so has an event that was poisoned: refused again and
    again while the endpoint took others, it is tried on beside the later ones.
    """

    event = models.OneToOneField(WebhookEvent, verbose_name=_("event"), on_delete=models.CASCADE, related_name="turn")
    delivery = models.ForeignKey(
        Delivery, verbose_name=_("delivery"), on_delete=models.CASCADE, related_name="turns", null=True, db_index=False
    )
    endpoint = models.ForeignKey(
        WebhookEndpoint, verbose_name=_("endpoint"), on_delete=models.CASCADE, related_name="turns", db_index=False
    )
    is_ordered = models.BooleanField(default=True)
    due_at = models.DateTimeField(_("next attempt at"), help_text=_("While a worker holds it, when its lease ends."))
    tries = models.PositiveSmallIntegerField(default=0, help_text=_("Of the schedule; a replay begins anew."))
    refusals = models.PositiveSmallIntegerField(
        default=0, help_text=_("Tries that the endpoint answered, not with 2xx.")
    )
    first_refused_at = models.DateTimeField(null=True)
    lease = models.UUIDField(null=True, help_text=_("Fence: only the worker that claimed it may settle it."))

    class Meta:
        verbose_name = _("webhook turn")
        verbose_name_plural = _("webhook turns")
        constraints = [
            models.UniqueConstraint(
                fields=["delivery"], name="one_ordered_turn_per_delivery", condition=Q(is_ordered=True)
            ),
        ]
        indexes = [
            models.Index(fields=["endpoint", "due_at"], name="turn_due"),
            models.Index(fields=["endpoint"], name="turn_held", condition=Q(lease__isnull=False)),
        ]

    def __str__(self) -> str:
        return f"{self.event_id}"
