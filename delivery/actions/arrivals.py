"""Renewal of the arrival times of routes under way. Workers do it, so that moves and positions do not wait for it."""

from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timedelta
from typing import NamedTuple

from django.conf import settings

from common.pages.page_updates import publish
from common.postgresql.batches import each
from delivery import arrival_times, page_updates
from delivery.geo import arrivals, routing
from delivery.geo.arrivals import Known, Service
from delivery.geo.routing import TravelTimes
from delivery.lifecycle import Mode, RouteStatus
from delivery.models import ArrivalEstimate, Delivery, DispatchRules, Rules, Stop, Transition

_BATCH = 200  # routes that are read and written together
_QUESTIONS = 4  # to a routing engine at the same time
# A smaller change is neither written nor told to pages.
_LEAST_CHANGE = timedelta(minutes=1)


class _Computed(NamedTuple):
    delivery: Delivery
    stops: list[Stop]  # the open ones
    estimates: list[ArrivalEstimate]  # of each of them


def renew(*, at: datetime, moves_only: bool = False, is_stopping: Callable[[], bool] = lambda: False) -> int:
    """Compute the arrival times that are due, see `DeliveryQuerySet.arrivals_due`, and delete those of closed stops.

    Times that differ by less than a minute stay as they are, unless the route has moved, or they have become late or
    are late no more (`delivery.arrival_times`). Tells the pages that show the others. Several processes may do so at
    the same time. Returns the number of routes whose times were written.
    """
    ArrivalEstimate.objects.obsolete().delete()
    rules = DispatchRules.current()
    times = _times(rules)
    written, last = 0, None
    while not is_stopping():
        due = Delivery.objects.arrivals_due(at=at, moves_only=moves_only).order_by("pk")
        rest = due if last is None else due.filter(pk__gt=last)
        batch = list(rest.select_related("driver__latest").prefetch_related("stops__arrival")[:_BATCH])
        if not batch:
            break
        written += _write(_compute(batch, times, rules, at=at))
        last = batch[-1].pk
    return written


def _compute(batch: Sequence[Delivery], times: TravelTimes, rules: Rules, *, at: datetime) -> list[_Computed]:
    """The unsaved estimates of these deliveries."""
    moves = Transition.objects.filter(delivery__in=batch).order_by("delivery_id", "-id").distinct("delivery_id")
    latest = {move.delivery_id: move for move in moves}
    what = "compute the arrival times of delivery"
    fresh = rules.position_fresh
    known = each(batch, lambda delivery: (delivery, _known(delivery, latest[delivery.pk], fresh=fresh)), doing=what)
    service = Service(pickup=rules.service_minutes_pickup, stop=rules.service_minutes_stop)
    with ThreadPoolExecutor(_QUESTIONS) as pool:  # its threads use no database
        futures = {
            delivery.pk: pool.submit(_compute_one, delivery, place, times=times, service=service, at=at)
            for delivery, place in known
        }
        return each(futures, lambda key: futures[key].result(), doing=what)


def _compute_one(delivery: Delivery, known: Known, *, times: TravelTimes, service: Service, at: datetime) -> _Computed:
    """The unsaved estimates of the delivery."""
    stops = delivery.stops_ahead
    is_reverse = delivery.mode == Mode.REVERSE  # then the stops come first, and A is no stop of its own
    if not stops:  # they are read after the route, and the last one was closed meanwhile
        return _Computed(delivery, [], [])
    is_before_a = delivery.route_status == RouteStatus.ACCEPTED and not is_reverse
    ready = [stop.ready_at for stop in stops]
    if is_before_a:
        ready.insert(0, delivery.scheduled_for)
    elif delivery.route_status == RouteStatus.ACCEPTED:  # then the first stop is collected when it is ready itself, too
        ready[0] = max(filter(None, (ready[0], delivery.scheduled_for)), default=None)
    way = arrivals.way(
        known,
        pickup=delivery.point if is_before_a else None,
        stops=[stop.point for stop in stops],
        ready=ready,
        service=service,
    )
    timed = times.of(way.points, vehicle=delivery.vehicle_type)
    rows = [
        ArrivalEstimate(
            stop_id=stop.pk,
            arrives_at=estimate.at,
            earliest=estimate.earliest,
            latest=estimate.latest,
            computed_at=at,
            signal_at=known.at,
            engine=timed.engine,
            sequence=delivery.last_sequence,
        )
        for stop, estimate in zip(stops, arrivals.estimates(way, timed.seconds), strict=True)
    ]
    return _Computed(delivery, stops, rows)


def _known(delivery: Delivery, move: Transition, *, fresh: timedelta) -> Known:
    """Where the driver was last: the latest position, or the place of the latest move if that is newer by much.

    After an acceptance without a position the driver counts as being where the route begins.
    """
    happened_at = move.happened_at
    latest = getattr(delivery.driver, "latest", None)
    if latest is not None and latest.recorded_at >= happened_at - fresh:
        return Known(latest.point, max(latest.recorded_at, happened_at))
    place = delivery.stop_at(move.point) or delivery.first_place
    return Known(place.point, happened_at)


def _times(rules: Rules) -> TravelTimes:
    name = settings.ROUTING_ENGINE
    return TravelTimes(
        name,
        lambda vehicle: routing.engine(name, url=settings.ROUTING_URL, vehicle=vehicle),
        factor=rules.routing_time_factor,
        road_factor=rules.road_factor,
        kmh=rules.speed_kmh,
    )


def _write(computed: Iterable[_Computed]) -> int:
    """Write the rows of the routes with a change, and tell their pages. The number of these routes."""
    changed = [each for each in computed if any(map(_differs, each.stops, each.estimates))]
    if not changed:
        return 0
    # Locked in the order of the rows, so processes that write the same ones cannot deadlock.
    rows = sorted((row for each in changed for row in each.estimates), key=lambda row: row.stop_id)
    ArrivalEstimate.objects.bulk_create(
        rows,
        update_conflicts=True,
        unique_fields=["stop"],
        update_fields=["arrives_at", "earliest", "latest", "computed_at", "signal_at", "engine", "sequence"],
    )
    routes = [each.delivery for each in changed]
    publish(
        *page_updates.arrivals_changed(
            (route.pk, route.integrator_id, route.environment, route.driver_id)
            for route in routes
            if route.driver_id is not None  # which a route under way always has
        )
    )
    return len(changed)


def _differs(stop: Stop, row: ArrivalEstimate) -> bool:
    """Whether a new estimate says something else than the one that the stop has."""
    before = getattr(stop, "arrival", None)
    if before is None or before.sequence != row.sequence or _was_late(before) != _was_late(row):
        return True
    moved: timedelta = row.arrives_at - before.arrives_at
    return abs(moved) >= _LEAST_CHANGE


def _was_late(row: ArrivalEstimate) -> bool:
    return arrival_times.as_computed(row).is_late
