from collections.abc import Collection, Iterable
from datetime import datetime, timedelta
from typing import Any, Self
from urllib.parse import urlsplit
from uuid import UUID

import pgtrigger
from django.contrib.postgres.fields import ArrayField
from django.contrib.postgres.indexes import BrinIndex
from django.db import models
from django.db.models import Aggregate, Count, Exists, F, FloatField, OuterRef, Q
from django.db.models.functions import TruncHour
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from common.accounts import Environment
from common.compiled_queries import CompiledQuery, Parameter
from common.fields import one_of
from common.forgetting import REDACTED, read_only_but_forgotten
from common.webhooks.models import (
    FAILING,
    IS_DEAD,
    IS_FAILING,
    Attempt,
    Endpoint,
    Event,
    EventQuerySet,
    EventState,
    QueueItem,
    off_has_its_reason,
    writes_dead_since,
)
from delivery import words
from delivery.lifecycle import Status
from delivery.models.bases import Identified
from delivery.models.delivery import Delivery
from delivery.models.integrator import Integrator

MOST_ENDPOINTS = 5


class WebhookEndpointQuerySet(models.QuerySet["WebhookEndpoint"]):
    def of(self, integrator_id: UUID, environment: str) -> Self:
        """The endpoints of this account and environment, the first one first."""
        return self.present().filter(integrator=integrator_id, environment=environment).order_by("number")

    def first_ones(self) -> Self:
        """The endpoint that each account has in each environment."""
        return self.filter(number=1)

    def present(self) -> Self:
        """Without those that were removed and whose events are still to be deleted."""
        return self.filter(number__isnull=False)

    def failing(self) -> Self:
        """Those with a URL whose last request failed, or which have an event that is retried."""
        retried = WebhookEvent.objects.filter(IS_FAILING, endpoint=OuterRef("pk"))
        return self.filter(Q(failures__gt=0) | Exists(retried)).exclude(url="")


class WebhookEndpoint(Endpoint):
    """Where an integrator receives events: one to five in each environment. Without a URL nothing is sent."""

    integrator = models.ForeignKey(
        Integrator,
        verbose_name=_("integrator"),
        on_delete=models.CASCADE,
        related_name="endpoints",
        db_index=False,  # an index begins with this column
    )
    environment = models.CharField(_("environment"), max_length=7, choices=Environment)
    # Each account has number 1 in each environment. None: removed, and deleted once its events are.
    number = models.PositiveSmallIntegerField(_("number"), null=True, default=1, db_default=1, editable=False)
    statuses = ArrayField(
        models.CharField(max_length=9, choices=[(s.value, words.STATUSES[s]) for s in Status]),
        verbose_name=_("filter"),
        default=list,
        db_default=[],
        blank=True,
        help_text=_("Events with these statuses are sent. None: all events."),
    )
    secret_shown = models.BooleanField(default=False, db_default=False, editable=False)

    objects = WebhookEndpointQuerySet.as_manager()

    class Meta:
        verbose_name = _("webhook endpoint")
        verbose_name_plural = _("webhook endpoints")
        ordering = ["integrator", "environment", "number"]
        constraints = [
            models.UniqueConstraint(
                fields=["integrator", "environment", "number"],
                name="one_endpoint_per_number",
                condition=Q(number__isnull=False),
            ),
            models.CheckConstraint(name="endpoint_number", condition=Q(number__gte=1, number__lte=MOST_ENDPOINTS)),
            models.CheckConstraint(
                name="endpoint_statuses", condition=Q(statuses__contained_by=[s.value for s in Status])
            ),
            models.CheckConstraint(name="removed_endpoint_has_no_url", condition=Q(number__isnull=False) | Q(url="")),
            one_of("endpoint_environment", "environment", Environment.values),
            off_has_its_reason("endpoint_off_has_its_reason"),
        ]

    def __str__(self) -> str:
        return f"{self.integrator}, {self.place}"

    @staticmethod
    def of(integrator_id: UUID, environment: str) -> "list[WebhookEndpoint]":
        """The endpoints of this account and environment, at least the first one. Raises DoesNotExist.

        They have the columns that a new event needs.
        """
        endpoints = _OF_ACCOUNT.all(integrator=integrator_id, environment=environment)
        if not endpoints:
            raise WebhookEndpoint.DoesNotExist(f"Account {integrator_id} has no endpoint for {environment}.")
        return endpoints

    @property
    def place(self) -> str:
        """The environment, and of a further endpoint its number and host too, in the active language."""
        environment = self.get_environment_display()
        if self.number == 1:
            return environment
        values = {"environment": environment, "number": self.number, "host": self.host}
        return gettext("%(environment)s, endpoint %(number)s (%(host)s)") % values

    @property
    def url_arguments(self) -> list[Any]:
        """The first arguments of the URLs of its pages in the panel, where number 1 is the default."""
        return [self.integrator_id, self.environment, *([self.number] if self.number and self.number > 1 else [])]

    @property
    def host(self) -> str:
        """The part of the URL that names the server, for lists and alerts; empty without a URL."""
        return urlsplit(self.url).netloc

    @property
    def short_url(self) -> str:
        """The host and the path of the URL, for lists; empty without a URL."""
        parts = urlsplit(self.url)
        return f"{parts.netloc}{parts.path.rstrip('/')}"

    def wants(self, status: str) -> bool:
        """Whether its filter has this status of a delivery."""
        return not self.statuses or status in self.statuses


_OF_ACCOUNT = CompiledQuery(
    lambda: (
        WebhookEndpoint.objects.present()
        .only("integrator", "environment", "number", "url", "statuses", "enabled", "off_because")
        .filter(integrator=Parameter("integrator"), environment=Parameter("environment"))
        .order_by("number")
    )
)


class WebhookEventQuerySet(EventQuerySet["WebhookEvent"]):
    """Events of deliveries."""

    def first_ones(self) -> Self:
        """One event for each change, which the first endpoint has, without the copies for further endpoints."""
        return self.filter(copy_of=None)


class WebhookEvent(Identified, Event):
    """The outbox: one change of one delivery for one endpoint, written in the transaction of the change.

    Each change has an event for the first endpoint, whatever its filter, and one for each further endpoint with a URL
    whose filter has the status. A test event has no delivery.
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
    # The header `Rota-Failure`: a drop-off and why it failed, such as `b=ABSENT`. Empty for other changes.
    failure = models.CharField(max_length=25, blank=True, default="", db_default="", editable=False)
    # Assigned by `delivery.webhooks.feed` when the event is first read; None before.
    feed_position = models.BigIntegerField(null=True, editable=False)

    objects = WebhookEventQuerySet.as_manager()

    class Meta:
        verbose_name = _("webhook event")
        verbose_name_plural = _("webhook events")
        ordering = ["-created_at", "-sequence"]
        constraints = [
            models.UniqueConstraint(
                fields=["delivery", "endpoint", "sequence"],
                name="one_event_per_endpoint_and_sequence",
                condition=Q(delivery__isnull=False),
            ),
            models.CheckConstraint(
                name="event_copy_of_a_change",
                condition=Q(copy_of=None) | Q(delivery__isnull=False, feed_position=None),
            ),
            models.UniqueConstraint(
                fields=["endpoint", "feed_position"],
                name="one_event_per_feed_position",
                condition=Q(feed_position__isnull=False),
            ),
            one_of("event_state", "state", EventState.values),
        ]
        triggers = [
            pgtrigger.ReadOnly(
                name="event_body_immutable",
                fields=["delivery", "endpoint", "sequence", "name", "created_at", "copy_of", "failure"],
            ),
            read_only_but_forgotten("event_body_forgotten", {"body": REDACTED}),
            writes_dead_since("event_dead_since"),
        ]
        # A B-tree on `state` would be updated for every event that is sent. With a block range index the update of the
        # row stays within its page (heap-only tuple), and the index is selective enough for the rare states.
        indexes = [
            models.Index(fields=["endpoint", "-created_at"], name="event_log"),
            models.Index(fields=["endpoint", "-created_at"], name="event_of_test", condition=Q(delivery__isnull=True)),
            models.Index(
                fields=["endpoint", "created_at"],
                name="event_without_feed_position",
                condition=Q(feed_position__isnull=True, delivery__isnull=False, copy_of__isnull=True),
            ),
            models.Index(fields=["endpoint", "-created_at", "-id"], name="event_dead_log", condition=IS_DEAD),
            models.Index(fields=["-id"], name="event_dead_newest", condition=IS_DEAD),
            BrinIndex(fields=["created_at", "state"], name="event_age_and_state", pages_per_range=32),
        ]

    def __str__(self) -> str:
        return f"{self.get_name_display()}, {self.sequence}"

    @property
    def is_test(self) -> bool:
        return self.delivery_id is None


class WebhookQueueItem(QueueItem):
    """An event to send next, see QueueItem. The subject is the delivery."""

    event = models.OneToOneField(
        WebhookEvent, verbose_name=_("event"), on_delete=models.CASCADE, related_name="queue_item"
    )
    delivery = models.ForeignKey(
        Delivery,
        verbose_name=_("delivery"),
        on_delete=models.CASCADE,
        related_name="queue_items",
        null=True,
        db_index=False,  # the unique constraint covers the ordered items, and there are few others
    )
    endpoint = models.ForeignKey(
        WebhookEndpoint,
        verbose_name=_("endpoint"),
        on_delete=models.CASCADE,
        related_name="queue_items",
        db_index=False,  # the index `queue_item_due` begins with this column
    )

    class Meta:
        verbose_name = _("webhook queue item")
        verbose_name_plural = _("webhook queue items")
        constraints = [
            models.UniqueConstraint(
                fields=["delivery", "endpoint"],
                name="one_ordered_queue_item_per_subject",
                condition=Q(is_ordered=True),
            ),
        ]
        indexes = [
            models.Index(fields=["endpoint", "due_at"], name="queue_item_due"),
            models.Index(fields=["endpoint"], name="queue_item_leased", condition=Q(lease__isnull=False)),
        ]

    def __str__(self) -> str:
        return f"{self.event_id}"


# No event is sent later than this after it was recorded, unless it is replayed: the schedule takes 72 hours, and the
# endpoint is switched off after five days of failures.
_OLDEST_EVENT = timedelta(days=6)


class _Percentile95(Aggregate):
    """The 95th percentile, interpolated by PostgreSQL."""

    template = "percentile_cont(0.95) WITHIN GROUP (ORDER BY %(expressions)s)"
    output_field = FloatField()


class WebhookAttemptQuerySet(models.QuerySet["WebhookAttempt"]):
    def by_hour(self, endpoints: Collection[WebhookEndpoint], *, since: datetime) -> Any:
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

    def last_of(self, events: Iterable[WebhookEvent]) -> Self:
        """The last attempt of each of these events that has one which is still kept."""
        return self.filter(event__in=[event.pk for event in events], number=F("event__attempts_made"))

    def last_failure(self, endpoint: WebhookEndpoint) -> "WebhookAttempt | None":
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


class WebhookAttempt(Attempt):
    """One attempt to send an event, kept for 30 days."""

    event = models.ForeignKey(
        WebhookEvent,
        verbose_name=_("event"),
        on_delete=models.CASCADE,
        related_name="attempts",
        db_index=False,  # the unique constraint's index begins with this column
    )

    objects = WebhookAttemptQuerySet.as_manager()

    class Meta:
        verbose_name = _("attempt")
        verbose_name_plural = _("attempts")
        ordering = ["id"]
        constraints = [models.UniqueConstraint(fields=["event", "number"], name="one_attempt_per_number")]
        # Rows are inserted in the order of `at`, so a block range index finds the old ones and costs little to keep.
        indexes = [BrinIndex(fields=["at"], name="attempt_age", pages_per_range=32)]
