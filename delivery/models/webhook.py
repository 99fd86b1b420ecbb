from dataclasses import fields
from datetime import datetime
from typing import Self
from uuid import UUID

import pgtrigger
from django.contrib.admin import display
from django.contrib.postgres.expressions import ArraySubquery
from django.contrib.postgres.indexes import BrinIndex
from django.core.exceptions import ObjectDoesNotExist
from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from common import credentials
from common.compiled_queries import CompiledQuery, Parameter
from common.expressions import any_of
from common.fields import CiphertextField, one_of
from common.forgetting import REDACTED, read_only_but_forgotten
from common.webhooks import breaker
from delivery import words
from delivery.lifecycle import Status
from delivery.models.delivery import Delivery
from delivery.models.event_state import FAILING, EventState
from delivery.models.ids import Identified
from delivery.models.integrator import Environment, Integrator

BREAKER_FIELDS = [field.name for field in fields(breaker.BreakerState)]


class OffBecause(models.TextChoices):
    """Why an endpoint is switched off; empty while it is on."""

    ON = "", _("Switched on")
    STAFF = "staff", _("Switched off by hand")
    GONE = "gone", _("It answered 410 Gone")
    FAILING = "failing", _("Five days without a success")


class WebhookEndpoint(models.Model):
    """Where an integrator receives events, one for each environment. Without a URL nothing is sent."""

    integrator = models.ForeignKey(
        Integrator,
        verbose_name=_("integrator"),
        on_delete=models.CASCADE,
        related_name="endpoints",
        db_index=False,  # an index begins with this column
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

    # The fields of `breaker.BreakerState`, written by the workers.
    failures = models.PositiveIntegerField(_("failures in a row"), default=0, editable=False)
    failing_since = models.DateTimeField(_("failing since"), null=True, editable=False)
    paused_until = models.DateTimeField(_("paused until"), null=True, editable=False)
    last_success_at = models.DateTimeField(_("last success"), null=True, editable=False)
    retry_after_until = models.DateTimeField(
        null=True, editable=False, help_text=_("End of the pause that the endpoint asked for with Retry-After.")
    )

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

    @staticmethod
    def of(integrator_id: UUID, environment: str) -> "WebhookEndpoint":
        """The endpoint of this account and environment, which each account has. Raises DoesNotExist."""
        endpoint = _OF_ACCOUNT.first(integrator=integrator_id, environment=environment)
        if endpoint is None:
            raise WebhookEndpoint.DoesNotExist(f"Account {integrator_id} has no endpoint for {environment}.")
        return endpoint

    @property
    def breaker_state(self) -> breaker.BreakerState:
        return breaker.BreakerState(**{name: getattr(self, name) for name in BREAKER_FIELDS})

    @breaker_state.setter
    def breaker_state(self, state: breaker.BreakerState) -> None:
        for name in BREAKER_FIELDS:
            setattr(self, name, getattr(state, name))

    def switch_on(self) -> None:
        """Send events, and reset the breaker but for the last success. Does not save."""
        self.enabled, self.off_because, self.off_since = True, OffBecause.ON, None
        self.breaker_state = breaker.BreakerState(last_success_at=self.last_success_at)

    def switch_off(self, because: OffBecause, *, at: datetime) -> None:
        """Record events without sending them. Does not save."""
        self.enabled, self.off_because, self.off_since = False, because, at

    @property
    def secret(self) -> str:
        """The current signing secret, `whsec_…`."""
        return credentials.decrypt(self.secret_ciphertext)

    def secrets(self, *, at: datetime) -> list[str]:
        """The secrets that sign at this moment: the current one, then the previous one while it is still valid.

        Raises cryptography.fernet.InvalidToken when no key of CREDENTIALS_KEYS decrypts one of them.
        """
        secrets = [self.secret]
        if self.previous_secret_until is not None and self.previous_secret_until > at:
            secrets.append(credentials.decrypt(self.previous_secret_ciphertext))
        return secrets


_OF_ACCOUNT = CompiledQuery(
    lambda: WebhookEndpoint.objects.filter(
        integrator=Parameter("integrator"), environment=Parameter("environment")
    ).order_by()
)


_IS_DEAD = Q(dead_since__isnull=False)
# An event that was sent, and is sent again, has not failed before the new queue item was tried.
_IS_FAILING = Q(queue_item__isnull=False, attempts_made__gt=0) & (Q(sent_at=None) | Q(queue_item__tries__gt=0))


class WebhookEventQuerySet(models.QuerySet["WebhookEvent"]):
    def in_state(self, state: str) -> Self:
        """Events that pages show in this state, an EventState or FAILING.

        Dead ones are found and counted in their index alone, failing ones by the queue, which is a small table.
        """
        if state == EventState.DEAD:
            return self.filter(_IS_DEAD)
        if state == FAILING:
            return self.filter(any_of("pk", ArraySubquery(self.filter(_IS_FAILING).order_by().values("pk"))))
        found = self.filter(state=state)
        return found.exclude(_IS_FAILING) if state == EventState.PENDING else found

    def failed(self) -> Self:
        """Events that were not received: those retried, those not retried any more, and those without a URL."""
        return self.filter(Q(state__in=[EventState.DEAD, EventState.UNADDRESSED]) | _IS_FAILING)


class WebhookEvent(Identified):
    """The outbox: one change of one delivery, written in the transaction of the change. `id` is the `webhook-id`.

    A test event has no delivery.
    """

    delivery = models.ForeignKey(
        Delivery,
        verbose_name=_("delivery"),
        on_delete=models.CASCADE,
        related_name="events",
        null=True,
        db_index=False,  # an index begins with this column
    )
    endpoint = models.ForeignKey(
        WebhookEndpoint,
        verbose_name=_("endpoint"),
        on_delete=models.CASCADE,
        related_name="events",
        db_index=False,  # the index `event_log` begins with this column
    )
    sequence = models.PositiveIntegerField(_("sequence"), help_text=_("1, 2, 3 … within the delivery."))
    name = models.CharField(_("event"), max_length=9, choices=[(s.value, words.STATUSES[s]) for s in Status])
    # Text, because jsonb would not keep the bytes that every retry and replay must repeat and sign.
    body = models.TextField(_("body"))
    created_at = models.DateTimeField(_("created at"))

    state = models.CharField(_("state"), max_length=11, choices=EventState, default=EventState.PENDING)
    attempts_made = models.PositiveSmallIntegerField(_("attempts"), default=0)
    sent_at = models.DateTimeField(_("received at"), null=True)
    # Assigned by `delivery.webhooks.feed` when the event is first read; None before.
    feed_position = models.BigIntegerField(null=True, editable=False)
    # The request that made the change, as a `traceparent` (W3C Trace Context); empty unless traces are on.
    trace_context = models.CharField(max_length=55, blank=True, default="", db_default="", editable=False)
    # When the event became dead, while it is; written by a trigger. Unlike `state` it is not written when an event is
    # sent, so that an index with this condition does not prevent heap-only updates.
    dead_since = models.DateTimeField(null=True, editable=False)

    objects = WebhookEventQuerySet.as_manager()

    class Meta:
        verbose_name = _("webhook event")
        verbose_name_plural = _("webhook events")
        ordering = ["-created_at", "-sequence"]
        constraints = [
            models.UniqueConstraint(fields=["delivery", "sequence"], name="one_event_per_sequence"),
            models.UniqueConstraint(
                fields=["endpoint", "feed_position"],
                name="one_event_per_feed_position",
                condition=Q(feed_position__isnull=False),
            ),
            one_of("event_state", "state", EventState.values),
        ]
        triggers = [
            pgtrigger.ReadOnly(
                name="event_body_immutable", fields=["delivery", "endpoint", "sequence", "name", "created_at"]
            ),
            read_only_but_forgotten("event_body_forgotten", {"body": REDACTED}),
            pgtrigger.Trigger(
                name="event_dead_since",
                when=pgtrigger.Before,
                operation=pgtrigger.Insert | pgtrigger.Update,
                condition=pgtrigger.Condition("NEW.state = 'dead' OR NEW.dead_since IS NOT NULL"),
                func="""
                    NEW.dead_since := CASE WHEN NEW.state = 'dead' THEN coalesce(NEW.dead_since, now()) END;
                    RETURN NEW;
                """,
            ),
        ]
        # A B-tree on `state` would be updated for every event that is sent. With a block range index the update of the
        # row stays within its page (heap-only tuple), and the index is selective enough for the rare states.
        indexes = [
            models.Index(fields=["endpoint", "-created_at"], name="event_log"),
            models.Index(
                fields=["endpoint", "created_at"],
                name="event_without_position",
                condition=Q(feed_position__isnull=True, delivery__isnull=False),
            ),
            models.Index(fields=["endpoint", "-created_at", "-id"], name="event_dead_log", condition=_IS_DEAD),
            models.Index(fields=["-id"], name="event_dead_newest", condition=_IS_DEAD),
            BrinIndex(fields=["created_at", "state"], name="event_age_and_state", pages_per_range=32),
        ]

    def __str__(self) -> str:
        return f"{self.get_name_display()}, {self.sequence}"

    @property
    def shown_state(self) -> str:
        """`state`, or FAILING for a pending event that has failed and is the next of its delivery to be tried again."""
        if self.state != EventState.PENDING or not self.attempts_made:
            return self.state
        item = getattr(self, "queue_item", None)  # None while it waits for an earlier event
        return FAILING if item is not None and (self.sent_at is None or item.tries) else self.state

    @property
    def is_test(self) -> bool:
        return self.delivery_id is None

    @property
    @display(description=_("next attempt at"))
    def next_attempt_at(self) -> datetime | None:
        """When it is sent next, or when a worker's lease ends. None when it has ended or waits for earlier events.

        An event that is sent before all others has been due since it was recorded.
        """
        try:
            return max(self.queue_item.due_at, self.created_at)
        except ObjectDoesNotExist:
            return None
