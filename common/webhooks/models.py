"""States of webhook events, and the columns that the engine needs of endpoints, events, queue items and attempts.

An area's models add whose the rows are, and their foreign keys: `endpoint` of events and queue items, `event` of queue
items (related name `queue_item`) and attempts, and the subject of events and queue items, null for a test event.
"""

from dataclasses import fields
from datetime import datetime
from typing import Any, Self, TypeVar
from uuid import UUID

import pgtrigger
from django.contrib.admin import display
from django.contrib.postgres.expressions import ArraySubquery
from django.core.exceptions import ObjectDoesNotExist
from django.db import models
from django.db.models import F, Q
from django.utils.translation import gettext_lazy as _

from common import credentials
from common.fields import CiphertextField, any_of
from common.webhooks import breaker

BREAKER_FIELDS = [field.name for field in fields(breaker.BreakerState)]
E = TypeVar("E", bound=models.Model)


class EventState(models.TextChoices):
    """Whether an event is still to be sent, and if not, why."""

    PENDING = "pending", _("Waiting")
    SENT = "sent", _("Received")
    DEAD = "dead", _("Failed, no more retries")
    UNADDRESSED = "unaddressed", _("No URL was set")
    FILTERED = "filtered", _("Left out by the filter")


# A pending event that was tried and will be tried again. Pages show it apart from those that were not tried; it is
# derived and not stored, and `state` in the API remains `pending`.
FAILING = "failing"
# Of every state that a page shows, in the order of an event's life.
STATE_NAMES: dict[str, Any] = {
    EventState.PENDING.value: EventState.PENDING.label,
    FAILING: _("Failing"),
    EventState.SENT.value: EventState.SENT.label,
    EventState.DEAD.value: EventState.DEAD.label,
    EventState.UNADDRESSED.value: EventState.UNADDRESSED.label,
    EventState.FILTERED.value: EventState.FILTERED.label,
}


class OffBecause(models.TextChoices):
    """Why an endpoint is switched off; empty while it is on."""

    ON = "", _("Switched on")
    STAFF = "staff", _("Switched off by hand")
    GONE = "gone", _("It answered 410 Gone")
    FAILING = "failing", _("Five days without a success")


class Endpoint(models.Model):
    """Abstract model of where events are sent. Without a URL nothing is sent."""

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
        abstract = True

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


def off_has_its_reason(name: str) -> models.CheckConstraint:
    """Constraint that an endpoint is off exactly while it has a reason and a moment."""
    return models.CheckConstraint(
        name=name,
        condition=Q(enabled=True, off_because=OffBecause.ON, off_since=None)
        | (Q(enabled=False, off_since__isnull=False) & ~Q(off_because=OffBecause.ON)),
    )


def writes_dead_since(name: str) -> pgtrigger.Trigger:
    return pgtrigger.Trigger(
        name=name,
        when=pgtrigger.Before,
        operation=pgtrigger.Insert | pgtrigger.Update,
        condition=pgtrigger.Condition("NEW.state = 'dead' OR NEW.dead_since IS NOT NULL"),
        func="""
                    NEW.dead_since := CASE WHEN NEW.state = 'dead' THEN coalesce(NEW.dead_since, now()) END;
                    RETURN NEW;
                """,
    )


IS_DEAD = Q(dead_since__isnull=False)
# An event that was sent, and is sent again, has not failed before the new queue item was tried. The item's endpoint is
# the event's: named, so that the events of one endpoint are found without the queue of the others.
IS_FAILING = Q(queue_item__endpoint=F("endpoint"), attempts_made__gt=0) & (Q(sent_at=None) | Q(queue_item__tries__gt=0))


class EventQuerySet(models.QuerySet[E]):
    def in_state(self, state: str) -> Self:
        """Events that pages show in this state, an EventState or FAILING.

        Dead ones are found and counted in their index alone, failing ones by the queue, which is a small table.
        """
        if state == EventState.DEAD:
            return self.filter(IS_DEAD)
        if state == FAILING:
            return self.filter(any_of("pk", ArraySubquery(self.filter(IS_FAILING).order_by().values("pk"))))
        found = self.filter(state=state)
        return found.exclude(IS_FAILING) if state == EventState.PENDING else found

    def failed(self) -> Self:
        """Events that were not received: those retried, those not retried any more, and those without a URL."""
        return self.filter(Q(state__in=[EventState.DEAD, EventState.UNADDRESSED]) | IS_FAILING)


class Event(models.Model):
    """Abstract model of the outbox: one change for one endpoint, written in the transaction of the change.

    An area adds `sequence`, which counts within the subject.
    """

    pk: UUID
    endpoint_id: int
    sequence: Any
    queue_item: Any  # DoesNotExist where it has none

    # Text, because jsonb would not keep the bytes that every retry and replay must repeat and sign.
    body = models.TextField(_("body"))
    created_at = models.DateTimeField(_("created at"))
    state = models.CharField(_("state"), max_length=11, choices=EventState, default=EventState.PENDING)
    attempts_made = models.PositiveSmallIntegerField(_("attempts"), default=0)
    sent_at = models.DateTimeField(_("received at"), null=True)
    # The request that made the change, as a `traceparent` (W3C Trace Context); empty unless traces are on.
    trace_context = models.CharField(max_length=55, blank=True, default="", db_default="", editable=False)
    # When the event became dead, while it is; see `writes_dead_since`. Unlike `state` it is not written when an event
    # is sent, so that an index with this condition does not prevent heap-only updates.
    dead_since = models.DateTimeField(null=True, editable=False)
    # Where a change is sent to several endpoints: the id of its event for the first of them, in the events for the
    # others. No foreign key: no event is deleted before its copies, and the check would cost an index.
    copy_of = models.UUIDField(null=True, editable=False)

    class Meta:
        abstract = True

    @property
    def webhook_id(self) -> UUID:
        """The header `webhook-id`: the same for every endpoint, retry and replay of one change."""
        return self.copy_of or self.pk

    @property
    def shown_state(self) -> str:
        """`state`, or FAILING for a pending event that has failed and is the next of its subject to be tried again."""
        if self.state != EventState.PENDING or not self.attempts_made:
            return self.state
        item = getattr(self, "queue_item", None)  # None while it waits for an earlier event
        return FAILING if item is not None and (self.sent_at is None or item.tries) else self.state

    @property
    @display(description=_("next attempt at"))
    def next_attempt_at(self) -> datetime | None:
        """When it is sent next, or when a worker's lease ends. None when it has ended or waits for earlier events.

        An event that is sent before all others has been due since it was recorded.
        """
        try:
            due_at: datetime = self.queue_item.due_at
        except ObjectDoesNotExist:
            return None
        return max(due_at, self.created_at)


class QueueItem(models.Model):
    """Abstract model of an event to send next. A small table with many updates; a row is deleted when nothing is left.

    A subject with pending events for an endpoint has one ordered item there, which refers to the first of them and
    moves on to the next when that has ended, so each endpoint receives the events of one subject in order. A test event
    has an item of its own. So has a poisoned event, one that the endpoint refused repeatedly while it accepted others:
    its item is no longer ordered, and is retried beside the later events of its subject.

    An area adds a unique constraint on the subject and the endpoint of ordered items.
    """

    is_ordered = models.BooleanField(default=True)
    due_at = models.DateTimeField(_("next attempt at"), help_text=_("While the item is claimed, the end of its lease."))
    tries = models.PositiveSmallIntegerField(
        default=0,
        help_text=_("Attempts that count towards the schedule of retries. A replay of an ended event resets them."),
    )
    refusals = models.PositiveSmallIntegerField(default=0, help_text=_("Attempts with an answer other than 2xx."))
    first_refused_at = models.DateTimeField(null=True)
    lease = models.UUIDField(
        null=True, help_text=_("Fencing token: only the worker that claimed the item under it may settle the item.")
    )

    class Meta:
        abstract = True


class Attempt(models.Model):
    """Abstract model of an attempt to send an event. `status_code` is None when there was no answer; see `error`."""

    number = models.PositiveSmallIntegerField(_("number"))
    at = models.DateTimeField(_("at"))
    milliseconds = models.PositiveIntegerField(_("milliseconds"))
    status_code = models.PositiveSmallIntegerField(_("answer"), null=True)
    error = models.CharField(_("error"), max_length=200, blank=True)
    response_start = models.TextField(_("response body"), blank=True)
    # What differs between the requests for an event; `signing.headers` has the rest. Empty before this was stored.
    url = models.TextField(_("URL"), blank=True, db_default="")
    token_hint = models.CharField(_("token"), max_length=20, blank=True, db_default="")
    webhook_timestamp = models.BigIntegerField(null=True)
    signature = models.TextField(_("signature"), blank=True, db_default="")

    class Meta:
        abstract = True

    def __str__(self) -> str:
        return f"{self.number}: {self.status_code or self.error}"

    @property
    def succeeded(self) -> bool:
        return self.status_code is not None and 200 <= self.status_code < 300  # noqa: PLR2004  # every 2xx is a success
