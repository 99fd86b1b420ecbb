"""Webhook events: one for every transition, with the content that the specification defines."""

import itertools
import json
from datetime import timedelta

import pytest
from django.utils import timezone

from delivery import lifecycle
from delivery.actions import deliveries, moves, stops, transitions
from delivery.errors import NothingToDecide, StopNotOpen
from delivery.lifecycle import Mode, OnFailure, RouteStatus, State, Trigger
from delivery.models import DropoffOptions, EventState, Stop, WebhookEvent
from delivery.models.stop import LABELS
from delivery.webhooks import outbox
from delivery.windows import Window
from tests.cases import in_turn
from tests.delivery.scheduled import scheduled
from tests.factories import BY, PICKUP, DeliveryFactory, DriverFactory

# After a cancellation.
LATE = (Trigger.GOODS_OUT, Trigger.CHARGE)
ROWS = [
    (mode, *row)
    for mode in (Mode.DEFAULT, Mode.REVERSE)
    for row in lifecycle.TABLE[mode]
    if row[0] not in (Trigger.EXPIRE, Trigger.OFFER, *LATE)  # the offer of a scheduled route is no event
]


def way_to(mode, row):
    """The moves of a new delivery that lead to this row of the lifecycle's table and make it, and the state after."""
    is_scheduled = row[1] is RouteStatus.SCHEDULED
    ahead: list[tuple[list[str], State]] = [([], lifecycle.new(orders=2, mode=mode, is_scheduled=is_scheduled))]
    for steps, state in ahead:
        for trigger, index in itertools.product(lifecycle.allowed(state.route, mode), (0, 1)):
            if trigger in LATE:
                continue
            try:
                after = lifecycle.move(state, trigger, index=index)
            except (StopNotOpen, NothingToDecide):
                continue
            way = [*steps, f"{trigger} {LABELS[index]}"]
            if (trigger, state.route) == row:
                return way, after
            if trigger is not Trigger.CANCEL:  # a second cancellation changes nothing
                ahead.append((way, after))
    raise AssertionError("no moves lead to this row")


def delivery_after(mode, steps, *, is_scheduled=False):
    DriverFactory.create_batch(2, at_point=PICKUP)
    delivery = (
        scheduled(timedelta(hours=1), at=timezone.now(), mode=mode, dropoffs=[Window(), Window()])
        if is_scheduled
        else DeliveryFactory.create(stops=2, mode=mode)
    )
    for step in steps:
        name, _, point = step.partition(" ")
        if name == Trigger.RECALL:
            values = {"point": point, "answer": OnFailure.RETURN, "instructions": None}
            stops.instruct(delivery=delivery, **values, by=BY, at=timezone.now())
            continue
        if name == Trigger.ATTEMPT:
            stop = Stop.objects.get(delivery=delivery, index=LABELS.index(point))
            DropoffOptions.objects.update_or_create(stop=stop, defaults={"on_failure": OnFailure.RETRY})
            name = "fail"
        at_a = mode is Mode.DEFAULT and name == "collect"
        fields = {"point": "" if at_a else point, "reason": "why"}
        moves.perform(name, delivery=delivery, fields=fields, by=BY, at=timezone.now())
    return delivery


def statuses_in(event):
    body = json.loads(event.body)
    return body["status"], body["route"]["status"], [order["status"] for order in body["orders"]]


@pytest.mark.django_db
class TestEvents:
    @in_turn(("mode", "trigger", "route"), ROWS)
    def test_contain_every_status_after_the_change(self, mode, trigger, route):
        steps, after = way_to(mode, (trigger, route))

        delivery = delivery_after(mode, steps, is_scheduled=route is RouteStatus.SCHEDULED)

        events = list(WebhookEvent.objects.filter(delivery=delivery).order_by("sequence"))
        assert [event.sequence for event in events] == list(range(1, len(steps) + 2))
        assert statuses_in(events[0]) == ("PENDING", "AVAILABLE", ["PENDING", "PENDING"])
        assert (statuses_in(events[-1]), events[-1].name) == (
            (after.delivery, after.route, list(after.orders)),
            after.delivery,
        )

    @pytest.mark.parametrize(("mode", "points"), [(Mode.DEFAULT, [""]), (Mode.REVERSE, ["B", "C"])])
    def test_of_a_late_collection_and_of_its_fee_leave_the_delivery_failed(self, mode, points):
        delivery = delivery_after(mode, ["accept B", "cancel B"])

        for point in points:
            deliveries.open_again(delivery=delivery, point=point, by=BY, at=timezone.now(), made_at=timezone.now())
        deliveries.charge(delivery=delivery, by=BY, at=timezone.now())

        events = list(WebhookEvent.objects.filter(delivery=delivery).order_by("sequence"))
        assert [event.sequence for event in events] == list(range(1, len(points) + 5))
        late = events[3:]
        assert {(*statuses_in(event)[:2], *statuses_in(event)[2]) for event in late} == {
            ("FAILED", "RETURNING", "FAILED", "FAILED")
        }

    @in_turn(
        ("steps", "told"),
        [
            (["fail B"], ["b=OTHER"]),
            (["attempt B", "fail C", "fail B"], ["b=OTHER", "c=OTHER", "b=OTHER"]),
            (["attempt C", "recall C"], ["c=OTHER", "c=OTHER"]),
            (["attempt C", "deliver C"], ["c=OTHER", ""]),
            (["deliver B"], [""]),
        ],
    )
    def test_name_the_stop_and_the_code_of_a_failure(self, steps, told):
        delivery = delivery_after(Mode.DEFAULT, ["accept B", "collect B", *steps])

        assert [event.failure for event in delivery.events.order_by("sequence")] == ["", "", "", *told]

    def test_of_a_first_failure_have_the_statuses_of_before(self):
        delivery = delivery_after(Mode.DEFAULT, ["accept B", "collect B", "attempt B"])

        *_earlier, before, after = delivery.events.order_by("sequence")
        assert statuses_in(before) == statuses_in(after) == ("COLLECTED", "COLLECTED", ["COLLECTED", "COLLECTED"])

    def test_are_recorded_when_an_offer_expires(self):
        delivery = DeliveryFactory.create(stops=1, at=timezone.now() - timedelta(hours=2))

        deliveries.expire_overdue(at=timezone.now())

        assert statuses_in(WebhookEvent.objects.get(delivery=delivery, sequence=2)) == ("FAILED", "EXPIRED", ["FAILED"])

    def test_have_exactly_the_specifications_keys(self):
        delivery = delivery_after(Mode.DEFAULT, ["accept"])

        body = json.loads(WebhookEvent.objects.get(delivery=delivery, name="ACCEPT").body)

        assert list(body) == ["deliveryId", "status", "route", "driver", "orders"]
        assert list(body["route"]) == [
            "routeId", "status", "pointsCount", "fixedValue", "totalDistanceKm", "vehicleType", "acceptMode",
            "immutable", "points",
        ]  # fmt: skip
        assert list(body["driver"]) == ["name", "phone", "coordinates"]
        assert body["driver"]["coordinates"] == {"latitude": PICKUP.latitude, "longitude": PICKUP.longitude}
        assert [list(order) for order in body["orders"]] == [
            ["status", "externalId", "point", "coordinates", "address"]
        ] * 2
        assert [order["point"] for order in body["orders"]] == ["B", "C"]

    def test_are_recorded_and_not_queued_without_a_url(self):
        delivery = DeliveryFactory.create()

        assert WebhookEvent.objects.get(delivery=delivery).state == EventState.UNADDRESSED

    def test_are_rolled_back_with_their_change(self, token, monkeypatch):
        delivery = DeliveryFactory.create(token=token, accepted=True)
        monkeypatch.setattr(transitions, "follow_up_on_commit", lambda *_arguments, **_options: 1 / 0)

        with pytest.raises(ZeroDivisionError):
            deliveries.collect(delivery=delivery, by=BY, at=timezone.now())

        delivery.refresh_from_db()
        assert (delivery.status, delivery.events.count(), delivery.transitions.count()) == ("ACCEPT", 2, 2)


@pytest.mark.django_db(transaction=True)
def test_an_event_is_refused_outside_a_transaction():
    delivery = DeliveryFactory.create()

    with pytest.raises(RuntimeError, match="inside the transaction"):
        outbox.record(delivery=delivery, at=timezone.now())
