"""Which deliveries, drivers and tariffs the sets of the models have, which the actions, lists and pages take."""

from collections import Counter
from decimal import Decimal
from functools import partial
from uuid import UUID

import pytest

from delivery import lifecycle
from delivery.lifecycle import Mode, RouteStatus, Status
from delivery.models import (
    ArrivalEstimate,
    DeclinedOffer,
    Delivery,
    Driver,
    DriverPosition,
    Environment,
    Token,
    VehicleType,
)
from tests.counted.moments import DAY, HOUR, MINUTE, NOON, TICK
from tests.counted.rows import check, copy, counts
from tests.factories import BY, PICKUP, DriverFactory

IN_PROGRESS = ("AVAILABLE", "ACCEPTED", "COLLECTED", "RETURNING")
NORTH = PICKUP.latitude + 0.1  # 11 km


def routes(of, *names, **values):
    """By its status, a delivery whose route has it."""
    return {f"with a route {name}": partial(of, RouteStatus(name), **values) for name in names}


@pytest.fixture
def later(of_delivery):
    """Makes a scheduled one that is ready at noon."""
    return partial(
        of_delivery, RouteStatus.SCHEDULED, scheduled_for=NOON, offer_at=NOON - 20 * MINUTE,
        offer_expires_at=NOON + HOUR,
    )  # fmt: skip  # a table


@counts(
    "delivery/models/delivery.py:DeliveryQuerySet.in_progress",
    "delivery/models/delivery.py:DeliveryQuerySet.under_way",
)
def test_deliveries_under_way(of_delivery, other, in_sandbox, later):
    check(
        lambda: Delivery.objects.in_progress(Environment.LIVE),
        fit=routes(of_delivery, *IN_PROGRESS)
        | {"of another account": partial(of_delivery, RouteStatus.ACCEPTED, integrator=other)},
        not_={
            "scheduled": later,
            "of the sandbox": partial(of_delivery, RouteStatus.AVAILABLE, **in_sandbox),
            **routes(of_delivery, "FINISHED", "CANCELLED", "EXPIRED"),
        },
    )


@pytest.mark.parametrize("route", ["ACCEPTED", "COLLECTED", "RETURNING"])
@counts("delivery/models/delivery.py:DeliveryQuerySet.held_by")
def test_route_that_a_driver_holds(of_delivery, driver, route):
    check(
        lambda: Delivery.objects.held_by(driver),
        fit=routes(of_delivery, route, driver=driver),
        not_={"of another driver": partial(of_delivery, RouteStatus(route))}
        | routes(of_delivery, "FINISHED", "CANCELLED", driver=driver)
        | routes(of_delivery, "AVAILABLE"),
    )


@counts("delivery/models/delivery.py:DeliveryQuerySet.offered_to")
def test_offers_for_a_driver(of_delivery, later, other, in_sandbox, driver, shop):
    """Of the driver's vehicle and environment, until they expire, not declined, within the radius of a fresh place."""
    offered = partial(of_delivery, RouteStatus.AVAILABLE, offer_expires_at=NOON + TICK)
    far, reverse = {"latitude": NORTH}, {"mode": Mode.REVERSE}

    def declined(by):
        DeclinedOffer.objects.create(driver=by, delivery=offered(), declined_at=NOON)

    def offers(to):
        return lambda: Delivery.objects.offered_to(to, at=NOON, since=NOON - HOUR, radius_m=10_000)

    fit = {
        "offered": {},
        "of another account": {"integrator": other},
        "declined by another driver": partial(declined, DriverFactory.create()),
    }
    not_ = {
        "expired": {"offer_expires_at": NOON},
        "for another vehicle": {"vehicle_type": VehicleType.CAR},
        "of the sandbox": in_sandbox,
        "declined": partial(declined, driver),
        "scheduled": later,
        **routes(of_delivery, "ACCEPTED", "CANCELLED", "EXPIRED", offer_expires_at=NOON + HOUR),
    }
    check(offers(driver), of=offered, fit=fit | {"far away": far}, not_=not_)

    DriverPosition.objects.create(
        driver=DriverFactory.create(pk=UUID(int=1)),
        latitude=NORTH,
        longitude=PICKUP.longitude,
        recorded_at=NOON,
        recorded_by=BY,
    )
    DriverPosition.objects.create(
        driver=driver, latitude=PICKUP.latitude, longitude=PICKUP.longitude, recorded_at=NOON - HOUR, recorded_by=BY
    )
    far_pickup = {"stops": [{"latitude": NORTH}]}
    check(
        offers(driver),
        of=offered,
        fit=fit
        | {
            "to a far drop-off": far_pickup | {"stops": [{"latitude": NORTH}, {"latitude": NORTH}]},
            "of two stops": {"stops": [{}, {}]},
            "from near pickups to a far A": far | reverse | {"stops": [{}, {}]},
            "from a near pickup, then a far one": far | reverse | {"stops": [{}, {"latitude": NORTH}]},
        },
        not_=not_ | {"far away": far, "from a far pickup to a near A": far_pickup | reverse},
    )

    driver.latest.recorded_at -= TICK
    driver.latest.save(update_fields=["recorded_at"])
    check(offers(driver), of=offered, fit=fit | {"far away": far}, not_=not_)

    simulated = DriverFactory.create(environment=Environment.SANDBOX, simulated_for=shop.integrator)
    check(
        offers(simulated),
        of=partial(offered, **in_sandbox),
        fit={"of its account": {}},
        not_={"of another account": {"integrator": other}, "live": {"environment": Environment.LIVE}},
    )


@counts("delivery/models/delivery.py:DeliveryQuerySet.scheduled")
def test_routes_to_be_offered(of_delivery, later, in_sandbox):
    check(
        lambda: Delivery.objects.scheduled(until=NOON),
        of=later,
        fit={"ready at noon": {}, "of the sandbox": in_sandbox},
        not_={
            "ready later": {"scheduled_for": NOON + TICK},
            **routes(of_delivery, "AVAILABLE", "CANCELLED", scheduled_for=NOON),
        },
    )


@counts("delivery/models/delivery.py:DeliveryQuerySet.untaken")
def test_offers_that_nobody_took(of_delivery, later, in_sandbox, other):
    check(
        lambda: Delivery.objects.untaken(at=NOON),
        of=partial(of_delivery, RouteStatus.AVAILABLE, offer_expires_at=NOON),
        fit={"until noon": {}, "of the sandbox": in_sandbox, "of another account": {"integrator": other}},
        not_={
            "a moment longer": {"offer_expires_at": NOON + TICK},
            "scheduled": partial(later, offer_expires_at=NOON),
            **routes(of_delivery, "ACCEPTED", "CANCELLED", "EXPIRED", offer_expires_at=NOON),
        },
    )


@pytest.fixture
def times(rules):
    """A driver within 10 minutes, at A within 30, and 10 more for each kilometre, of which a route has 3."""
    rules(late_without_driver_minutes=10, late_pickup_minutes=30, late_minutes_per_km=10)
    return {"created_at": NOON - HOUR - TICK, "distance_km": Decimal(3)}


@counts(
    "delivery/models/delivery.py:DeliveryQuerySet.late",
    "delivery/models/delivery.py:DeliveryQuerySet.overdue",
    "delivery/models/delivery.py:DeliveryQuerySet.to_watch",
    "delivery/models/delivery.py:DeliveryQuerySet.progress",
    "delivery/models/delivery.py:due_at",
    "delivery/models/delivery.py:_earliest_deadline",
    "delivery/models/delivery.py:_stops_ahead",
)
def test_late_deliveries(of_delivery, later, other, in_sandbox, times):
    of = partial(of_delivery, **times)
    collected, reverse = partial(of, RouteStatus.COLLECTED), {"mode": Mode.REVERSE}
    accepted, back = partial(of, RouteStatus.ACCEPTED), partial(of, RouteStatus.RETURNING)
    passed, to_come = {"deadline_at": NOON - TICK}, {"deadline_at": NOON}
    delivered = {"status": Status.DELIVERED}
    on_way_to_a = passed | {"status": Status.COLLECTED}
    progressing = {"under_way": 1, "watched": 1}
    late = progressing | {"late": 1, "late now": 1}

    def found():
        progress = Delivery.objects.progress(at=NOON)
        return {
            "late": Delivery.objects.late(Environment.LIVE, at=NOON).count(), "late now": progress["late"],
            "under_way": progress["under_way"], "watched": Delivery.objects.to_watch(at=NOON).count(),
        }  # fmt: skip  # a table

    check(
        found,
        fit={
            "with the goods for too long": (collected, late),
            "of another account": (partial(collected, integrator=other), late),
            "of the sandbox": (partial(collected, **in_sandbox), late | {"late": 0}),
            "with the goods, just in time": (partial(collected, created_at=NOON - HOUR), progressing),
            "offered for too long": (partial(of, RouteStatus.AVAILABLE, offer_at=NOON - 10 * MINUTE - TICK), late),
            "offered just now": (partial(of, RouteStatus.AVAILABLE, offer_at=NOON - 10 * MINUTE), progressing),
            "not at A yet": (partial(accepted, created_at=NOON - 30 * MINUTE - TICK), late),
            "at A in time": (partial(accepted, created_at=NOON - 30 * MINUTE), progressing),
            "at A in time, as it was ready later": (partial(accepted, scheduled_for=NOON - 30 * MINUTE), progressing),
            "not at A by its deadline": (partial(accepted, pickup_deadline_at=NOON - TICK), late),
            "at A by its deadline": (partial(accepted, pickup_deadline_at=NOON), progressing),
            "after the deadline of a stop": (partial(collected, **to_come, stops=[passed, to_come]), late),
            "after that of a stop that is done": (
                partial(collected, **to_come, stops=[passed | delivered, to_come]), progressing,
            ),
            "after that of a stop, another without one": (partial(collected, **passed, stops=[{}, passed]), late),
            "on the way back, its way after the deadline": (
                partial(back, deadline_at=NOON - 30 * MINUTE - TICK), late,
            ),
            "on the way back just in time": (partial(back, deadline_at=NOON - 30 * MINUTE), progressing),
            "to bring, not at the next stop": (
                partial(accepted, **reverse, stops=[{"ready_at": NOON - 30 * MINUTE - TICK}]), late,
            ),
            "to bring, ready just now": (
                partial(accepted, **reverse, stops=[{"ready_at": NOON - 30 * MINUTE}]), progressing,
            ),
            "to bring, the next stop ready long ago": (
                partial(accepted, **reverse, stops=[{}, {"ready_at": NOON}]), late,
            ),
            "bringing, after the deadline of a stop": (
                partial(collected, **reverse, **to_come, stops=[on_way_to_a, passed | {"status": Status.ACCEPT}]), late,
            ),
            "bringing what was collected in time": (
                partial(collected, **reverse, **to_come, stops=[on_way_to_a, to_come | {"status": Status.ACCEPT}]),
                progressing,
            ),
            "scheduled and ready": (partial(later, scheduled_for=NOON - TICK), {"late": 1, "watched": 1}),
            "at A in time, after the deadline of a stop": (
                partial(accepted, created_at=NOON - 30 * MINUTE, **passed, stops=[passed]), progressing,
            ),
            "bringing, at the first stop too late": (
                partial(collected, **reverse, **to_come, pickup_deadline_at=NOON - TICK, stops=[to_come]), progressing,
            ),
        },
        not_={
            "scheduled, ready now": later,
            **routes(of, "FINISHED", "CANCELLED", "EXPIRED", scheduled_for=NOON - HOUR),
        },
    )  # fmt: skip  # a table


@counts(
    "delivery/models/delivery.py:DeliveryQuerySet.by_hour",
    "delivery/models/delivery.py:NOT_DELIVERED",
    "delivery/models/delivery.py:CALLED_OFF",
)
def test_requests_by_hour(of_delivery, later, driver):
    of = partial(of_delivery, created_at=NOON - HOUR, closed_at=NOON)
    failed, some = {"status": Status.FAILED}, {"has_failed_stop": True}
    cancelled = failed | {"cancelled_at": NOON, "cancel_fee": 0}

    def found():
        hours: Counter[str] = Counter()
        for row in Delivery.objects.by_hour(since=NOON - HOUR):
            hours.update({name: number for name, number in row.items() if name != "hour"})
        return hours

    def one(name):
        return {"requested": 1, name: 1}

    finished, back = partial(of, RouteStatus.FINISHED), partial(of, RouteStatus.RETURNING, closed_at=None)
    check(
        found,
        fit={
            "delivered": (finished, one("delivered")),
            "failed": (partial(finished, **failed, **some), one("failed")),
            "failed at one stop": (partial(finished, **some), one("failed")),
            "failed, on the way back": (partial(back, **failed, **some), one("failed")),
            "failed at one stop, on the way back": (partial(back, **some), one("failed")),
            "delivered, on the way back": (back, {"requested": 1}),
            "failed at one stop, others to come": (
                partial(of, RouteStatus.COLLECTED, **some, closed_at=None), {"requested": 1},
            ),
            "cancelled after pickup, on the way back": (partial(back, **cancelled), one("called_off")),
            "cancelled after pickup": (partial(finished, **cancelled), one("called_off")),
            "cancelled after a stop failed": (partial(finished, **cancelled, **some), one("called_off")),
            "cancelled": (partial(of, RouteStatus.CANCELLED, driver=driver), one("called_off")),
            "taken by nobody": (partial(of, RouteStatus.EXPIRED), one("called_off")),
            "scheduled": (partial(later, created_at=NOON - HOUR), one("scheduled")),
            "under way": (partial(of, RouteStatus.ACCEPTED, closed_at=None), {"requested": 1}),
        },
        not_={"requested before": partial(finished, created_at=NOON - HOUR - TICK)},
    )  # fmt: skip  # a table


@counts("delivery/models/delivery.py:DeliveryQuerySet.arrivals_due", "delivery/models/stop.py:ahead")
@counts("delivery/models/stop.py:ArrivalEstimateQuerySet.obsolete")
def test_routes_whose_arrival_times_are_to_be_computed(of_delivery, later, driver):
    of = partial(of_delivery, RouteStatus.ACCEPTED, last_sequence=2)

    def computed(route=RouteStatus.ACCEPTED, *, sequence=2, at=NOON, position_at=None, **values):
        row = of_delivery(route, last_sequence=2, **values)
        ArrivalEstimate.objects.bulk_create(
            ArrivalEstimate(stop=stop, sequence=sequence, computed_at=at, earliest=NOON, arrives_at=NOON, latest=NOON)
            for stop in row.stops.all()
        )
        if position_at:
            place = {"latitude": PICKUP.latitude, "longitude": PICKUP.longitude}
            DriverPosition.objects.create(driver=row.driver, recorded_at=position_at, recorded_by=BY, **place)

    delivered = {"stops": [{"status": Status.DELIVERED}]}
    due = {
        "without times": of,
        "with times of before its latest move": partial(computed, sequence=1),
        "with goods collected": partial(of_delivery, RouteStatus.COLLECTED),
    }
    not_ = {
        "with times": computed,
        "with what it brings collected": partial(of_delivery, RouteStatus.COLLECTED, mode=Mode.REVERSE),
        "with no stop ahead": partial(of_delivery, RouteStatus.COLLECTED, **delivered),
        "at its end": partial(of_delivery, RouteStatus.RETURNING, stops=[{}]),
        **routes(of_delivery, "AVAILABLE", "FINISHED", "CANCELLED"),
        "scheduled": later,
    }
    by_time = {
        "with times of more than a minute ago": partial(computed, at=NOON - MINUTE - TICK),
        "with a newer position": partial(computed, position_at=NOON + TICK),
    }
    fresh = {
        "with times of a minute ago": partial(computed, at=NOON - MINUTE),
        "with a position of before": partial(computed, position_at=NOON),
    }
    check(lambda: Delivery.objects.arrivals_due(at=NOON, moves_only=True), fit=due, not_=not_ | fresh | by_time)
    check(lambda: Delivery.objects.arrivals_due(at=NOON, moves_only=False), fit=due | by_time, not_=not_ | fresh)
    check(
        ArrivalEstimate.objects.obsolete,
        fit={
            "of a stop that is done": partial(computed, RouteStatus.COLLECTED, **delivered),
            "of a route that is offered again": partial(computed, RouteStatus.AVAILABLE),
            "of what is brought to A": partial(computed, RouteStatus.COLLECTED, mode=Mode.REVERSE),
        },
        not_={
            "with the goods": partial(computed, RouteStatus.COLLECTED),
            "on the way to A": computed,
            "of what is to be brought": partial(computed, mode=Mode.REVERSE),
        },
    )


@counts(
    "delivery/models/driver.py:DriverQuerySet.free_for",
    "delivery/models/driver.py:DriverQuerySet.free",
    "delivery/models/driver.py:DriverQuerySet.for_account",
    "delivery/models/driver.py:DriverQuerySet.not_declining",
)
def test_drivers_for_an_offer(of_delivery, account, other):
    """Eligible is who is active, on duty, has the vehicle and no open route."""
    offered = of_delivery(RouteStatus.AVAILABLE)
    of = DriverFactory.create

    def driver_with(route):
        of_delivery(RouteStatus(route), driver=of())

    def declining(what):
        DeclinedOffer.objects.create(driver=of(), delivery=what, declined_at=NOON)

    with_route = {f"with a route {route}": partial(driver_with, route) for route in lifecycle.HELD}
    done = {f"after a route {route}": partial(driver_with, route) for route in ("FINISHED", "CANCELLED")}
    check(
        lambda: Driver.objects.free_for(
            vehicle_type=VehicleType.MOTORCYCLE, environment=Environment.LIVE
        ).not_declining(offered.pk),
        of=of,
        fit={"on duty": {}, "who declined another": partial(declining, of_delivery(RouteStatus.AVAILABLE)), **done},
        not_={
            "off duty": {"on_duty": False},
            "not working for us": {"active": False},
            "with another vehicle": {"vehicle_type": VehicleType.CAR},
            "of the sandbox": {"environment": Environment.SANDBOX},
            "who declined": partial(declining, offered),
            **with_route,
        },
    )
    check(
        lambda: Driver.objects.free(Environment.SANDBOX).for_account(account.pk),
        of=partial(of, environment=Environment.SANDBOX),
        fit={"of all accounts": {}, "simulated for the account": {"simulated_for": account}},
        not_={"simulated for another": {"simulated_for": other}},
    )


@counts(
    "delivery/models/driver.py:DriverQuerySet.may_reach",
    "delivery/models/driver.py:DriverQuerySet.last_seen_within",
)
def test_drivers_near_a_place(db):
    """Where a fresh position is known it is within the radius."""

    def seen(*, north=0.0, east=0.0, at=NOON):
        place = {"latitude": PICKUP.latitude + north, "longitude": PICKUP.longitude + east}
        DriverPosition.objects.create(driver=DriverFactory.create(), recorded_at=at, recorded_by=BY, **place)

    def drivers():
        return Driver.objects.by_distance(PICKUP)

    near = {"at the place": seen, "1.1 km away": partial(seen, north=0.01)}
    away = {
        "11 km to the north": partial(seen, north=0.1),
        "10 km to the east": partial(seen, east=0.1),
        "4 km to the north and to the east": partial(seen, north=0.04, east=0.04),
    }
    unknown = {"who has told no position": DriverFactory.create}
    old = {"far away long ago": partial(seen, north=0.1, at=NOON - TICK)}
    check(lambda: drivers().may_reach(radius_m=5000, fresh_since=NOON), fit=near | old | unknown, not_=away)
    check(lambda: drivers().last_seen_within(PICKUP, radius_m=5000), fit=near, not_=away | old | unknown)


@counts("delivery/models/token.py:TokenQuerySet.valid")
def test_valid_tokens(shop):
    check(
        lambda: Token.objects.valid(at=NOON),
        of=partial(copy, shop),
        fit={"valid for ever": {}, "valid for a moment": {"expires_at": NOON + TICK}},
        not_={"expired": {"expires_at": NOON}, "revoked": {"revoked_at": NOON + DAY}},
    )
