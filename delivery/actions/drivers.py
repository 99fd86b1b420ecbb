"""Drivers: which may take a route, their data and duty, and recording of their positions."""

import logging
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from math import dist, inf
from uuid import UUID

from django.db import transaction
from django.db.models import Exists, F, OuterRef, Q

from common.pages.page_updates import publish_on_commit
from common.postgresql import prepared
from common.workers import moments
from common.workers.moments import Table
from delivery import lifecycle, page_updates
from delivery import simulation_steps as steps
from delivery.errors import (
    DeliveryError,
    DriverHasOpenRoute,
    DriverNotEligible,
    InvalidPosition,
    NoEligibleDriver,
    RouteStillOpen,
    RouteTaken,
)
from delivery.geo.distance import Point
from delivery.geo.position_filter import SentPosition
from delivery.lifecycle import RouteStatus
from delivery.models import (
    DeclinedOffer,
    Delivery,
    DispatchRules,
    Driver,
    DriverPosition,
    Environment,
    LatestPosition,
    PushSubscription,
)
from delivery.models.bases import cartesian, quoted
from delivery.models.driver import CIRCLES, DriverQuerySet

_log = logging.getLogger(__name__)
_MOST_FREE = 1000
_CANDIDATES = 3  # for each of several deliveries
# Positions that a phone keeps for longer before it sends them are rare.
_LONGEST_UNSENT = timedelta(minutes=1)
# Their moments; `told_at` is by the phone's clock.
TABLES = (Table(DriverPosition, {"told_at": None}), Table(LatestPosition))


# In SQL, because Django takes longer to compile it than PostgreSQL to write a position. The statuses are constants, so
# that the index of `one_open_route_per_driver` is used.
_HELD_ROUTES = f"""
SELECT id, integrator_id, environment FROM delivery_delivery
WHERE driver_id = %s AND route_status IN ({quoted(lifecycle.HELD)})
"""  # noqa: S608  # nosec B608  # constants


def eligible(delivery: Delivery, *, at: datetime) -> DriverQuerySet:
    """The drivers this route is offered to now, nearest first, with `distance_m`: metres to where it begins.

    They are free, fit the route, and are within the dispatch radius of its `first_place` where a fresh position is
    known. The others are eligible too, in the order of their last known distance; a driver without any position has
    `distance_m` None and comes last. Those simulated for another account are left out. Can be filtered and sliced, but
    reads all drivers on duty; `nearest` reads fewer.
    """
    rules = DispatchRules.current()
    return _free(delivery).may_reach(radius_m=rules.dispatch_radius_m, fresh_since=at - rules.position_fresh)


def nearby(delivery: Delivery, *, share: float = 1.0) -> DriverQuerySet:
    """The eligible drivers last seen within this share of the dispatch radius, at any time. Reads them by an index."""
    radius_m = DispatchRules.current().dispatch_radius_m * share
    return _free(delivery).last_seen_within(delivery.first_place.point, radius_m=radius_m)


def nearest(delivery: Delivery, *, at: datetime, count: int, search: str = "") -> list[Driver]:
    """The first `count` eligible drivers whose name or phone contains `search`, each with its latest position."""
    return _nearest(delivery, lambda drivers: drivers.matching(search).select_related("latest"), at=at, count=count)


def nearest_with_push(delivery: Delivery, *, at: datetime, count: int) -> list[Driver]:
    """The first `count` eligible drivers who have not declined it, with a phone that takes Web Push messages."""
    phones = PushSubscription.objects.valid(at=at).filter(device__driver=OuterRef("pk"))
    return _nearest(
        delivery, lambda drivers: drivers.not_declining(delivery.pk).filter(Exists(phones)), at=at, count=count
    )


def _nearest(
    delivery: Delivery, chosen: Callable[[DriverQuerySet], DriverQuerySet], *, at: datetime, count: int
) -> list[Driver]:
    for candidates in _from_near_to_far(delivery, at=at):
        found = list(chosen(candidates)[:count])
        if len(found) == count:
            break
    return found


@dataclass(frozen=True)
class Candidate:
    """A driver with `latest`. `metres`: from the latest position to where the route begins, None without one."""

    driver: Driver
    metres: float | None
    is_fresh: bool  # the latest position


def nearest_of_each(deliveries: Sequence[Delivery], *, at: datetime) -> list[tuple[Delivery, list[Candidate]]]:
    """The offered deliveries of one environment, each with its three nearest eligible drivers who have not declined it.

    Those with a fresh position come first. The first driver of one is left out of those after it. `deliveries` have
    their stops. By two queries, so the rules of `eligible` are applied to the free drivers with the newest positions,
    at most 1,000. Accepting checks them.
    """
    if not deliveries:
        return []
    pairs = DeclinedOffer.objects.filter(delivery__in=[each.pk for each in deliveries])
    declined = set(pairs.values_list("driver", "delivery"))
    free = Driver.objects.free(deliveries[0].environment).select_related("latest")
    left, found = list(free.order_by(F("latest__recorded_at").desc(nulls_last=True))[:_MOST_FREE]), []
    for delivery in deliveries:
        willing = [driver for driver in left if (driver.pk, delivery.pk) not in declined]
        nearest = _nearest_of(delivery, willing, at=at)
        left = [driver for driver in left if not nearest or driver is not nearest[0].driver]
        found.append((delivery, nearest))
    return found


def _nearest_of(delivery: Delivery, drivers: Sequence[Driver], *, at: datetime) -> list[Candidate]:
    rules, begin, found = DispatchRules.current(), cartesian(delivery.first_place.point), []
    for driver in drivers:
        latest: LatestPosition | None = getattr(driver, "latest", None)
        metres = dist((latest.x, latest.y, latest.z), begin) if latest else None
        is_fresh = latest is not None and latest.is_fresh(at=at)
        is_too_far = is_fresh and metres is not None and metres > rules.dispatch_radius_m
        is_for_account = driver.simulated_for_id in {None, delivery.integrator_id}
        if driver.vehicle_type == delivery.vehicle_type and is_for_account and not is_too_far:
            found.append(Candidate(driver, metres, is_fresh))
    found.sort(key=lambda each: (not each.is_fresh, inf if each.metres is None else each.metres, each.driver.name))
    return found[:_CANDIDATES]


def _from_near_to_far(delivery: Delivery, *, at: datetime) -> Iterator[DriverQuerySet]:
    """The eligible drivers in larger and larger circles, then all. Each begins with the drivers of the one before."""
    for share in CIRCLES:
        yield nearby(delivery, share=share)
    yield eligible(delivery, at=at)


def _free(delivery: Delivery) -> DriverQuerySet:
    """The free drivers that fit the route, nearest first."""
    free = Driver.objects.free_for(vehicle_type=delivery.vehicle_type, environment=delivery.environment)
    return free.for_account(delivery.integrator_id).by_distance(delivery.first_place.point)


def claim_first_eligible(delivery: Delivery, *, at: datetime) -> Driver:
    """The nearest eligible driver who has not declined it, locked until the transaction ends. Raises NoEligibleDriver.

    A driver whose row another acceptance has locked is skipped, not waited for. In the sandbox, where no real driver
    may be sent, a simulated one is created when none is free.
    """
    for candidates in _from_near_to_far(delivery, at=at):
        if (driver := _lock_first(candidates.not_declining(delivery.pk))) is not None:
            return driver
    if delivery.environment == Environment.SANDBOX:
        return _simulated(delivery)
    raise NoEligibleDriver(
        "No free driver is on duty with a %(vehicle)s within %(km)s km of %(point)s.",
        vehicle=delivery.vehicle_type,
        point=delivery.first_place.label,
        km=f"{DispatchRules.current().dispatch_radius_km:g}",
    )


def _lock_first(candidates: DriverQuerySet) -> Driver | None:
    """The first free driver of these whom no other transaction has locked, now locked by this one."""
    # NO KEY: an insert of a position holds a key-share lock on its driver, which must not hide the driver.
    unlocked = candidates.select_for_update(of=("self",), skip_locked=True, no_key=True)
    taken = list[UUID]()
    while (driver := unlocked.exclude(pk__in=taken).first()) is not None:
        # The query may have read the driver before another acceptance was committed; this one sees that acceptance.
        if _is_free(driver):
            return driver
        taken.append(driver.pk)
    return None


def claim_simulated(delivery: Delivery, *, position_at: datetime) -> Driver:
    """A simulated driver of the delivery's account, free or new, locked until the transaction ends.

    All positions of the driver are older than `position_at`, so one recorded then is the driver's latest.
    """
    free = Driver.objects.free_for(vehicle_type=delivery.vehicle_type, environment=Environment.SANDBOX)
    ours = free.filter(simulated_for=delivery.integrator_id)
    unseen = ours.filter(Q(latest=None) | Q(latest__recorded_at__lt=position_at))
    return _lock_first(unseen.order_by("pk")) or _simulated(delivery)


def claim(driver: Driver, delivery: Delivery, *, at: datetime) -> Driver:
    """The driver, row locked until the transaction ends. Raises DriverNotEligible or DriverHasOpenRoute."""
    locked = Driver.objects.select_for_update(no_key=True).get(pk=driver.pk)
    is_eligible = eligible(delivery, at=at).filter(pk=locked.pk).exists()
    if not is_eligible:
        raise _objection(locked, delivery, is_free=_is_free(locked))
    return locked


def _objection(driver: Driver, delivery: Delivery, *, is_free: bool) -> DeliveryError:
    """Why a driver who is not eligible cannot take the route. `is_free`: whether the driver holds no open route."""
    if driver.environment != delivery.environment:
        return DriverNotEligible(
            "A %(theirs)s driver cannot take a %(environment)s delivery.",
            theirs=driver.environment,
            environment=delivery.environment,
        )
    if not driver.active or not driver.on_duty:
        return DriverNotEligible("%(driver)s is not on duty.", driver=driver.name)
    if driver.vehicle_type != delivery.vehicle_type:
        return DriverNotEligible(
            "The route needs a %(needed)s; %(driver)s has a %(vehicle)s.",
            needed=delivery.vehicle_type,
            driver=driver.name,
            vehicle=driver.vehicle_type,
        )
    if not is_free:
        return DriverHasOpenRoute("%(driver)s holds another open route and must finish it first.", driver=driver.name)
    return DriverNotEligible(
        "%(driver)s is farther than %(km)s km from %(point)s.",
        driver=driver.name,
        point=delivery.first_place.label,
        km=f"{DispatchRules.current().dispatch_radius_km:g}",
    )


def others(delivery: Delivery, *, at: datetime, count: int, search: str = "") -> list[tuple[Driver, DeliveryError]]:
    """The first `count` drivers, by name, who work in the environment and are not eligible, each with why not."""
    held = Delivery.objects.filter(driver=OuterRef("pk"), route_status__in=lifecycle.HELD)
    working = Driver.objects.filter(active=True, environment=delivery.environment).for_account(delivery.integrator_id)
    found = working.exclude(pk__in=eligible(delivery, at=at).order_by().values("pk")).matching(search)
    rows = found.annotate(has_route=Exists(held)).order_by("-on_duty", "name", "pk")[:count]
    return [
        (row, _objection(row, delivery, is_free=not row.has_route))  # type: ignore[attr-defined]  # annotated
        for row in rows
    ]


def decline(*, delivery: Delivery, driver: Driver, at: datetime) -> None:
    """Show and push this offer to the driver no more. A repetition changes nothing.

    Dispatchers see it, and may give the route to this driver all the same. Raises DriverNotEligible, RouteTaken.
    """
    if not driver.fits(delivery):
        raise DriverNotEligible("%(driver)s is offered no such routes.", driver=driver.name)
    if delivery.route_status != RouteStatus.AVAILABLE:
        raise RouteTaken("A driver has accepted this route already; one acceptance covers all of it.")
    DeclinedOffer.objects.bulk_create(
        [DeclinedOffer(driver=driver, delivery=delivery, declined_at=at)], ignore_conflicts=True
    )
    publish_on_commit(
        page_updates.route_changed(delivery.pk, driver.pk),
        *page_updates.delivery_changed(delivery.pk, delivery.integrator_id, delivery.environment),
    )


def set_position(
    *, driver: Driver, point: Point, by: str, at: datetime, accuracy_m: float | None = None
) -> DriverPosition:
    """Append a position of a driver, `accuracy_m` in metres. Raises InvalidPosition for impossible coordinates."""
    position = _position(driver, SentPosition(point, at, accuracy_m), by=by)
    position.save(force_insert=True)
    _tell_pages_of_move(driver)
    return position


def store_positions(*, driver: Driver, sent: Sequence[SentPosition], by: str) -> None:
    """Append positions of a driver, in any order, by one statement, and tell the pages that show them.

    Raises InvalidPosition for impossible coordinates, having written nothing.
    """
    newest_first = sorted(sent, key=lambda each: each.at, reverse=True)  # so the latest position is written once
    DriverPosition.objects.bulk_create([_position(driver, each, by=by) for each in newest_first])
    _tell_pages_of_move(driver)


def pull_back_positions(*, driver: Driver, before: datetime, at: datetime) -> None:
    """Correct the driver's positions that lie ahead of now, because the clocks were put back, before others follow.

    They come before the moment `before`, unless that is long ago.
    """
    until = max(before, at - _LONGEST_UNSENT)
    for table in TABLES:
        moments.correct(table, at=until, rows=f"driver_id = '{driver.pk}'")


@transaction.atomic
def save(*, driver: Driver, by: str, at: datetime) -> None:
    """Write a new or changed driver.

    Raises RouteStillOpen for another environment or vehicle, or the end of the work for us, while holding a route.
    """
    before = Driver.objects.select_for_update(no_key=True).filter(pk=driver.pk).first()
    if before is not None and Delivery.objects.held_by(before).exists():
        fits = (driver.environment, driver.vehicle_type) == (before.environment, before.vehicle_type)
        if not fits or (before.active and not driver.active):
            raise RouteStillOpen(
                "%(driver)s holds a route. Environment, vehicle and 'active' can change when it has ended or is given "
                "to somebody else.",
                driver=before.name,
            )
    driver.save()
    publish_on_commit(*page_updates.duty_changed([(driver.pk, driver.environment)]))
    _log.info("driver %s written by %s at %s", driver.pk, by, at)


def set_duty(drivers: Collection[Driver], *, on_duty: bool) -> None:
    """Let drivers begin or end to take routes. An open route is not affected."""
    Driver.objects.filter(pk__in=[driver.pk for driver in drivers]).update(on_duty=on_duty)
    publish_on_commit(*page_updates.duty_changed((driver.pk, driver.environment) for driver in drivers))


def _tell_pages_of_move(driver: Driver) -> None:
    """Tell open pages of the delivery whose route the driver holds. One query, and one round trip to Redis."""
    routes = prepared.execute(_HELD_ROUTES, [driver.pk]).fetchall()
    publish_on_commit(*page_updates.drivers_moved(routes))


def _position(driver: Driver, sent: SentPosition, *, by: str) -> DriverPosition:
    if not sent.point.is_on_earth:
        raise InvalidPosition("Latitude runs from -90 to 90, longitude from -180 to 180, in decimal degrees.")
    return DriverPosition(
        driver=driver,
        # The products of numbers that are almost zero cannot be represented, which is an error in PostgreSQL's
        # computation of the columns of LatestPosition.
        latitude=round(sent.point.latitude, 12),
        longitude=round(sent.point.longitude, 12),
        accuracy_m=sent.accuracy_m,
        recorded_at=sent.at,
        told_at=sent.told_at,
        recorded_by=by,
    )


def _is_free(driver: Driver) -> bool:
    free = Driver.objects.free_for(vehicle_type=driver.vehicle_type, environment=driver.environment)
    return free.filter(pk=driver.pk).exists()


def _simulated(delivery: Delivery) -> Driver:
    return Driver.objects.create(
        name=steps.DRIVER_NAME,
        phone="+55 11 90000-0000",
        vehicle_type=delivery.vehicle_type,
        environment=Environment.SANDBOX,
        simulated_for=delivery.integrator,
        on_duty=True,
    )
