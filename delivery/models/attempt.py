from datetime import datetime, timedelta
from typing import Any

from django.contrib.postgres.indexes import BrinIndex
from django.db import models
from django.db.models import Aggregate, Count, F, FloatField, Q
from django.db.models.functions import TruncHour
from django.utils.translation import gettext_lazy as _

from delivery.models.webhook import WebhookEndpoint, WebhookEvent

# An event may be tried this long after it was made.
_LONGEST_WAY = timedelta(days=6)


class _Percentile95(Aggregate):
    """PostgreSQL's own: the value that 95 of 100 stay below."""

    template = "percentile_cont(0.95) WITHIN GROUP (ORDER BY %(expressions)s)"
    output_field = FloatField()


class WebhookAttemptQuerySet(models.QuerySet["WebhookAttempt"]):
    def by_hour(self, endpoint: WebhookEndpoint, *, since: datetime) -> Any:
        """For each hour with attempts at this endpoint: `hour`, `total`, `taken` (2xx) and `p95` in milliseconds."""
        mine = Q(event__endpoint=endpoint, event__created_at__gte=since - _LONGEST_WAY)
        return (
            self.filter(mine, at__gte=since)
            .annotate(hour=TruncHour("at"))
            .order_by("hour")
            .values("hour")
            .annotate(
                total=Count("pk"),
                taken=Count("pk", filter=Q(status_code__range=(200, 299))),
                p95=_Percentile95(F("milliseconds")),
            )
        )


class WebhookAttempt(models.Model):
    """One try at sending an event, kept for people to see."""

    event = models.ForeignKey(
        WebhookEvent,
        verbose_name=_("event"),
        on_delete=models.CASCADE,
        related_name="attempts",
        db_index=False,  # `one_attempt_per_number` serves
    )
    number = models.PositiveSmallIntegerField(_("number"))
    at = models.DateTimeField(_("at"))
    milliseconds = models.PositiveIntegerField(_("milliseconds"))
    status_code = models.PositiveSmallIntegerField(_("status"), null=True)
    error = models.CharField(_("error"), max_length=200, blank=True)
    response_start = models.TextField(_("response"), blank=True)

    objects = WebhookAttemptQuerySet.as_manager()

    class Meta:
        verbose_name = _("attempt")
        verbose_name_plural = _("attempts")
        ordering = ["id"]
        constraints = [models.UniqueConstraint(fields=["event", "number"], name="one_attempt_per_number")]
        # Rows are written in the order of time, so a block range index finds the old ones at next to no cost.
        indexes = [BrinIndex(fields=["at"], name="attempt_age", pages_per_range=32)]

    def __str__(self) -> str:
        return f"{self.number}: {self.status_code or self.error}"

    @property
    def was_taken(self) -> bool:
        return self.status_code is not None and 200 <= self.status_code < 300  # noqa: PLR2004  # every 2xx is a success
