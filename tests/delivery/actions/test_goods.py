"""Collections of a route that was cancelled, or given to another driver, before they were sent."""

from datetime import timedelta
from decimal import Decimal
from uuid import uuid4

import pytest
from django.utils import timezone

from common.postgresql.invariants import find_broken
from delivery import invariants
from delivery.actions import deliveries, goods, moves
from delivery.drivers import moves as driver_moves
from delivery.drivers.moves import SentMove
from delivery.drivers.state import state
from delivery.errors import MoveRefused
from delivery.lifecycle import Mode, Trigger
from delivery.models import Delivery, DriverDevice, GoodsInHand, Transition, WebhookEvent
from delivery.models.delivery import OWED
from delivery.pricing import Charge
from tests.factories import BY, DeliveryFactory, DriverFactory, TariffFactory
from tests.money import percent_of

NOW = timezone.now()
MINUTE = timedelta(minutes=1)
REQUESTED, COLLECTED, LOST = NOW - 30 * MINUTE, NOW - 10 * MINUTE, NOW - 5 * MINUTE

pytestmark = pytest.mark.django_db


@pytest.fixture
def driver():
    return DriverFactory.create()


@pytest.fixture
def accepted(driver):
    return DeliveryFactory.create(accepted=True, driver=driver, at=REQUESTED, stops=2)


def cancel(delivery, *, at=LOST):
    return deliveries.cancel(delivery=delivery, reason="", by=BY, at=at)


def collected(delivery, driver, *, made_at=COLLECTED, point="", number=None, at=NOW):
    sent = SentMove(number or uuid4(), delivery.pk, Trigger.COLLECT, made_at, point)
    return driver_moves.perform(driver=driver, sent=sent, at=at)


def statuses(delivery):
    found = Delivery.objects.get(pk=delivery.pk)
    return found.status, found.route_status, [stop.status for stop in found.ordered_stops]


def writes():
    return Transition.objects.count(), WebhookEvent.objects.count(), GoodsInHand.objects.count()


def owed(charge):
    """What the account owes of this kind for the only delivery."""
    return Delivery.objects.values_list(OWED[charge], flat=True).get()


def broken():
    return [finding.name for finding in find_broken(invariants.ALL)]


def on_phone(driver):
    device = DriverDevice.objects.create(
        driver=driver, digest=uuid4().bytes, created_at=NOW, created_by=BY, expires_at=NOW + timedelta(days=1)
    )
    return state(device, at=NOW)


class TestCollectionBeforeTheCancellation:
    def test_brings_the_driver_back_and_is_one_event(self, accepted, driver):
        cancel(accepted)
        before = writes()

        move = collected(accepted, driver)

        assert (move.refusal, move.made_at) == ("", COLLECTED)
        assert statuses(accepted) == ("FAILED", "RETURNING", ["FAILED", "FAILED"])
        assert [now - then for now, then in zip(writes(), before, strict=True)] == [1, 1, 0]
        latest = Transition.objects.latest("id")
        assert (latest.trigger, latest.made_at, latest.at) == ("goods_out", COLLECTED, NOW)
        assert on_phone(driver)["route"]["cancelled"]
        assert broken() == []

    def test_was_made_after_the_acceptance_whatever_the_phone_says(self, driver):
        delivery = DeliveryFactory.create(at=REQUESTED, stops=1)
        deliveries.accept(delivery=delivery, driver=driver, by=BY, at=REQUESTED + MINUTE)
        cancel(delivery)

        assert collected(delivery, driver, made_at=REQUESTED).made_at == REQUESTED + MINUTE

    def test_is_returned_and_stays_failed(self, accepted, driver):
        cancel(accepted)
        collected(accepted, driver)

        deliveries.return_(delivery=accepted, by=BY, at=NOW)

        assert statuses(accepted) == ("FAILED", "FINISHED", ["FAILED", "FAILED"])
        assert broken() == []

    def test_is_reported_twice_and_made_once(self, accepted, driver):
        cancel(accepted)
        number = uuid4()

        first, again = (collected(accepted, driver, number=number) for _ in range(2))
        other = collected(accepted, driver)

        assert (first.refusal, again.pk) == ("", first.pk)
        assert other.refusal == "move_refused"
        assert Transition.objects.filter(trigger="goods_out").count() == 1
        assert not GoodsInHand.objects.exists()

    def test_of_all_pickups_of_mode_reverse_is_recorded(self, driver):
        delivery = DeliveryFactory.create(accepted=True, driver=driver, at=REQUESTED, stops=2, mode=Mode.REVERSE)
        cancel(delivery)

        outcomes = [collected(delivery, driver, point=point).refusal for point in "BCB"]

        assert outcomes == ["", "", "move_refused"]
        assert statuses(delivery) == ("FAILED", "RETURNING", ["FAILED", "FAILED"])
        assert [point["wasCollected"] for point in on_phone(driver)["route"]["points"][1:]] == [True, True]
        row = Delivery.objects.get()
        assert (owed(Charge.CANCEL_ACCEPTED), row.fee_after_pickup) == (row.cancel_fee, row.shipping_value)
        assert broken() == []

    def test_of_a_further_pickup_of_mode_reverse_is_recorded(self, driver):
        delivery = DeliveryFactory.create(accepted=True, driver=driver, at=REQUESTED, stops=2, mode=Mode.REVERSE)
        deliveries.collect(delivery=delivery, point="B", by=BY, at=COLLECTED)
        cancel(delivery)

        assert collected(delivery, driver, point="C").refusal == ""
        assert not Delivery.objects.get().fee_before_pickup
        assert broken() == []

    def test_of_the_route_that_is_returning_in_reverse_without_a_cancellation_is_refused(self, driver):
        delivery = DeliveryFactory.create(accepted=True, driver=driver, at=REQUESTED, stops=2, mode=Mode.REVERSE)
        deliveries.collect(delivery=delivery, point="B", by=BY, at=COLLECTED)
        deliveries.fail(delivery=delivery, point="C", code="ABSENT", reason="", by=BY, at=COLLECTED)

        assert collected(delivery, driver, point="C").refusal == "move_refused"
        assert not GoodsInHand.objects.exists()

    def test_cannot_be_recorded_by_hand(self, accepted):
        cancel(accepted)

        with pytest.raises(MoveRefused):
            deliveries.collect(delivery=accepted, by=BY, at=NOW)

        assert moves.allowed(Delivery.objects.get()) == []


class TestFee:
    def test_stays_that_before_pickup(self, accepted, driver):
        fee = cancel(accepted).cancel_fee

        collected(accepted, driver)
        deliveries.return_(delivery=accepted, by=BY, at=NOW)

        row = Delivery.objects.get()
        assert (row.cancel_fee, owed(Charge.CANCEL_ACCEPTED), owed(Charge.CANCEL_COLLECTED)) == (fee, fee, Decimal(0))
        assert row.was_cancelled_after_pickup

    @pytest.mark.parametrize("percent", [0, 100])
    def test_is_that_after_pickup_when_a_dispatcher_says_so(self, driver, rules, percent):
        rules(driver_share_percent=50)
        TariffFactory.create(cancel_percent_collected=percent)
        accepted = DeliveryFactory.create(accepted=True, driver=driver, at=REQUESTED, stops=2)
        earned, fee = accepted.driver_amount, percent_of(accepted.shipping_value, Decimal(percent))
        cancel(accepted)
        collected(accepted, driver)
        assert "charge" in moves.allowed(Delivery.objects.get())

        charged = moves.perform("charge", delivery=accepted, fields={}, by=BY, at=NOW)

        assert (charged.cancel_fee, owed(Charge.CANCEL_COLLECTED)) == (fee, fee)
        assert charged.driver_amount == (earned if percent else 0)
        assert "charge" not in moves.allowed(Delivery.objects.get())
        assert broken() == []

    def test_is_not_open_of_other_cancellations(self, accepted):
        deliveries.collect(delivery=accepted, by=BY, at=COLLECTED)
        cancel(accepted)
        before = writes()

        with pytest.raises(MoveRefused):
            deliveries.charge(delivery=accepted, by=BY, at=NOW)

        assert writes() == before
        assert "charge" not in moves.allowed(Delivery.objects.get())


class TestGoodsInHand:
    """Where the route cannot be opened again, dispatchers see that its goods are out."""

    @pytest.fixture
    def cancelled(self, accepted, driver):
        cancel(accepted)
        DeliveryFactory.create(accepted=True, driver=driver, at=NOW, stops=1)
        return accepted

    def test_are_of_a_driver_with_another_route(self, cancelled, driver):
        move = collected(cancelled, driver)

        assert move.refusal == "goods_in_hand"
        assert "back" in move.refusal_detail
        assert statuses(cancelled)[1] == "CANCELLED"
        (row,) = GoodsInHand.objects.out()
        assert (row.delivery, row.driver, row.collected_at, row.reported_at) == (cancelled, driver, COLLECTED, NOW)
        (shown,) = on_phone(driver)["goods"]
        assert (shown["deliveryId"], shown["orders"]) == (str(cancelled.pk), "order-1, order-2")

    def test_are_marked_once(self, cancelled, driver):
        for _ in range(2):
            collected(cancelled, driver)

        assert GoodsInHand.objects.count() == 1

    def test_are_back_when_a_dispatcher_says_so(self, cancelled, driver):
        collected(cancelled, driver)
        row = GoodsInHand.objects.get()

        outcomes = [goods.record_back(goods=row, by=by, at=NOW) for by in (BY, "user other")]

        assert outcomes == [True, False]
        row.refresh_from_db()
        assert (row.back_at, row.back_by) == (NOW, BY)
        assert on_phone(driver)["goods"] == []
        collected(cancelled, driver)
        assert not GoodsInHand.objects.out().exists()

    @pytest.mark.parametrize("later", [timedelta(0), MINUTE])
    def test_are_of_who_has_collected_after_the_cancellation(self, accepted, driver, later):
        cancel(accepted)

        assert collected(accepted, driver, made_at=LOST + later).refusal == "goods_in_hand"
        assert statuses(accepted)[1] == "CANCELLED"

    @pytest.mark.parametrize("change", [{"active": False}, {"vehicle_type": "CAR"}])
    def test_are_of_a_driver_who_could_not_be_given_the_route_any_more(self, accepted, driver, change):
        cancel(accepted)
        type(driver).objects.filter(pk=driver.pk).update(**change)

        assert collected(accepted, driver).refusal == "goods_in_hand"
        assert broken() == []

    @pytest.mark.parametrize("ends_cancelled", [False, True])
    def test_are_of_the_driver_before_a_reassignment(self, accepted, driver, ends_cancelled):
        deliveries.reassign(delivery=accepted, driver=DriverFactory.create(), by=BY, at=LOST)
        if ends_cancelled:
            cancel(accepted, at=LOST + MINUTE)

        assert collected(accepted, driver).refusal == "goods_in_hand"
        assert GoodsInHand.objects.get().driver == driver

    def test_are_of_the_driver_before_a_release(self, accepted, driver):
        deliveries.release(delivery=accepted, by=BY, at=LOST)

        assert collected(accepted, driver).refusal == "goods_in_hand"

    def test_are_not_where_the_next_driver_has_collected(self, accepted, driver):
        deliveries.reassign(delivery=accepted, driver=DriverFactory.create(), by=BY, at=LOST)
        deliveries.collect(delivery=accepted, by=BY, at=LOST + MINUTE)

        assert collected(accepted, driver).refusal == "not_your_route"
        assert not GoodsInHand.objects.exists()

    def test_are_with_the_next_driver_who_collects_after_the_report(self, accepted, driver):
        deliveries.reassign(delivery=accepted, driver=DriverFactory.create(), by=BY, at=LOST)
        collected(accepted, driver)
        other = GoodsInHand.objects.create(
            delivery=DeliveryFactory.create(), driver=driver, collected_at=NOW, reported_at=NOW
        )

        deliveries.collect(delivery=accepted, by="driver Bea", at=NOW)

        row = GoodsInHand.objects.get(delivery=accepted)
        assert (row.back_at, row.back_by) == (NOW, "driver Bea")
        assert [each["deliveryId"] for each in on_phone(driver)["goods"]] == [str(other.delivery_id)]
        assert broken() == []

    def test_of_mode_reverse_are_with_the_next_driver_who_collects_all(self, driver):
        delivery = DeliveryFactory.create(accepted=True, driver=driver, at=REQUESTED, stops=2, mode=Mode.REVERSE)
        deliveries.reassign(delivery=delivery, driver=DriverFactory.create(), by=BY, at=LOST)
        collected(delivery, driver, point="B")

        out = []
        for point in "CB":
            deliveries.collect(delivery=delivery, point=point, by=BY, at=NOW)
            out.append(GoodsInHand.objects.out().count())

        assert out == [1, 0]

    def test_of_mode_reverse_are_those_of_the_stops_where_the_next_driver_has_not_been(self, driver):
        delivery = DeliveryFactory.create(accepted=True, driver=driver, at=REQUESTED, stops=2, mode=Mode.REVERSE)
        deliveries.reassign(delivery=delivery, driver=DriverFactory.create(), by=BY, at=LOST)
        deliveries.collect(delivery=delivery, point="B", by=BY, at=LOST + MINUTE)

        moves = [collected(delivery, driver, point=point) for point in "bc"]

        assert [move.refusal for move in moves] == ["not_your_route", "goods_in_hand"]
        assert "take it to A" in moves[1].refusal_detail

    def test_of_mode_reverse_are_out_where_the_next_driver_finds_nothing(self, driver):
        delivery = DeliveryFactory.create(accepted=True, driver=driver, at=REQUESTED, stops=2, mode=Mode.REVERSE)
        deliveries.reassign(delivery=delivery, driver=DriverFactory.create(), by=BY, at=LOST)
        collected(delivery, driver, point="B")

        deliveries.fail(delivery=delivery, point="B", reason="Nothing there", by=BY, at=NOW)
        deliveries.collect(delivery=delivery, point="C", by=BY, at=NOW)

        assert GoodsInHand.objects.out().count() == 1

    def test_are_not_of_who_never_held_the_route(self, accepted):
        cancel(accepted)

        assert collected(accepted, DriverFactory.create()).refusal == "not_your_route"
        assert not GoodsInHand.objects.exists()
