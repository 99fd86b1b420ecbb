"""States of webhook events, and the columns that the engine needs of endpoints, events, queue items and attempts.

An area's models add their foreign keys: the owner of endpoints, which `OWNER` names, `endpoint` of events and queue
items (related names `events` and `queue_items`), `event` of queue items (related name `queue_item`) and attempts
(`attempts`), and the subject of events and queue items, which `SUBJECT` names, null for a test event. They also add
`sequence` of events, and the columns whose choices are the area's statuses: `statuses` of endpoints, `name` of events.
Constraints, indexes and triggers are made by functions, which take a prefix for their names.
"""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import fields
from datetime import datetime, timedelta
from functools import cache
from typing import Any, ClassVar, Self, TypeVar
from urllib.parse import urlsplit
from uuid import UUID

import pgtrigger
from django.contrib.admin import display
from django.contrib.postgres.expressions import ArraySubquery
from django.contrib.postgres.indexes import BrinIndex
from django.core.exceptions import ObjectDoesNotExist
from django.db import models
from django.db.models import Aggregate, BaseConstraint, Count, Exists, F, FloatField, OuterRef, Q
from django.db.models.functions import TruncHour
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from common import credentials
from common.accounts import Environment
from common.fields import CiphertextField, UUIDField, any_of, new_id, not_personal, one_of, personal
from common.postgresql.compiled_queries import CompiledQuery, Parameter
from common.postgresql.forgetting import REDACTED, read_only_but_forgotten
from common.webhooks import breaker

BREAKER_FIELDS = [field.name for field in fields(breaker.BreakerState)]
MOST_ENDPOINTS = 5
# Of an endpoint, what a new event needs.
ENDPOINT_COLUMNS = ["id", "environment", "number", "url", "statuses"]
E = TypeVar("E", bound="Event")
P = TypeVar("P", bound="Endpoint")
A = TypeVar("A", bound="Attempt")


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
# Of its badge, as `common.columns.State` has it.
STATE_COLOURS: dict[str, str] = {
    EventState.PENDING: "info",
    FAILING: "warn",
    EventState.SENT: "good",
    EventState.DEAD: "bad",
    EventState.UNADDRESSED: "",
    EventState.FILTERED: "",
}


class OffBecause(models.TextChoices):
    """Why an endpoint is switched off; empty while it is on."""

    ON = "", _("Switched on")
    STAFF = "staff", _("Switched off by hand")
    GONE = "gone", _("It answered 410 Gone")
    FAILING = "failing", _("Five days without a success")


class EndpointAction(models.TextChoices):
    """Changes of endpoints that the audit trail of their owner records."""

    URL_SET = "url_set", _("Webhook URL set")
    FILTER_SET = "filter_set", _("Filter of webhooks set")
    ADDED = "endpoint_added", _("Webhook endpoint added")
    REMOVED = "endpoint_removed", _("Webhook endpoint removed")
    ON = "endpoint_on", _("Webhooks switched on")
    OFF = "endpoint_off", _("Webhooks switched off")
    SECRET_SHOWN = "secret_shown", _("Signing secret shown")  # pragma: allowlist secret  # a name
    SECRET_ROTATED = "secret_rotated", _("Signing secret rotated")  # pragma: allowlist secret  # a name
    TEST_SENT = "test_sent", _("Test event sent")
    EVENTS_REPLAYED = "events_replayed", _("Events sent again")


class EndpointQuerySet(models.QuerySet[P]):
    def of(self, owner: Any, environment: Any) -> Self:
        """The endpoints of this owner, given by its key, and environment, the first one first."""
        return self.present().filter(**{self.model.OWNER: owner}, environment=environment).order_by("number")

    def first_ones(self) -> Self:
        """The endpoint that each owner has in each environment."""
        return self.filter(number=1)

    def present(self) -> Self:
        """Without those that were removed and whose events are still to be deleted."""
        return self.filter(number__isnull=False)

    def failing(self) -> Self:
        """Those with a URL whose last request failed, or which have an event that is retried."""
        events: Any = self.model._meta.get_field("events").related_model
        retried = events._default_manager.filter(IS_FAILING, endpoint=OuterRef("pk"))
        return self.filter(Q(failures__gt=0) | Exists(retried)).exclude(url="")


class Endpoint(models.Model):
    """Abstract model of where events are sent: one to five of an owner in each environment.

    Without a URL nothing is sent.
    """

    OWNER: ClassVar[str]
    statuses: Any
    events: Any

    environment = models.CharField(_("environment"), max_length=7, choices=Environment)
    # Each owner has number 1 in each environment. None: removed, and deleted once its events are.
    number = models.PositiveSmallIntegerField(_("number"), null=True, default=1, db_default=1, editable=False)
    url = not_personal(models.CharField(_("URL"), max_length=2000, blank=True))
    enabled = models.BooleanField(
        _("enabled"), default=True, help_text=_("While switched off, events are kept and sent later.")
    )
    off_because = models.CharField(
        _("why it is off"), max_length=7, choices=OffBecause, default=OffBecause.ON, blank=True, editable=False
    )
    off_since = models.DateTimeField(_("off since"), null=True, editable=False)
    secret_ciphertext = not_personal(CiphertextField(editable=False))
    previous_secret_ciphertext = not_personal(CiphertextField(blank=True, editable=False))
    previous_secret_until = models.DateTimeField(null=True, blank=True, editable=False)
    secret_shown = models.BooleanField(default=False, db_default=False, editable=False)

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

    def __str__(self) -> str:
        return f"{self.owner}, {self.place}"

    @classmethod
    def of(cls, owner: Any, environment: str) -> list[Self]:
        """The endpoints of this owner and environment, at least the first one. Raises DoesNotExist.

        They have the columns that a new event needs.
        """
        endpoints: list[Self] = _of_owner(cls).all(owner=owner, environment=environment)
        if not endpoints:
            raise cls.DoesNotExist(f"{owner} has no endpoint for {environment}.")
        return endpoints

    @classmethod
    def all_statuses(cls) -> dict[str, Any]:
        """The statuses that a filter can have, in the order of a subject's life, and their names."""
        return dict(cls._meta.get_field("statuses").base_field.choices)  # type: ignore[union-attr]  # an ArrayField

    @property
    def owner(self) -> Any:
        """The account, which can be suspended."""
        return getattr(self, self.OWNER)

    @property
    def owner_id(self) -> Any:
        return getattr(self, f"{self.OWNER}_id")

    @property
    def place(self) -> str:
        """The environment, and of a further endpoint its number and host too, in the active language."""
        environment: str = self.get_environment_display()
        if self.number == 1:
            return environment
        values = {"environment": environment, "number": self.number, "host": self.host}
        return gettext("%(environment)s, endpoint %(number)s (%(host)s)") % values

    @property
    def url_arguments(self) -> list[Any]:
        """The first arguments of the URLs of its pages in the panel, where number 1 is the default."""
        return [self.owner_id, self.environment, *([self.number] if self.number and self.number > 1 else [])]

    @property
    def host(self) -> str:
        """The part of the URL that names the server, for lists and alerts; empty without a URL."""
        return urlsplit(self.url).netloc

    @property
    def short_url(self) -> str:
        """The host and the path of the URL, for lists; empty without a URL."""
        parts = urlsplit(self.url)
        return f"{parts.netloc}{parts.path.rstrip('/')}"

    def shown_authorization(self, hint: str) -> dict[str, str]:
        """The header that authorized a request, made of the hint that its attempt keeps."""
        raise NotImplementedError

    def wants(self, status: str) -> bool:
        """Whether its filter has this status."""
        return not self.statuses or status in self.statuses

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
        """Record events without sending them. One that is off stays so since its first moment. Does not save."""
        self.enabled, self.off_because, self.off_since = False, because, self.off_since or at

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


class Health(models.TextChoices):
    """What is told about an endpoint."""

    FAILING = "failing", _("The endpoint fails")
    OFF = "off", _("The endpoint is switched off")
    RECOVERED = "recovered", _("The endpoint works again")


class ToldHealth(models.Model):
    """Abstract model of what was told about an endpoint last. A row is made when it is needed first.

    An area adds `endpoint` (related name `alerts`). Apart from the endpoint's row, which the sender locks with every
    failure.
    """

    endpoint: Any

    reported = not_personal(models.CharField(max_length=9, default=Health.RECOVERED))
    reported_at = models.DateTimeField(null=True)

    class Meta:
        abstract = True


@cache
def _of_owner(model: type[Endpoint]) -> CompiledQuery[Any]:
    return CompiledQuery(
        lambda: (
            model._default_manager.filter(
                number__isnull=False, environment=Parameter("environment"), **{model.OWNER: Parameter("owner")}
            )
            .only(model.OWNER, *ENDPOINT_COLUMNS)
            .order_by("number")
        )
    )


def endpoint_constraints(*, owner: str, statuses: Sequence[str], prefix: str = "") -> list[BaseConstraint]:
    return [
        models.UniqueConstraint(
            fields=[owner, "environment", "number"],
            name=f"{prefix}one_endpoint_per_number",
            condition=Q(number__isnull=False),
        ),
        models.CheckConstraint(name=f"{prefix}endpoint_number", condition=Q(number__gte=1, number__lte=MOST_ENDPOINTS)),
        models.CheckConstraint(name=f"{prefix}endpoint_statuses", condition=Q(statuses__contained_by=list(statuses))),
        models.CheckConstraint(
            name=f"{prefix}removed_endpoint_has_no_url", condition=Q(number__isnull=False) | Q(url="")
        ),
        one_of(f"{prefix}endpoint_environment", "environment", Environment.values),
        # An endpoint is off exactly while it has a reason and a moment.
        models.CheckConstraint(
            name=f"{prefix}endpoint_off_has_its_reason",
            condition=Q(enabled=True, off_because=OffBecause.ON, off_since=None)
            | (Q(enabled=False, off_since__isnull=False) & ~Q(off_because=OffBecause.ON)),
        ),
    ]


def _writes_dead_since(name: str) -> pgtrigger.Trigger:
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
    def first_ones(self) -> Self:
        """One event for each change, which the first endpoint has, without the copies for further endpoints."""
        return self.filter(copy_of=None)

    def of_tests(self) -> Self:
        return self.filter(**{self.model.SUBJECT: None})

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
    """Abstract model of the outbox: one change of a subject for one endpoint, written in the transaction of the change.

    Each change has an event for the first endpoint, whatever its filter, and one for each further endpoint with a URL
    whose filter has the status. A test event has no subject.
    """

    SUBJECT: ClassVar[str]
    endpoint: Any
    endpoint_id: int
    name: Any  # the status
    sequence: Any  # 1, 2, 3 … within the subject
    attempts: Any
    queue_item: Any  # DoesNotExist where it has none

    # Assigned by `feed` when the event is first read; None before.
    feed_position = models.BigIntegerField(null=True, editable=False)
    id = UUIDField(primary_key=True, default=new_id, editable=False)
    # Text, because jsonb would not keep the bytes that every retry and replay must repeat and sign.
    body = personal(models.TextField(_("body")))
    created_at = models.DateTimeField(_("created at"))
    state = models.CharField(_("state"), max_length=11, choices=EventState, default=EventState.PENDING)
    attempts_made = models.PositiveSmallIntegerField(_("attempts"), default=0)
    sent_at = models.DateTimeField(_("received at"), null=True)
    # The request that made the change, as a `traceparent` (W3C Trace Context); empty unless traces are on.
    trace_context = not_personal(models.CharField(max_length=55, blank=True, default="", db_default="", editable=False))
    # When the event became dead, while it is; see `writes_dead_since`. Unlike `state` it is not written when an event
    # is sent, so that an index with this condition does not prevent heap-only updates.
    dead_since = models.DateTimeField(null=True, editable=False)
    # Where a change is sent to several endpoints: the id of its event for the first of them, in the events for the
    # others. No foreign key: no event is deleted before its copies, and the check would cost an index.
    copy_of = models.UUIDField(null=True, editable=False)

    class Meta:
        abstract = True

    def __str__(self) -> str:
        return f"{self.get_name_display()}, {self.sequence}"  # type: ignore[attr-defined]  # `name` has choices

    @property
    def subject_id(self) -> Any:
        """The key of the row that it is about; None for a test event."""
        return getattr(self, f"{self.SUBJECT}_id")

    @property
    def subject(self) -> Any:
        return getattr(self, self.SUBJECT)

    @property
    def is_test(self) -> bool:
        return self.subject_id is None

    @property
    def webhook_id(self) -> UUID:
        """The header `webhook-id`: the same for every endpoint, retry and replay of one change."""
        return self.copy_of or self.pk

    @property
    def own_headers(self) -> dict[str, str]:
        """Headers of the area's own that this event has."""
        return {}

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


def event_constraints(*, subject: str, prefix: str = "") -> list[BaseConstraint]:
    of_subject = Q(**{f"{subject}__isnull": False})
    return [
        models.UniqueConstraint(
            fields=[subject, "endpoint", "sequence"],
            name=f"{prefix}one_event_per_endpoint_and_sequence",
            condition=of_subject,
        ),
        models.CheckConstraint(
            name=f"{prefix}event_copy_of_a_change",
            condition=Q(copy_of=None) | Q(**{f"{subject}__isnull": False}, feed_position=None),
        ),
        models.UniqueConstraint(
            fields=["endpoint", "feed_position"],
            name=f"{prefix}one_event_per_feed_position",
            condition=Q(feed_position__isnull=False),
        ),
        one_of(f"{prefix}event_state", "state", EventState.values),
    ]


def event_triggers(*, subject: str, prefix: str = "", immutable: Sequence[str] = ()) -> list[pgtrigger.Trigger]:
    """`immutable`: fields of the area's own that never change."""
    return [
        pgtrigger.ReadOnly(
            name=f"{prefix}event_body_immutable",
            fields=[subject, "endpoint", "sequence", "name", "created_at", "copy_of", *immutable],
        ),
        read_only_but_forgotten(f"{prefix}event_body_forgotten", {"body": REDACTED}),
        _writes_dead_since(f"{prefix}event_dead_since"),
    ]


def event_indexes(*, subject: str, prefix: str = "") -> list[models.Index]:
    """`prefix` has at most three characters.

    A B-tree on `state` would be updated for every event that is sent. With a block range index the update of the row
    stays within its page (heap-only tuple), and the index is selective enough for the rare states.
    """
    unread = Q(**{"feed_position__isnull": True, f"{subject}__isnull": False, "copy_of__isnull": True})
    return [
        models.Index(fields=["endpoint", "-created_at"], name=f"{prefix}event_log"),
        models.Index(
            fields=["endpoint", "-created_at"],
            name=f"{prefix}event_of_test",
            condition=Q(**{f"{subject}__isnull": True}),
        ),
        models.Index(fields=["endpoint", "created_at"], name=f"{prefix}event_without_feed_position", condition=unread),
        models.Index(fields=["endpoint", "-created_at", "-id"], name=f"{prefix}event_dead_log", condition=IS_DEAD),
        models.Index(fields=["-id"], name=f"{prefix}event_dead_newest", condition=IS_DEAD),
        BrinIndex(fields=["created_at", "state"], name=f"{prefix}event_age_and_state", pages_per_range=32),
    ]


class QueueItem(models.Model):
    """Abstract model of an event to send next. A small table with many updates; a row is deleted when nothing is left.

    A subject with pending events for an endpoint has one ordered item there, which refers to the first of them and
    moves on to the next when that has ended, so each endpoint receives the events of one subject in order. A test event
    has an item of its own. So has a poisoned event, one that the endpoint refused repeatedly while it accepted others:
    its item is no longer ordered, and is retried beside the later events of its subject.
    """

    event_id: UUID
    endpoint_id: int

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


def item_constraints(*, subject: str, prefix: str = "") -> list[BaseConstraint]:
    return [
        models.UniqueConstraint(
            fields=[subject, "endpoint"],
            name=f"{prefix}one_ordered_queue_item_per_subject",
            condition=Q(is_ordered=True),
        )
    ]


def item_indexes(prefix: str = "") -> list[models.Index]:
    return [
        models.Index(fields=["endpoint", "due_at"], name=f"{prefix}queue_item_due"),
        models.Index(fields=["endpoint"], name=f"{prefix}queue_item_leased", condition=Q(lease__isnull=False)),
    ]


# No event is sent later than this after it was recorded, unless it is replayed: the schedule takes 72 hours, and the
# endpoint is switched off after five days of failures.
_OLDEST_EVENT = timedelta(days=6)


class _Percentile95(Aggregate):
    """The 95th percentile, interpolated by PostgreSQL."""

    template = "percentile_cont(0.95) WITHIN GROUP (ORDER BY %(expressions)s)"
    output_field = FloatField()


class AttemptQuerySet(models.QuerySet[A]):
    def by_hour(self, endpoints: Collection[Endpoint], *, since: datetime) -> Any:
        """For each hour with attempts: `hour`, `total`, `successes` (answered with 2xx) and `p95` in milliseconds.

        Attempts at events older than six days, which only a replay makes, are left out, so that the index of the
        endpoints' events limits what is read.
        """
        recent = Q(event__endpoint__in=endpoints, event__created_at__gte=since - _OLDEST_EVENT)
        return (
            self.filter(recent, at__gte=since)
            .annotate(hour=TruncHour("at"))
            .order_by("hour")
            .values("hour")
            .annotate(
                total=Count("pk"),
                successes=Count("pk", filter=Q(status_code__range=(200, 299))),
                p95=_Percentile95(F("milliseconds")),
            )
        )

    def last_of(self, events: Iterable[Event]) -> Self:
        """The last attempt of each of these events that has one which is still kept."""
        return self.filter(event__in=[event.pk for event in events], number=F("event__attempts_made"))

    def last_failure(self, endpoint: Endpoint) -> A | None:
        """The newest failed attempt, with its event, of those that are to be tried again.

        While the endpoint fails and none of them is kept, that of its newest dead event.
        """
        events = endpoint.events.in_state(FAILING).values("pk")
        failed = self.filter(number=F("event__attempts_made")).exclude(status_code__range=(200, 299))
        newest = failed.select_related("event").order_by("-at")
        found = newest.filter(event__in=events).first()
        if found is None and (endpoint.failures or not endpoint.enabled):
            dead = endpoint.events.in_state(EventState.DEAD).order_by("-created_at", "-pk").values_list("pk", flat=True)
            found = newest.filter(event__in=list(dead[:1])).first()
        return found


class Attempt(models.Model):
    """Abstract model of an attempt to send an event, kept for 30 days.

    `status_code` is None when there was no answer; see `error`.
    """

    event_id: UUID

    number = models.PositiveSmallIntegerField(_("number"))
    at = models.DateTimeField(_("at"))
    milliseconds = models.PositiveIntegerField(_("milliseconds"))
    status_code = models.PositiveSmallIntegerField(_("answer"), null=True)
    error = not_personal(models.CharField(_("error"), max_length=200, blank=True))
    response_start = personal(models.TextField(_("response body"), blank=True))
    # What differs between the requests for an event; `signing.headers` has the rest. Empty before this was stored.
    url = not_personal(models.TextField(_("URL"), blank=True, db_default=""))
    token_hint = not_personal(models.CharField(_("token"), max_length=20, blank=True, db_default=""))
    webhook_timestamp = models.BigIntegerField(null=True)
    signature = not_personal(models.TextField(_("signature"), blank=True, db_default=""))

    class Meta:
        abstract = True

    def __str__(self) -> str:
        return f"{self.number}: {self.status_code or self.error}"

    @property
    def succeeded(self) -> bool:
        return self.status_code is not None and 200 <= self.status_code < 300  # noqa: PLR2004  # every 2xx is a success


def attempt_indexes(prefix: str = "") -> list[models.Index]:
    """Rows are inserted in the order of `at`, so a block range index finds the old ones and costs little to keep."""
    return [BrinIndex(fields=["at"], name=f"{prefix}attempt_age", pages_per_range=32)]
