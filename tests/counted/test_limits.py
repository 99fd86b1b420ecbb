"""What prices, places, drivers and limits of a call are decided by."""

from collections import Counter
from datetime import timedelta
from decimal import Decimal
from functools import partial

import pytest

from common.api.refused_calls import MOST_STORED
from common.simulation import rows as simulations
from common.webhooks.errors import EndpointCannotSend
from delivery.actions import drivers
from delivery.alerts import actions as alerts
from delivery.geo.distance import Point
from delivery.lifecycle import RouteStatus
from delivery.models import (
    AuditAction,
    AuditEntry,
    DeclinedOffer,
    DriverDevice,
    DriverPosition,
    Environment,
    PickupPoint,
    PushSubscription,
    RefusedDeliveryCallCount,
    Simulation,
    Tariff,
    VehicleType,
)
from delivery.models.call import RECORDER
from delivery.simulation_steps import Outcome
from tests.counted.moments import DAY, HOUR, NOON, TICK
from tests.counted.rows import check, copy, counts, rolled_back
from tests.factories import BY, PICKUP, DriverFactory

NORTH = PICKUP.latitude + 0.1  # 11 km


@counts(
    "delivery/models/tariff.py:TariffQuerySet.for_vehicle",
    "delivery/models/tariff.py:Tariff.driver_amounts",
    "delivery/models/tariff.py:Tariff.pays_drivers",
)
def test_tariffs_that_apply(account, other, of_delivery):
    """The account's own active one for the vehicle, else the general one."""
    offered = of_delivery(RouteStatus.AVAILABLE, shipping_value=Decimal(100))
    Tariff.objects.update(active=False)
    general = Tariff.objects.get()
    own = partial(copy, general, active=True)

    def found():
        applying = Tariff.objects.for_vehicle(VehicleType.MOTORCYCLE, integrator=account)
        return {
            "applying": applying.count(),
            "fare": sum(each.base_fare for each in applying[:1]),
            "earned": Tariff.driver_amounts([offered])[offered.pk],
            "pays": int(Tariff.pays_drivers()),
        }

    per_km = {"driver_percent": None, "driver_fixed": None, "driver_per_km": 1}
    nothing = {"driver_percent": 0, "driver_fixed": 0, "driver_per_km": 0}

    mine = {"integrator": account, "base_fare": 7, "driver_percent": 40}
    check(
        found,
        of=own,
        fit={
            "the general one": ({"base_fare": 5}, {"applying": 1, "fare": 5}),
            "the general one, which pays": (
                {"base_fare": 5, "driver_percent": 30, "vehicle_type": VehicleType.CAR},
                {"pays": 1},
            ),
            "its own, which pays nothing": (mine | nothing, {"applying": 1, "fare": 2}),
            "another's by the km": (mine | per_km | {"integrator": other}, {"pays": 1}),
            "its own": (mine, {"applying": 1, "fare": 2, "earned": 40, "pays": 1}),
            "its own, which fixes an amount": (
                mine | {"driver_percent": None, "driver_fixed": 3, "driver_per_km": None},
                {"applying": 1, "fare": 2, "earned": 3, "pays": 1},
            ),
            "another's": (mine | {"integrator": other}, {"pays": 1}),
            "for another vehicle": (mine | {"vehicle_type": VehicleType.CAR}, {"pays": 1}),
        },
        not_={"not active": mine | {"active": False}},
    )
    Tariff.objects.update(active=False)
    check(
        found,
        of=own,
        fit={
            "the general one, which pays": (
                {"base_fare": 5, "driver_percent": 30},
                {"applying": 1, "fare": 5, "earned": 30, "pays": 1},
            ),
            "its own, which does not say what drivers earn": (
                mine | dict.fromkeys(nothing), {"applying": 1, "fare": 2},
            ),
            "its own, which pays nothing": (mine | nothing, {"applying": 1, "fare": 2, "earned": -30}),
            "another's": (mine | {"integrator": other}, {}),
        },
        not_={"for another vehicle": mine | {"vehicle_type": VehicleType.CAR}},
    )  # fmt: skip  # a table


@counts("delivery/models/integrator.py:active_nearby", "delivery/models/integrator.py:PickupPointQuerySet.nearest")
def test_pickup_points_near_a_place(account, other, rules):
    place = account.pickup_points.get()
    PickupPoint.objects.filter(pk=place.pk).update(active=False)
    point, near = Point(PICKUP.latitude + 0.001, PICKUP.longitude), {"radius_m": 150}  # 111 m

    def found():
        nearest = PickupPoint.objects.filter(active=True).nearest(point)
        return {"covered": int(PickupPoint.covers(point, integrator=account)), "near": int(nearest is not None)}

    check(
        found,
        of=partial(copy, place, active=True),
        fit={
            "of another account": (near | {"integrator": other}, {"near": 1}),
            "of the account": (near, {"covered": 1}),
        },
        not_={
            "with a smaller radius": {"radius_m": 100},
            "not used": near | {"active": False},
            "farther away": near | {"latitude": NORTH},
        },
    )


@pytest.fixture
def at_place():
    """Makes drivers at the pickup, with phones."""

    def make(*, latitude=PICKUP.latitude, longitude=PICKUP.longitude, at=NOON, phone=None, **values):
        driver = DriverFactory.create(**values)
        place = {"latitude": latitude, "longitude": longitude}
        if at:
            DriverPosition.objects.create(driver=driver, recorded_at=at, recorded_by=BY, **place)
        if phone is not None:
            row = {"driver": driver, "created_at": NOON, "created_by": BY, "expires_at": NOON + TICK, **phone}
            device = DriverDevice.objects.create(digest=driver.pk.bytes, **row)
            PushSubscription.objects.create(device=device, ciphertext="x", created_at=NOON)
        return driver

    return make


@counts(
    "delivery/actions/drivers.py:nearest_of_each",
    "delivery/actions/drivers.py:others",
    "delivery/actions/drivers.py:nearest_with_push",
    "delivery/models/driver.py:PushSubscriptionQuerySet.valid",
    "delivery/models/driver.py:PushSubscriptionQuerySet.of_drivers",
)
def test_drivers_to_choose_from(of_delivery, at_place, account, other, rules):
    """Those an offer is for, nearest first, those of them with a phone that takes pushes, and the others with why."""
    rules(dispatch_radius_km=5)
    offered = of_delivery(RouteStatus.AVAILABLE)
    of = partial(at_place, phone={})
    sandbox = of_delivery(RouteStatus.AVAILABLE, environment=Environment.SANDBOX)

    def declining(what):
        DeclinedOffer.objects.create(driver=of(), delivery=what, declined_at=NOON)

    def holding(route, **values):
        of_delivery(route, driver=of(**values))

    def with_further_phone():
        device = of().devices.get()
        further = copy(device, revoked_at=NOON)
        PushSubscription.objects.create(device=further, ciphertext="x", created_at=NOON)

    holding(RouteStatus.ACCEPTED)

    def found():
        ((_delivery, nearest),) = drivers.nearest_of_each([offered], at=NOON)
        pushed = drivers.nearest_with_push(offered, at=NOON, count=9)
        return {
            "nearest": len(nearest),
            "pushed": len(pushed),
            "phones": PushSubscription.objects.of_drivers([each.pk for each in pushed], at=NOON).count(),
            **Counter(type(why).__name__ for _driver, why in drivers.others(offered, at=NOON, count=9)),
            "free": len(drivers.nearest_of_each([sandbox], at=NOON)[0][1]),
        }

    every, elsewhere = {"nearest": 1, "pushed": 1, "phones": 1}, {"DriverNotEligible": 1}
    without_push = {"nearest": 1}
    simulated = {"environment": Environment.SANDBOX, "simulated_for": account}
    check(
        found,
        of=of,
        fit={
            "at the place": ({}, every),
            "far away long ago": ({"latitude": NORTH, "at": NOON - DAY}, every),
            "after a route": (partial(holding, RouteStatus.FINISHED), every),
            "who declined another": (partial(declining, of_delivery(RouteStatus.AVAILABLE)), every),
            "who declined it": (partial(declining, offered), {}),
            "logged out": ({"phone": {"revoked_at": NOON}}, without_push),
            "whose log-in has ended": ({"phone": {"expires_at": NOON}}, without_push),
            "without a phone": ({"phone": None}, without_push),
            "far away": ({"latitude": NORTH}, elsewhere),
            "off duty": ({"on_duty": False}, elsewhere),
            "with another vehicle": ({"vehicle_type": VehicleType.CAR}, elsewhere),
            "with a route": (partial(holding, RouteStatus.ACCEPTED), {"DriverHasOpenRoute": 1}),
            "far away after a route": (partial(holding, RouteStatus.FINISHED, latitude=NORTH), elsewhere),
            "with a further phone that is logged out": (with_further_phone, every),
            "simulated for the account": (simulated, {"free": 1}),
        },
        not_={"not working for us": {"active": False}, "simulated for another": simulated | {"simulated_for": other}},
    )


@counts("delivery/models/driver.py:_NEAREST_FREE")
def test_driver_whose_way_a_quote_counts(at_place, of_delivery, shop, other, in_sandbox, rules):
    """The nearest free one within the radius of dispatch, whatever the age of the position."""
    rules(dispatch_radius_km=5)
    account = shop.integrator

    def metres():
        quoted = Tariff.in_force(vehicle_type=VehicleType.MOTORCYCLE, token=shop, pickup=PICKUP, start=PICKUP)
        assert quoted is not None
        return quoted.driver_m

    def holding(route):
        of_delivery(route, driver=at_place())

    at_place(latitude=NORTH)
    at_place(latitude=PICKUP.latitude + 0.04, longitude=PICKUP.longitude + 0.044)  # each less than 5 km, together 6
    assert metres() is None
    check(
        lambda: int((metres() or 0) < 100),
        of=at_place,
        fit={
            "farther away": ({"latitude": PICKUP.latitude + 0.02}, {"number": -1}),
            "at the place": {},
            "long ago": {"at": NOON - DAY},
            "after a route": partial(holding, RouteStatus.FINISHED),
        },
        not_={
            "never seen": {"at": None},
            "off duty": {"on_duty": False},
            "not working for us": {"active": False},
            "with another vehicle": {"vehicle_type": VehicleType.CAR},
            "of the sandbox": in_sandbox,
            "simulated for another": in_sandbox | {"simulated_for": other},
            "with a route": partial(holding, RouteStatus.ACCEPTED),
        },
    )
    shop.environment = Environment.SANDBOX
    at_place(latitude=PICKUP.latitude + 0.02, **in_sandbox)
    simulated = partial(at_place, **in_sandbox)
    check(
        lambda: int(metres() < 100),
        of=simulated,
        fit={
            "farther away": ({"latitude": PICKUP.latitude + 0.02}, {}),
            "simulated for it": {"simulated_for": account},
        },
        not_={"simulated for another": {"simulated_for": other}, "of the live environment": at_place},
    )


@counts("delivery/actions/drivers.py:claim_simulated")
def test_simulated_drivers_that_are_free(of_delivery, at_place, account, other):
    """One is made where there is none."""
    sandbox = of_delivery(RouteStatus.AVAILABLE, environment=Environment.SANDBOX)
    of = partial(at_place, environment=Environment.SANDBOX, simulated_for=account, at=NOON - TICK)

    made = set()

    def known(**values):
        made.add(of(**values).pk)

    def found():
        return rolled_back(lambda: int(drivers.claim_simulated(sandbox, position_at=NOON).pk in made))

    check(
        found,
        of=known,
        fit={"seen at the moment": ({"at": NOON}, {}), "seen before": {}, "never seen": {"at": None}},
        not_={
            "of another account": {"simulated_for": other},
            "not simulated": {"simulated_for": None},
            "with another vehicle": {"vehicle_type": VehicleType.CAR},
        },
    )


@counts(
    "common/simulation/rows.py:SimulationQuerySet.owners_due",
    "common/simulation/rows.py:SimulationQuerySet.is_full",
    "common/simulation/rows.py:SimulationQuerySet.lock_due",
    "common/simulation/rows.py:SimulationQuerySet.next_due",
)
def test_simulations(of_delivery, account, other, in_sandbox, monkeypatch):
    """Those that are due, of each account; a limit of two is reached by a second one that moves by itself."""
    monkeypatch.setattr(simulations, "MOST", 2)
    owned = Simulation.objects

    def simulated(*, due_at=NOON, integrator=account):
        row = of_delivery(RouteStatus.AVAILABLE, integrator=integrator, **in_sandbox)
        Simulation.objects.create(delivery=row, outcome=Outcome.DELIVERED, speed=1, due_at=due_at)

    def found():
        return {
            "owners": len(owned.owners_due(at=NOON)),
            "full": int(owned.is_full(account.pk)),
            "due": int(owned.lock_due(account.pk, at=NOON) is not None),
            "next": int(owned.next_due() == NOON - HOUR),
            "after": int(owned.next_due(after=NOON) == NOON + TICK),
            "again": int(owned.next_due(after=NOON) == NOON),
        }

    check(
        found,
        of=simulated,
        fit={
            "later": ({"due_at": NOON + HOUR}, {}),
            "due": ({}, {"owners": 1, "full": 1, "due": 1}),
            "two": (lambda: [simulated(), simulated()], {"owners": 1, "full": 1, "due": 1}),
            "due first": ({"due_at": NOON - HOUR}, {"owners": 1, "full": 1, "due": 1, "next": 1}),
            "of another account": ({"integrator": other}, {"owners": 1}),
            "soon": ({"due_at": NOON + TICK}, {"full": 1, "after": 1}),
        },
        not_={"that moves no more": {"due_at": None}},
    )


@counts("common/api/refused_calls.py:Recorder.totals")
def test_refused_calls_that_are_not_stored(account, other, in_sandbox):
    """Of seven days: those that are too many in an hour, and those over a limit."""
    hour = NOON - timedelta(days=7)

    def refused(**values):
        row = {"integrator": account, "environment": Environment.LIVE, "hour": hour, "refused": 0, "over_limit": 5}
        RefusedDeliveryCallCount.objects.create(**row | values)

    def found():
        totals = RECORDER.totals(integrator=account, environment=Environment.LIVE, at=NOON)
        return {"left out": totals.left_out, "over": totals.over_limit}

    check(
        found,
        of=refused,
        fit={
            "seven days ago": ({}, {"over": 5}),
            "many": ({"hour": hour + HOUR, "refused": MOST_STORED + 3}, {"over": 5, "left out": 3}),
        },
        not_={
            "before": {"hour": hour - HOUR},
            "of another account": {"integrator": other},
            "of the sandbox": in_sandbox,
        },
    )


@counts("delivery/alerts/actions.py:send_test")
def test_tests_of_alerts_within_an_hour(account, other, in_sandbox, monkeypatch):
    """A limit of two is reached by a second one that counts."""
    monkeypatch.setattr(alerts, "TESTS_PER_HOUR", 2)
    endpoint = account.endpoints.get(environment=Environment.LIVE)
    same = {"environment": Environment.LIVE, "action": AuditAction.ALERT_TESTED, "by": BY, "at": NOON - HOUR + TICK}

    def tested(**values):
        AuditEntry.objects.create(**{"integrator": account, **same, **values})

    def is_full():
        with pytest.raises(EndpointCannotSend) as refused:  # there is nowhere to send it to
            alerts.send_test(endpoint=endpoint, email="", language="en", by=BY, at=NOON)
        return int("within an hour" in refused.value.message)

    check(
        is_full,
        of=tested,
        fit={"the first": ({}, {}), "a second": {}},
        not_={
            "an hour ago": {"at": NOON - HOUR},
            "of another account": {"integrator": other},
            "of the sandbox": in_sandbox,
            "another action": {"action": AuditAction.ALERTS_SET},
        },
    )
