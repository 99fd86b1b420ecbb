"""Which deliveries, stops, positions and drivers are anonymised, and which e-mails are those of a stop."""

from functools import partial

import pytest

from common.mail.models import Kind, Message
from delivery.actions import forgetting
from delivery.lifecycle import RouteStatus
from delivery.models import (
    Delivery,
    Driver,
    DriverPosition,
    DropoffOptions,
    LatestPosition,
    StopChange,
    Transition,
    WebhookQueueItem,
)
from delivery.receivers import actions as receivers
from tests.counted.moments import DAY, HOUR, NOON, TICK
from tests.counted.rows import check, copy, counts, rolled_back
from tests.factories import BY, PICKUP, DriverFactory

PHONE = "+55 11 97777-0001"
ENDED = (RouteStatus.FINISHED, RouteStatus.CANCELLED, RouteStatus.EXPIRED)
UNDER_WAY = (RouteStatus.AVAILABLE, RouteStatus.ACCEPTED, RouteStatus.COLLECTED, RouteStatus.RETURNING)


@pytest.fixture
def queued(of_delivery, pattern):
    """Makes deliveries of which a webhook waits."""

    def make(route=RouteStatus.FINISHED, **values):
        row = of_delivery(route, **values)
        event = copy(pattern.events.get(), delivery=row, feed_position=None)
        WebhookQueueItem.objects.create(event=event, delivery=row, endpoint=event.endpoint, due_at=NOON)

    return make


@counts("delivery/actions/forgetting.py:forget_ended")
def test_deliveries_that_are_forgotten_by_age(of_delivery, other, in_sandbox, settings):
    settings.FORGET_DELIVERY_DAYS = 90
    at = NOON + 90 * DAY
    check(
        lambda: rolled_back(lambda: forgetting.forget_ended(at=at)),
        of=partial(of_delivery, RouteStatus.FINISHED, closed_at=NOON - TICK),
        fit={
            "finished": {},
            "of another account": {"integrator": other},
            "of the sandbox": in_sandbox,
            "cancelled": partial(of_delivery, RouteStatus.CANCELLED, closed_at=NOON - TICK),
        },
        not_={
            "of 90 days": {"closed_at": NOON},
            "forgotten before": {"forgotten_at": NOON},
            "under way": partial(of_delivery, RouteStatus.ACCEPTED, created_at=NOON - DAY),
        },
    )


@counts("delivery/actions/forgetting.py:stops_of", "delivery/actions/forgetting.py:forget_stops_of")
@counts("delivery/actions/forgetting.py:pickups_of", "delivery/actions/forgetting.py:forget_pickups_of")
@counts("delivery/actions/forgetting.py:may_be_forgotten")
def test_contacts_of_a_number_that_are_forgotten(of_delivery, queued, other, in_sandbox):
    """In any way of writing it; of deliveries that have ended and, for four days, of which no webhook waits."""
    at = NOON + 4 * DAY
    of = partial(of_delivery, RouteStatus.FINISHED, created_at=NOON, closed_at=NOON + HOUR)

    def ours(make=of, *, stops=1, **values):
        return partial(make, stops=[{"contact_phone": PHONE}] * stops, contact_phone=PHONE, **values)

    for act, is_stop in ((forgetting.forget_stops_of, True), (forgetting.forget_pickups_of, False)):
        check(
            lambda act=act: rolled_back(lambda: act("11 97777 0001", until=NOON, at=at)),  # type: ignore[misc]  # called at once
            fit={
                "finished": ours(),
                "of two stops": (ours(stops=2), 1 + is_stop),
                "of another account": ours(integrator=other),
                "of the sandbox": ours(**in_sandbox),
                "with a webhook, after four days": ours(queued, created_at=NOON, closed_at=NOON - TICK),
                **{f"of a route {route}": ours(partial(of_delivery, route, created_at=NOON)) for route in ENDED[1:]},
            },
            not_={
                "requested later": ours(created_at=NOON + TICK),
                "with a webhook": ours(queued, created_at=NOON, closed_at=NOON),
                "of another number": of,
                **{f"of a route {route}": ours(partial(of_delivery, route, created_at=NOON)) for route in UNDER_WAY},
                ("with the number at A" if is_stop else "with the number at a stop"): partial(
                    of, **({"contact_phone": PHONE} if is_stop else {"stops": [{"contact_phone": PHONE}]})
                ),
            },
        )


@counts("delivery/actions/forgetting.py:forget_positions")
def test_positions_that_are_forgotten(db, settings):
    settings.FORGET_POSITION_DAYS = 30
    place = {"latitude": PICKUP.latitude, "longitude": PICKUP.longitude, "recorded_by": BY}

    def positions(*moments):
        driver = DriverFactory.create()
        for moment in moments:
            DriverPosition.objects.create(driver=driver, recorded_at=moment, **place)

    def left():
        forgetting.forget_positions(at=NOON + 30 * DAY)
        return {"positions": DriverPosition.objects.count(), "latest": LatestPosition.objects.count()}

    check(
        lambda: rolled_back(left),
        fit={
            "of 30 days": (partial(positions, NOON), {"positions": 1, "latest": 1}),
            "old and new": (partial(positions, NOON - TICK, NOON), {"positions": 1, "latest": 1}),
        },
        not_={"old": partial(positions, NOON - TICK)},
    )


@counts("delivery/actions/forgetting.py:drivers_of", "delivery/actions/forgetting.py:forget_batch_of")
@counts("delivery/actions/forgetting.py:_may_go", "delivery/actions/forgetting.py:_held_by")
def test_drivers_that_are_forgotten(of_delivery, queued):
    """Who works for us no more, and whose routes have all ended, those that were given to another included."""

    def driver(*routes, **values):
        row = DriverFactory.create(**{"phone": PHONE, "active": False, "on_duty": False, **values})
        for make in routes:
            make(row)

    def held(route, driver):
        # The driver of an open route is active, so the row is written as one who has left after it.
        of_delivery(route, driver=driver, created_at=NOON)

    def handed_over(route, former):
        row = of_delivery(route, created_at=NOON)
        copied = Transition(delivery=row, trigger="reassign", status=row.status, route_status=route, by=BY, at=NOON)
        copied.former_driver = former
        copied.save()

    def forgotten():
        number, after, count = 0, None, 0
        while count < 9:  # each driver's deliveries, then the driver
            done, after = forgetting.forget_batch_of("11 97777 0001", after=after, at=NOON + DAY)
            if not done and after is None:
                break
            number, count = number + done, count + 1
        return number

    finished = partial(held, RouteStatus.FINISHED)
    check(
        lambda: rolled_back(forgotten),
        fit={
            "without a route": driver,
            "after a route": partial(driver, finished),
            "after one that another ended": partial(driver, partial(handed_over, RouteStatus.FINISHED)),
        },
        not_={
            "who works for us": partial(driver, active=True),
            "with another number": partial(driver, phone="+55 11 97777-0002"),
            "without a number": partial(driver, phone=""),
            "whose route goes on with another": partial(driver, partial(handed_over, RouteStatus.COLLECTED)),
            "of whose route a webhook waits": partial(
                driver, lambda row: queued(driver=row, created_at=NOON, closed_at=NOON)
            ),
        },
    )
    assert Driver.objects.filter(phone=PHONE).exists()
    assert Delivery.objects.count() == 1  # the pattern of those that are rolled back


@counts("delivery/receivers/actions.py:messages")
def test_mails_with_the_link_of_a_stop(of_delivery, pattern):
    """To its present address, at the moment of the acceptance, the collection or a change of its contact."""
    row, another = of_delivery(RouteStatus.COLLECTED, stops=[{}, {}]), of_delivery(RouteStatus.COLLECTED)
    (stop, second), (foreign,) = row.stops.order_by("index"), another.stops.all()
    moments = {"accept": NOON, "collect": NOON + HOUR, "deliver": NOON + 2 * HOUR}
    for number, each in enumerate((row, another)):
        for trigger, at in moments.items():
            values = {"status": each.status, "route_status": each.route_status, "by": BY}
            Transition.objects.create(delivery=each, trigger=trigger, at=at + number * DAY, **values)
    for each, address in ((stop, "Maria@example.com"), (second, "joao@example.com"), (foreign, "maria@example.com")):
        DropoffOptions.objects.create(stop=each, contact_email=address)

    def change(at, **values):
        StopChange.objects.create(
            **{"stop": stop, "contacts": True, "instructions": False, "by": BY, "at": at, **values}
        )

    for hours, values in ((3, {}), (4, {"contacts": False, "instructions": True}), (5, {"stop": second})):
        change(NOON + hours * HOUR, **values)

    def mail(*, to="maria@example.com", at=NOON, kind=Kind.RECEIVER):
        Message.objects.create(kind=kind, recipient=to, created_at=at, expires_at=at, due_at=at)

    check(
        lambda: receivers.messages([stop]),
        of=mail,
        fit={
            "of the acceptance": {},
            "of the collection": {"at": NOON + HOUR},
            "of a change of the contact": {"at": NOON + 3 * HOUR},
        },
        not_={
            "of the delivery": {"at": NOON + 2 * HOUR},
            "of a change of the instructions": {"at": NOON + 4 * HOUR},
            "of a change of another stop": {"at": NOON + 5 * HOUR},
            "to the other receiver": {"to": "joao@example.com"},
            "of another delivery": {"at": NOON + DAY},
            "of another kind": {"kind": Kind.ORDER},
        },
    )
