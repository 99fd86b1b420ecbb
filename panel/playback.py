"""The last hour of the dispatch board: where drivers were, minute by minute, and what their routes' statuses were."""

from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

from django.db.models import Prefetch, Q
from django.db.models.functions import TruncMinute

from delivery import lifecycle
from delivery.models import Delivery, DriverPosition, Transition
from delivery.words import text_of_simulator

if TYPE_CHECKING:
    from uuid import UUID

_HOUR = timedelta(hours=1)
_MOST_POSITIONS = 30_000  # of 500 drivers, one for each minute
_MOST_ROUTES = 2_000


def last_hour(environment: str, *, at: datetime) -> dict[str, Any]:
    """`from` and `to`, and the drivers with `name`, `vehicle`, `track` and `statuses`, as JSON for `board_playback.js`.

    `track` are moments with latitude and longitude, in order; `statuses` moments with the status of the route from then
    on, empty for none. Moments are seconds since 1970, coordinates decimal degrees. By three queries.
    """
    since = at - _HOUR
    seen = (
        DriverPosition.objects.filter(recorded_at__gt=since, recorded_at__lte=at, driver__environment=environment)
        .annotate(minute=TruncMinute("recorded_at"))
        .order_by("driver_id", "minute", "-recorded_at")
        .distinct("driver_id", "minute")
    )
    columns = ("driver_id", "driver__name", "driver__vehicle_type", "recorded_at", "latitude", "longitude", "minute")
    found: dict[UUID, dict[str, Any]] = {}
    for key, name, vehicle, moment, latitude, longitude, _minute in seen.values_list(*columns)[:_MOST_POSITIONS]:
        driver = {"name": text_of_simulator(name), "vehicle": vehicle, "track": [], "statuses": []}
        found.setdefault(key, driver)["track"].append([moment.timestamp(), latitude, longitude])
    for delivery in _routes(environment, since).filter(driver__in=found)[:_MOST_ROUTES]:
        found[delivery.driver_id]["statuses"] += _statuses(delivery)
    for driver in found.values():
        driver["statuses"].sort()
    return {"from": since.timestamp(), "to": at.timestamp(), "drivers": list(found.values())}


def _routes(environment: str, since: datetime) -> Any:
    changes = Prefetch("transitions", Transition.objects.order_by("id"))
    recent = Q(route_status__in=lifecycle.HELD) | Q(closed_at__gt=since)
    return Delivery.objects.filter(recent, environment=environment).prefetch_related(changes).order_by("pk")


def _statuses(delivery: Delivery) -> list[list[Any]]:
    """Since the last driver took the route."""
    changes = list(delivery.transitions.all())
    taken = max((number for number, each in enumerate(changes) if each.trigger in {"accept", "reassign"}), default=0)
    return [
        [_moment(change).timestamp(), "" if change.route_status in lifecycle.CLOSED else change.route_status]
        for change in changes[taken:]
    ]


def _moment(change: Transition) -> datetime:
    """Since when the route has had this status. One that was opened again was cancelled until that was reported."""
    return change.at if change.trigger == lifecycle.Trigger.GOODS_OUT else change.happened_at
