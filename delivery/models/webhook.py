from datetime import datetime
from typing import Self

import pgtrigger
from django.db import models
from django.db.models import Exists, OuterRef, Q
from django.utils.translation import gettext_lazy as _

from delivery import credentials
from delivery.lifecycle import Status
from delivery.models.delivery import Delivery
from delivery.models.ids import Identified, one_of
from delivery.models.integrator import Environment, Integrator


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
    secret_ciphertext = models.TextField(editable=False)
    previous_secret_ciphertext = models.TextField(blank=True, editable=False)
    previous_secret_until = models.DateTimeField(null=True, blank=True, editable=False)

    class Meta:
        verbose_name = _("webhook endpoint")
        verbose_name_plural = _("webhook endpoints")
        ordering = ["integrator", "environment"]
        constraints = [
            models.UniqueConstraint(fields=["integrator", "environment"], name="one_endpoint_per_environment"),
            one_of("endpoint_environment", "environment", Environment.values),
        ]

    def __str__(self) -> str:
        return f"{self.integrator}, {self.get_environment_display()}"

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


class WebhookEventQuerySet(models.QuerySet["WebhookEvent"]):
    def due(self, *, at: datetime) -> Self:
        """Events that may be sent now: first in their delivery's order, their time come, held by no worker."""
        earlier = WebhookEvent.objects.filter(
            delivery=OuterRef("delivery"), sequence__lt=OuterRef("sequence"), state=EventState.PENDING
        )
        return self.filter(
            ~Exists(earlier),
            ~Q(endpoint__url=""),
            Q(leased_until=None) | Q(leased_until__lte=at),
            state=EventState.PENDING,
            next_attempt_at__lte=at,
            endpoint__enabled=True,
        )


class WebhookEvent(Identified):
    """The outbox: one change of one delivery, written in the transaction of the change. `id` is the `webhook-id`."""

    delivery = models.ForeignKey(Delivery, verbose_name=_("delivery"), on_delete=models.CASCADE, related_name="events")
    endpoint = models.ForeignKey(
        WebhookEndpoint, verbose_name=_("endpoint"), on_delete=models.CASCADE, related_name="events"
    )
    sequence = models.PositiveIntegerField(_("sequence"), help_text=_("1, 2, 3 … within the delivery."))
    name = models.CharField(_("event"), max_length=9, choices=[(s.value, s.value) for s in Status])
    # Text and not jsonb, so that every retry and replay sends, and signs, the same bytes.
    body = models.TextField(_("body"))
    created_at = models.DateTimeField(_("created at"))

    state = models.CharField(_("state"), max_length=11, choices=EventState, default=EventState.PENDING)
    attempts_made = models.PositiveSmallIntegerField(_("attempts"), default=0)
    next_attempt_at = models.DateTimeField(_("next attempt at"), null=True)
    leased_until = models.DateTimeField(_("held by a worker until"), null=True)
    lease = models.UUIDField(null=True, help_text=_("Fence: only the worker that claimed the event may record."))
    sent_at = models.DateTimeField(_("sent at"), null=True)

    objects = WebhookEventQuerySet.as_manager()

    class Meta:
        verbose_name = _("webhook event")
        verbose_name_plural = _("webhook events")
        ordering = ["-created_at", "-sequence"]
        constraints = [
            models.UniqueConstraint(fields=["delivery", "sequence"], name="one_event_per_sequence"),
            one_of("event_state", "state", EventState.values),
            models.CheckConstraint(
                name="pending_event_has_its_time",
                condition=~Q(state=EventState.PENDING) | Q(next_attempt_at__isnull=False),
            ),
        ]
        triggers = [
            pgtrigger.ReadOnly(
                name="event_body_immutable", fields=["delivery", "endpoint", "sequence", "name", "body", "created_at"]
            ),
        ]
        indexes = [
            models.Index(fields=["next_attempt_at"], name="event_due", condition=Q(state=EventState.PENDING)),
            models.Index(fields=["delivery", "sequence"], name="event_order", condition=Q(state=EventState.PENDING)),
        ]

    def __str__(self) -> str:
        return f"{self.name} {self.sequence}"


class WebhookAttempt(models.Model):
    """One try at sending an event, kept for people to see."""

    event = models.ForeignKey(WebhookEvent, verbose_name=_("event"), on_delete=models.CASCADE, related_name="attempts")
    number = models.PositiveSmallIntegerField(_("number"))
    at = models.DateTimeField(_("at"))
    milliseconds = models.PositiveIntegerField(_("milliseconds"))
    status_code = models.PositiveSmallIntegerField(_("status"), null=True)
    error = models.CharField(_("error"), max_length=200, blank=True)
    response_start = models.TextField(_("response"), blank=True)

    class Meta:
        verbose_name = _("attempt")
        verbose_name_plural = _("attempts")
        ordering = ["id"]
        constraints = [models.UniqueConstraint(fields=["event", "number"], name="one_attempt_per_number")]

    def __str__(self) -> str:
        return f"{self.number}: {self.status_code or self.error}"
