"""Webhook events: one for every transition, with the content that the specification defines."""

import itertools
import json
from datetime import timedelta

import pytest
from django.utils import timezone

from delivery import lifecycle
from delivery.actions import deliveries, moves
from delivery.errors import StopNotOpen
from delivery.lifecycle import State, Trigger
from delivery.models import EventState, WebhookEvent
from delivery.models.stop import LABELS
from delivery.webhooks import outbox
from tests.factories import BY, PICKUP, DeliveryFactory, DriverFactory

NEW = lifecycle.new(orders=2)
ROWS = [row for row in lifecycle.TABLE if row[0] is not Trigger.EXPIRE]


def way_to(row):
    """The moves of a new delivery that lead to this row of the lifecycle's table and make it, and the state after."""
    ahead: list[tuple[list[str], State]] = [([], NEW)]
    for steps, state in ahead:
        for trigger, index in itertools.product(lifecycle.allowed(state.route), (0, 1)):
            try:
                after = lifecycle.move(state, trigger, index=index)
            except StopNotOpen:
                continue
            way = [*steps, f"{trigger} {LABELS[index]}"]
            if (trigger, state.route) == row:
                return way, after
            if trigger is not Trigger.CANCEL:  # a second cancellation changes nothing
                ahead.append((way, after))
    raise AssertionError("no moves lead to this row")


def delivery_after(steps):
    DriverFactory.create_batch(2, at_point=PICKUP)
    delivery = DeliveryFactory.create(stops=2)
    for step in steps:
        name, _, point = step.partition(" ")
        moves.perform(name, delivery=delivery, fields={"point": point, "reason": "why"}, by=BY, at=timezone.now())
    return delivery


def statuses_in(event):
    body = json.loads(event.body)
    return body["status"], body["route"]["status"], [order["status"] for order in body["orders"]]


@pytest.mark.django_db
class TestEvents:
    @pytest.mark.parametrize("row", ROWS, ids=str)
    def test_contain_every_status_after_the_change(self, row):
        steps, after = way_to(row)

        delivery = delivery_after(steps)

        events = list(WebhookEvent.objects.filter(delivery=delivery).order_by("sequence"))
        assert [event.sequence for event in events] == list(range(1, len(steps) + 2))
        assert statuses_in(events[0]) == (NEW.delivery, NEW.route, list(NEW.orders))
        assert (statuses_in(events[-1]), events[-1].name) == (
            (after.delivery, after.route, list(after.orders)),
            after.delivery,
        )

    def test_are_recorded_when_an_offer_expires(self):
        delivery = DeliveryFactory.create(stops=1, at=timezone.now() - timedelta(hours=2))

        deliveries.expire_overdue(at=timezone.now())

        assert statuses_in(WebhookEvent.objects.get(delivery=delivery, sequence=2)) == ("FAILED", "EXPIRED", ["FAILED"])

    def test_have_exactly_the_specifications_keys(self):
        delivery = delivery_after(["accept"])

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
        monkeypatch.setattr(outbox, "announce_on_commit", lambda *_arguments, **_options: 1 / 0)

        with pytest.raises(ZeroDivisionError):
            deliveries.collect(delivery=delivery, by=BY, at=timezone.now())

        delivery.refresh_from_db()
        assert (delivery.status, delivery.events.count(), delivery.transitions.count()) == ("ACCEPT", 2, 2)


@pytest.mark.django_db(transaction=True)
def test_an_event_is_refused_outside_a_transaction():
    delivery = DeliveryFactory.create()

    with pytest.raises(RuntimeError, match="inside the transaction"):
        outbox.record(delivery=delivery, at=timezone.now())
