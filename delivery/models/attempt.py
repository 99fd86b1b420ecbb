from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import Any, Self

from django.contrib.postgres.indexes import BrinIndex
from django.db import models
from django.db.models import Aggregate, Count, F, FloatField, Q
from django.db.models.functions import TruncHour
from django.utils.translation import gettext_lazy as _

from common.webhooks.models import FAILING, Attempt, EventState
from delivery.models.webhook import WebhookEndpoint, WebhookEvent

# No event is sent later than this after it was recorded, unless it is replayed: the schedule takes 72 hours, and the
# endpoint is switched off after five days of failures.
_OLDEST_EVENT = timedelta(days=6)


class _Percentile95(Aggregate):
    """The 95th percentile, interpolated by PostgreSQL."""

    template = "percentile_cont(0.95) WITHIN GROUP (ORDER BY %(expressions)s)"
    output_field = FloatField()


class WebhookAttemptQuerySet(models.QuerySet["WebhookAttempt"]):
    def by_hour(self, endpoint: WebhookEndpoint, *, since: datetime) -> Any:
        """For each hour with attempts: `hour`, `total`, `successes` (answered with 2xx) and `p95` in milliseconds.

        Attempts at events older than six days, which only a replay makes, are left out, so that the index of the
        endpoint's events limits what is read.
        """
        recent = Q(event__endpoint=endpoint, event__created_at__gte=since - _OLDEST_EVENT)
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
