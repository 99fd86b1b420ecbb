"""What pages of people count and list: the overview, the start page, the board and the lists of drivers."""

from collections import Counter
from functools import partial
from itertools import count

import pytest

from common import clock
from common.webhooks.models import EventState
from delivery.connections.models import Connection
from delivery.lifecycle import RouteStatus, Status
from delivery.models import (
    Delivery,
    DriverPosition,
    Environment,
    GoodsInHand,
    Integrator,
    OffBecause,
    PickupPoint,
    RefusedDeliveryCallCount,
    Token,
    WebhookEndpoint,
    WebhookQueueItem,
)
from panel import attention, open_alerts
from panel.dispatch import board, on_duty
from panel.views import home
from tests.counted.moments import DAY, HOUR, MINUTE, NOON, TICK
from tests.counted.rows import check, copy, counts, delivery
from tests.delivery.connections.shops import shop as connected
from tests.factories import BY, PICKUP, DeliveryFactory, DriverFactory, IntegratorFactory, TokenFactory

MIDNIGHT = NOON - 12 * HOUR
FAILED = {"status": Status.FAILED, "has_failed_stop": True}
IN_PROGRESS = (RouteStatus.AVAILABLE, RouteStatus.ACCEPTED, RouteStatus.COLLECTED, RouteStatus.RETURNING)
ENDED = (RouteStatus.FINISHED, RouteStatus.CANCELLED, RouteStatus.EXPIRED)


@pytest.fixture(autouse=True)
def _noon(monkeypatch):
    monkeypatch.setattr(clock, "now", lambda: NOON)


@pytest.fixture
def later(of_delivery):
    """Makes a scheduled one that the board shows."""
    return partial(
        of_delivery, RouteStatus.SCHEDULED, scheduled_for=NOON + 2 * DAY, offer_at=NOON + DAY,
    )  # fmt: skip  # a table


@counts("panel/attention.py:_of_deliveries")
def test_late_and_waiting_deliveries_of_an_account(account, of_delivery, other, in_sandbox, rules):
    rules(late_without_driver_minutes=20, late_pickup_minutes=30)
    offered = partial(
        of_delivery, RouteStatus.AVAILABLE, created_at=NOON - HOUR, offer_at=NOON - 10 * MINUTE,
        offer_expires_at=NOON + TICK,
    )  # fmt: skip  # a table
    late = partial(of_delivery, RouteStatus.ACCEPTED, created_at=NOON - 30 * MINUTE - TICK)

    def found():
        notices = attention._of_deliveries(account, Environment.LIVE, at=NOON)
        return {notice.query: int(notice.text.split()[0]) for notice in notices}

    check(
        found,
        fit={
            "waiting": (offered, {"?status=PENDING": 1}),
            "late": (late, {"?status=late": 1}),
        },
        not_={
            "waiting for less than ten minutes": partial(offered, offer_at=NOON - 10 * MINUTE + TICK),
            "expired": partial(offered, offer_expires_at=NOON),
            "accepted": partial(
                of_delivery, RouteStatus.ACCEPTED, created_at=NOON - 20 * MINUTE, offer_expires_at=NOON + HOUR
            ),
            "waiting of another account": partial(offered, integrator=other),
            "waiting in the sandbox": partial(offered, **in_sandbox),
            "in time": partial(late, created_at=NOON - 30 * MINUTE),
            "late of another account": partial(late, integrator=other),
            "late in the sandbox": partial(late, **in_sandbox),
            "finished": partial(of_delivery, RouteStatus.FINISHED, created_at=NOON - DAY),
        },
    )


@counts("panel/attention.py:_of_calls")
def test_refused_calls_of_an_account(account, other, in_sandbox):
    def refused(**values):
        row = {"integrator": account, "environment": Environment.LIVE, "hour": NOON - DAY, "refused": 3}
        RefusedDeliveryCallCount.objects.create(over_limit=5, **row | values)

    def found():
        return sum(int(notice.text.split()[0]) for notice in attention._of_calls(account, Environment.LIVE, at=NOON))

    check(
        found,
        of=refused,
        fit={"a day ago": ({}, 3)},
        not_={
            "before": {"hour": NOON - DAY - HOUR},
            "of another account": {"integrator": other},
            "of the sandbox": in_sandbox,
        },
    )


@counts("panel/attention.py:_of_set_up", "panel/attention.py:first_steps")
def test_tokens_and_pickup_points_that_are_there(account, shop, other, in_sandbox):
    """Missing are they where none fits, so what is counted are the notices that go."""
    token, place = Token.objects.get(pk=shop.pk), account.pickup_points.get()
    Token.objects.filter(pk=shop.pk).update(revoked_at=NOON)
    PickupPoint.objects.filter(pk=place.pk).update(active=False)
    endpoint = account.endpoints.get(environment=Environment.LIVE)
    valid, near = partial(copy, token), partial(copy, place)
    requested = partial(delivery, DeliveryFactory.create(token=TokenFactory.create(), stops=1), RouteStatus.EXPIRED)

    def found():
        notices = attention._of_set_up(account, Environment.LIVE, endpoint, at=NOON)
        pages = Counter(notice.page for notice in notices if "day" not in notice.text)
        steps = attention.first_steps(account, Environment.LIVE, endpoint, at=NOON)
        return {
            "no token": 1 - pages["tokens"],
            "ending": sum("day" in notice.text for notice in notices),
            "no place": 1 - pages["pickup_points"],
            "first step": sum(step.is_done for step in steps),
            "steps": len(steps),
        }

    has_token = {"no token": 1, "first step": 1}
    # The row that stays fits neither, so that each of the others is the only one.
    check(
        found,
        fit={
            "revoked": (partial(valid, revoked_at=NOON), {}),
            "a token": (valid, has_token),
            "a token for more than a day": (partial(valid, expires_at=NOON + DAY + TICK), has_token),
            "a token for a day": (partial(valid, expires_at=NOON + DAY), has_token | {"ending": 1}),
            "a place": (near, {"no place": 1}),
            "its first delivery": (partial(requested, integrator=account), {"steps": -4}),
        },
        not_={
            "a delivery in the sandbox": partial(requested, integrator=account, **in_sandbox),
            "one of another account": partial(requested, integrator=other),
            "an expired token": partial(valid, expires_at=NOON),
            "of another account": partial(valid, integrator=other),
            "of the sandbox": partial(valid, **in_sandbox),
            "a place that is not used": partial(near, active=False),
            "a place of another account": partial(near, integrator=other),
        },
    )


@counts("panel/attention.py:is_connected")
def test_whether_a_shop_is_connected(account, other, in_sandbox):
    def removed():
        connected(integrator=account)
        Connection.objects.update(removed_at=NOON)

    check(
        lambda: int(attention.is_connected(account, Environment.LIVE)),
        fit={
            # It stays, so that each of the others is the only one that may be connected.
            "a removed one": (removed, {}),
            "a shop": partial(connected, integrator=account),
        },
        not_={
            "of the sandbox": partial(connected, integrator=account, **in_sandbox),
            "of another account": partial(connected, integrator=other),
        },
    )


@counts("panel/views/home.py:_of_accounts")
def test_numbers_of_accounts(account, of_delivery, other, in_sandbox, rules):
    rules(late_pickup_minutes=30)
    finished = partial(of_delivery, RouteStatus.FINISHED, created_at=MIDNIGHT)
    accepted = partial(of_delivery, RouteStatus.ACCEPTED, created_at=MIDNIGHT - TICK)

    def found():
        return sum(map(Counter, home._of_accounts([account], at=NOON).values()), Counter())

    check(
        found,
        fit={
            "requested today": (finished, {"today": 1}),
            "failed": (partial(finished, **FAILED), {"today": 1, "failed": 1}),
            "cancelled": (partial(of_delivery, RouteStatus.CANCELLED, created_at=MIDNIGHT), {"today": 1}),
            "under way and late": (accepted, {"under_way": 1, "late": 1}),
            "under way, just in time": (
                partial(accepted, created_at=NOON - 30 * MINUTE), {"today": 1, "under_way": 1},
            ),
        },
        not_={
            "requested yesterday": partial(finished, created_at=MIDNIGHT - TICK),
            "failed yesterday": partial(finished, created_at=MIDNIGHT - TICK, **FAILED),
            **{
                f"{name} {whose}": partial(make, **values)
                for name, make in (("requested", finished), ("under way", accepted))
                for whose, values in (("of another account", {"integrator": other}), ("in the sandbox", in_sandbox))
            },
        },
    )  # fmt: skip  # a table


@counts("panel/views/home.py:_IS_LIVE", "panel/views/home.py:_webhook_states")
@counts("common/webhooks/models.py:EndpointQuerySet.failing")
def test_states_of_accounts(account, other, of_delivery, pattern, in_sandbox):
    """Of the live environment: whether it has deliveries, and a webhook that is off or fails."""
    url = {"url": "https://shop.example/hook"}
    fresh = IntegratorFactory.create()
    endpoint, event = fresh.endpoints.get(environment=Environment.LIVE), pattern.events.get()
    WebhookEndpoint.objects.filter(pk=endpoint.pk).update(**url)
    off = {"enabled": False, "off_because": OffBecause.STAFF, "off_since": NOON}

    def change(**values):
        return partial(WebhookEndpoint.objects.filter(pk=endpoint.pk).update, **values)

    def retried(*, at=endpoint, tries=1, **values):
        row = copy(event, delivery=None, feed_position=None, **{"endpoint": at, "attempts_made": 1, **values})
        WebhookQueueItem.objects.create(event=row, endpoint=at, due_at=NOON, tries=tries)

    def found():
        row = Integrator.objects.annotate(is_live=home._IS_LIVE, **home._webhook_states()).get(pk=fresh.pk)
        states = {name: int(getattr(row, name)) for name in ("is_live", "has_webhook", "webhooks_off", "webhooks_fail")}
        return states | {"failing": WebhookEndpoint.objects.failing().filter(integrator=fresh).count()}

    fails = {"webhooks_fail": 1, "failing": 1}
    theirs, sandbox = (
        account.endpoints.get(environment=Environment.LIVE),
        fresh.endpoints.get(environment=Environment.SANDBOX),
    )
    check(
        found,
        fit={
            "of the sandbox": (partial(WebhookEndpoint.objects.filter(pk=sandbox.pk).update, **url, **off), {}),
            "a delivery": (partial(of_delivery, RouteStatus.EXPIRED, integrator=fresh), {"is_live": 1}),
            "without a URL": (change(url=""), {"has_webhook": -1}),
            "failing without a URL": (change(url="", failures=1), {"has_webhook": -1}),
            "of the sandbox that is retried": (partial(retried, at=sandbox), {"failing": 1}),
            "switched off": (change(**off), {"webhooks_off": 1}),
            "whose last request failed": (change(failures=1), fails),
            "with an event that is retried": (retried, fails),
            "with one that is sent again, and failed": (partial(retried, sent_at=NOON), fails),
        },
        not_={
            "a delivery of the sandbox": partial(of_delivery, RouteStatus.EXPIRED, integrator=fresh, **in_sandbox),
            "of another account": partial(of_delivery, RouteStatus.EXPIRED, integrator=other),
            "with an event that is retried of another": partial(retried, at=theirs),
            "switched off by another": partial(WebhookEndpoint.objects.filter(pk=theirs.pk).update, **url, **off),
            "with an event that was not tried": partial(retried, attempts_made=0),
            "with one that is sent again": partial(retried, sent_at=NOON, tries=0),
            "with one that is not retried any more": partial(
                copy, event, endpoint=endpoint, attempts_made=17, state=EventState.DEAD, feed_position=None
            ),
        },
    )  # fmt: skip  # a table


@counts("panel/dispatch/board.py:_shown")
def test_routes_of_the_board(of_delivery, later, other, in_sandbox):
    check(
        lambda: board.routes(Environment.LIVE),
        fit={route.lower(): partial(of_delivery, route) for route in IN_PROGRESS}
        | {"of another account": partial(of_delivery, RouteStatus.ACCEPTED, integrator=other), "in two days": later},
        not_={
            "scheduled for later": partial(later, scheduled_for=NOON + 2 * DAY + TICK),
            "of the sandbox": partial(of_delivery, RouteStatus.AVAILABLE, **in_sandbox),
            "scheduled in the sandbox": partial(later, **in_sandbox),
            **{route.lower(): partial(of_delivery, route, scheduled_for=NOON - HOUR) for route in ENDED},
        },
    )
    chosen, _another = (of_delivery(RouteStatus.ACCEPTED) for _number in range(2))
    assert [each["id"] for each in board.routes(Environment.LIVE, ids=[chosen.pk])] == [str(chosen.pk)]


@counts("panel/dispatch/board.py:positions")
def test_positions_of_the_board(of_delivery, in_sandbox):
    def seen(route, **values):
        row = of_delivery(route, **values)
        place = {"latitude": PICKUP.latitude, "longitude": PICKUP.longitude}
        DriverPosition.objects.create(
            driver=row.driver or DriverFactory.create(), recorded_at=NOON, recorded_by=BY, **place
        )
        return row

    def again(route, **values):
        """Of a driver who has ended another."""
        ended = seen(RouteStatus.FINISHED)
        of_delivery(route, driver=ended.driver)

    held = {route.lower(): partial(seen, route) for route in IN_PROGRESS[1:]}
    check(
        lambda: list(board.positions(Environment.LIVE)),
        fit=held | {"of a driver who has ended another": partial(again, RouteStatus.ACCEPTED)},
        not_={
            "of the sandbox": partial(seen, RouteStatus.ACCEPTED, **in_sandbox),
            "without a position": partial(of_delivery, RouteStatus.ACCEPTED),
            "offered": partial(seen, RouteStatus.AVAILABLE),
            "finished": partial(seen, RouteStatus.FINISHED),
        },
    )
    held = seen(RouteStatus.ACCEPTED)
    ended = of_delivery(RouteStatus.FINISHED, driver=held.driver)
    assert set(board.positions(Environment.LIVE, ids=[held.pk, ended.pk])) == {str(held.pk)}


@counts("panel/dispatch/board.py:free_drivers")
def test_free_drivers_of_the_board(of_delivery):
    def seen(*, at=NOON - 12 * HOUR, route=None, **values):
        driver = DriverFactory.create(**values)
        place = {"latitude": PICKUP.latitude, "longitude": PICKUP.longitude}
        DriverPosition.objects.create(driver=driver, recorded_at=at, recorded_by=BY, **place)
        if route:
            of_delivery(route, driver=driver)

    check(
        lambda: board.free_drivers(Environment.LIVE),
        of=seen,
        fit={"heard of twelve hours ago": {}, "who has ended a route": {"route": RouteStatus.FINISHED}},
        not_={
            "heard of before": {"at": NOON - 12 * HOUR - TICK},
            "never heard of": DriverFactory.create,
            "off duty": {"on_duty": False},
            "not working for us": {"active": False},
            "of the sandbox": {"environment": Environment.SANDBOX},
            **{f"with a route that is {route.lower()}": {"route": route} for route in IN_PROGRESS[1:]},
        },
    )


@counts("panel/dispatch/board.py:goods_in_hand", "panel/open_alerts.py:_of_goods")
@counts("delivery/models/goods.py:GoodsInHandQuerySet.out", "delivery/models/goods.py:GoodsInHandQuerySet.of_driver")
def test_goods_in_hand(of_delivery, driver, in_sandbox):
    def goods(*, by=driver, back_at=None, **values):
        row = of_delivery(RouteStatus.CANCELLED, driver=driver, **values)
        GoodsInHand.objects.create(
            delivery=row, driver=by, collected_at=NOON, reported_at=NOON, back_at=back_at, back_by=BY if back_at else ""
        )

    def found():
        return {
            "board": board.goods_in_hand(Environment.LIVE).count("<form"),
            "alerts": sum(1 for _each in open_alerts._of_goods()),
            "driver": GoodsInHand.objects.of_driver(driver.pk).count(),
        }

    everywhere = {"board": 1, "alerts": 1, "driver": 1}
    check(
        found,
        of=goods,
        fit={
            "out": ({}, everywhere),
            "another driver's": ({"by": DriverFactory.create()}, everywhere | {"driver": 0}),
            "of the sandbox": (in_sandbox, {"driver": 1}),
        },
        not_={"back": {"back_at": NOON}},
    )


@counts("panel/dispatch/board.py:matching")
def test_search_on_the_board(of_delivery, later, other, in_sandbox):
    """Each word in a name, phone, address or order, without regard to case and accents; ids from six characters."""
    named = {"stops": [{"contact_name": "João Açaí", "external_id": "PED-77", "contact_phone": "+55 11 97777-1234"}]}
    of = partial(of_delivery, RouteStatus.AVAILABLE, **named)
    text = "joao ped-77"

    check(
        lambda: board.matching(Environment.LIVE, text),
        of=of,
        fit={
            "both": {},
            "of another account": {"integrator": other},
            "at two stops": {"stops": [{"contact_name": "JOÃO"}, {"external_id": "ped-77"}]},
            "in the pickup's address": {"address": {"street": "Rua João, ped-77"}, "stops": [{}]},
            "a driver's name": partial(
                of_delivery, RouteStatus.ACCEPTED, driver=DriverFactory.create(name="João ped-77")
            ),
            "scheduled": partial(later, **named),
        },
        not_={
            "one word": {"stops": [{"contact_name": "João"}]},
            "the other word": {"stops": [{"external_id": "PED-77"}]},
            "finished": partial(of_delivery, RouteStatus.FINISHED, **named),
            "of the sandbox": in_sandbox,
        },
    )
    (found,) = Delivery.objects.filter(stops__contact_name="João Açaí")
    for part, is_found in (("71234", True), ("1197777", True), (str(found.pk)[-6:], True), (str(found.pk)[-5:], False)):
        assert board.matching(Environment.LIVE, part) == [str(found.pk)] * is_found, part


@counts("panel/dispatch/board.py:ended")
def test_search_for_deliveries_that_ended(of_delivery, in_sandbox, other):
    named = {"stops": [{"external_id": "PED-77"}]}
    of = partial(of_delivery, RouteStatus.FINISHED, **named)
    check(
        lambda: board.ended(Environment.LIVE, "PED-77"),
        of=of,
        fit={
            "finished": {},
            "of another account": {"integrator": other},
            "at two stops": {"stops": named["stops"] * 2},
        },
        not_={
            "of another order": {"stops": [{"external_id": "PED-777"}]},
            "of none": {"stops": [{"external_id": ""}]},
            "of the sandbox": in_sandbox,
            "under way": partial(of_delivery, RouteStatus.RETURNING, **named),
        },
    )
    row, sandboxed, under_way = of(), of(**in_sandbox), of_delivery(RouteStatus.ACCEPTED)
    for each, is_found in ((row, True), (sandboxed, False), (under_way, False)):
        for part in (str(each.pk), f"…{str(each.pk)[-6:]}"):
            assert list(board.ended(Environment.LIVE, part)) == [each] * is_found, part


@counts("panel/dispatch/on_duty.py:with_work", "panel/dispatch/on_duty.py:on_duty")
@counts("delivery/models/driver.py:DriverQuerySet.matching")
def test_drivers_on_duty(of_delivery):
    """Who is on duty or has a route, with the routes that ended since midnight."""
    ids = count()

    def driver(*routes, **values):
        row = DriverFactory.create(**{"name": f"Ana Lima {next(ids)}", **values})
        for route, closed_at in routes:
            of_delivery(route, driver=row, **({"closed_at": closed_at} if closed_at else {}))

    def found():
        drivers = on_duty.on_duty(Environment.LIVE, search="ana", at=NOON)
        return {
            "drivers": len(drivers), "routes": sum(each.route is not None for each in drivers),
            "today": sum(each.driver.__dict__["today"] for each in drivers),
        }  # fmt: skip  # a table

    finished, cancelled = RouteStatus.FINISHED, RouteStatus.CANCELLED
    check(
        found,
        fit={
            "on duty": (driver, {"drivers": 1}),
            "found by phone": (partial(driver, name="Bia", phone="+55 ANA"), {"drivers": 1}),
            "off duty with a route": (
                partial(driver, (RouteStatus.ACCEPTED, None), on_duty=False), {"drivers": 1, "routes": 1},
            ),
            "on duty with a route": (partial(driver, (RouteStatus.RETURNING, None)), {"drivers": 1, "routes": 1}),
            "with routes of today": (
                partial(driver, (finished, MIDNIGHT), (cancelled, NOON)), {"drivers": 1, "today": 2},
            ),
            "with a route of yesterday": (partial(driver, (finished, MIDNIGHT - TICK)), {"drivers": 1}),
        },
        not_={
            "off duty": partial(driver, on_duty=False),
            "off duty, having ended a route": partial(driver, (finished, NOON), on_duty=False),
            "not working for us": partial(driver, active=False),
            "of the sandbox": partial(driver, environment=Environment.SANDBOX),
            "of another name": partial(driver, name="Bia"),
        },
    )  # fmt: skip  # a table


@counts("panel/dispatch/on_duty.py:on_time")
def test_routes_of_a_driver_in_30_days(of_delivery, driver, rules):
    rules(late_pickup_minutes=30, late_minutes_per_km=0)
    of = partial(of_delivery, RouteStatus.FINISHED, driver=driver, closed_at=NOON - 30 * DAY)
    of = partial(of, created_at=NOON - 30 * DAY - 30 * MINUTE)
    check(
        lambda: on_duty.on_time(driver, at=NOON),
        of=of,
        fit={
            "on time": ({}, {"finished": 1, "on_time": 1}),
            "failed": (FAILED, {"finished": 1, "on_time": 1}),
            "late": ({"created_at": NOON - 31 * DAY}, {"finished": 1}),
        },
        not_={
            "before": {"closed_at": NOON - 30 * DAY - TICK},
            "of another driver": {"driver": DriverFactory.create()},
            "cancelled after pickup": FAILED | {"cancelled_at": NOON, "cancel_fee": 0},
            "cancelled": partial(of_delivery, RouteStatus.CANCELLED, driver=driver, closed_at=NOON),
            "under way": partial(of_delivery, RouteStatus.ACCEPTED, driver=driver),
        },
    )
