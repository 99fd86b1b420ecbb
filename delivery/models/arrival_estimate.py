from collections.abc import Iterable

from django.db import models
from django.db.models import F, Q
from django.utils.translation import gettext_lazy as _

from delivery.lifecycle import Status
from delivery.models.stop import Stop

# Of stops that a driver is on the way to, or comes to later.
EXPECTED = (Status.ACCEPT, Status.COLLECTED)


class ArrivalEstimateQuerySet(models.QuerySet["ArrivalEstimate"]):
    def of(self, stops: Iterable[Stop]) -> "dict[int, ArrivalEstimate]":
        """The estimates of those of these stops that a driver is expected at, by the stop's key. One query at most."""
        expected = [stop.pk for stop in stops if stop.status in EXPECTED]
        return self.in_bulk(expected) if expected else {}

    def obsolete(self) -> "ArrivalEstimateQuerySet":
        """Those of stops at which no driver is expected any more."""
        return self.exclude(stop__status__in=EXPECTED)


class ArrivalEstimate(models.Model):
    """When the driver is expected at a stop, and between which moments, as computed at `computed_at`.

    Workers renew it, see `delivery.actions.arrivals`; it is a little older than the latest move or position.
    """

    stop = models.OneToOneField(Stop, primary_key=True, on_delete=models.CASCADE, related_name="arrival")
    arrives_at = models.DateTimeField(_("arrives at"))
    earliest = models.DateTimeField(_("earliest"))
    latest = models.DateTimeField(_("latest"))
    computed_at = models.DateTimeField(_("computed at"))
    engine = models.CharField(max_length=8)  # osrm, valhalla or distance
    # The delivery's `last_sequence` that it was computed from. Another one: the route has moved since.
    sequence = models.PositiveIntegerField(db_default=0)

    objects = ArrivalEstimateQuerySet.as_manager()

    class Meta:
        default_permissions = ()
        constraints = [
            models.CheckConstraint(
                name="arrival_within_its_spread",
                condition=Q(earliest__lte=F("arrives_at"), latest__gte=F("arrives_at")),
            ),
        ]

    def __str__(self) -> str:
        return f"{self.stop_id} {self.arrives_at:%H:%M}"
