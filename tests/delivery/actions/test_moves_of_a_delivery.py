"""Collect, deliver, fail, return, cancel and expire: what each leaves in the database."""

from datetime import timedelta
from decimal import Decimal

import pytest
from django.utils import timezone

from delivery import lifecycle
from delivery.actions import deliveries, moves
from delivery.errors import AlreadyFinished, InvalidPosition, MoveRefused, ReasonMissing, StopNotFound
from delivery.lifecycle import Trigger
from delivery.models import Delivery, Stop, Transition, WebhookEndpoint, WebhookEvent
from tests.delivery.in_progress import in_progress
from tests.factories import BY, DeliveryFactory, TariffFactory


def do(verb, delivery, **details):
    return verb(delivery=delivery, by=BY, at=timezone.now(), **details)


def statuses(delivery):
    fresh = Delivery.objects.get(pk=delivery.pk)
    orders = list(Stop.objects.filter(delivery=delivery).order_by("index").values_list("status", flat=True))
    return fresh.status, fresh.route_status, orders


def writes():
    return Transition.objects.count(), WebhookEvent.objects.count()


@pytest.mark.django_db
class TestAllowed:
    def test_has_a_move_for_each_trigger_but_that_of_time(self):
        assert set(moves.MOVES) == {*Trigger, "position"} - {Trigger.EXPIRE}

    @pytest.mark.parametrize("route_status", lifecycle.IN_PROGRESS)
    def test_is_what_the_table_has_and_a_position_of_whoever_holds_the_route(self, route_status):
        delivery = in_progress(route_status, stops=1)

        triggers = {trigger for trigger, route in lifecycle.TABLE if route is route_status} - {Trigger.EXPIRE}
        also = {"position"} if route_status in lifecycle.HELD else set()
        assert set(moves.allowed(delivery)) == triggers | also

    def test_is_no_second_cancellation_and_nothing_after_the_end(self):
        delivery = DeliveryFactory.create(collected=True, stops=1)

        cancelled = do(deliveries.cancel, delivery, reason="")
        ended = do(deliveries.return_, delivery)

        assert (moves.allowed(cancelled), moves.allowed(ended)) == (["return", "position"], [])


class TestParsePoint:
    def test_reads_latitude_and_longitude(self):
        assert moves.parse_point("-23.56, -46.65") == (-23.56, -46.65)

    @pytest.mark.parametrize("text", ["", "1", "1,2,3", "91,0", "nan,0", "0" * 200 + "1,1", "1,1" + " " * 2_000_000])
    def test_refuses_invalid_text_with_a_short_message(self, text):
        with pytest.raises(InvalidPosition) as refused:
            moves.parse_point(text)

        assert len(str(refused.value)) < 300


@pytest.mark.django_db
class TestOneDelivery:
    def test_ends_delivered_when_every_point_is(self):
        delivery = DeliveryFactory.create(collected=True, stops=2)

        do(deliveries.deliver_point, delivery, point="C")
        do(deliveries.deliver_point, delivery, point="B")

        assert statuses(delivery) == ("DELIVERED", "FINISHED", ["DELIVERED", "DELIVERED"])

    def test_stays_with_its_driver_when_a_point_fails(self):
        delivery = DeliveryFactory.create(collected=True)

        failed = do(deliveries.fail_point, delivery, point="B", reason="Ninguém em casa")

        assert statuses(delivery) == ("COLLECTED", "COLLECTED", ["FAILED", "COLLECTED", "COLLECTED"])
        assert failed.driver == delivery.driver
        assert Stop.objects.get(delivery=delivery, index=0).failure_reason == "Ninguém em casa"

    @pytest.mark.parametrize(
        ("verb", "details", "error"),
        [
            (deliveries.deliver_point, {"point": "D"}, StopNotFound),
            (deliveries.deliver_point, {"point": "A"}, StopNotFound),
            (deliveries.deliver_point, {"point": ""}, StopNotFound),
            (deliveries.fail_point, {"point": "B", "reason": " "}, ReasonMissing),
            (deliveries.collect, {}, MoveRefused),
            (deliveries.return_, {}, MoveRefused),
        ],
    )
    def test_refuses_an_invalid_action_and_writes_nothing(self, verb, details, error):
        delivery = DeliveryFactory.create(collected=True, stops=2)
        before = statuses(delivery), writes()

        with pytest.raises(error):
            do(verb, delivery, **details)

        assert (statuses(delivery), writes()) == before

    def test_records_trigger_point_reason_and_actor(self):
        delivery = DeliveryFactory.create(collected=True, stops=1)

        do(deliveries.fail_point, delivery, point="b", reason="Recusado")

        last = Transition.objects.filter(delivery=delivery).latest("pk")
        assert (last.trigger, last.point, last.reason, last.by) == ("fail", "B", "Recusado", BY)
        assert (last.status, last.route_status) == ("FAILED", "RETURNING")


@pytest.mark.django_db
class TestCancel:
    def test_before_acceptance_costs_nothing(self):
        delivery = DeliveryFactory.create()

        cancelled = do(deliveries.cancel, delivery, reason="Desistiu")

        assert statuses(delivery) == ("FAILED", "CANCELLED", ["FAILED"] * 3)
        assert (cancelled.cancel_fee, cancelled.cancel_reason) == (Decimal(0), "Desistiu")

    def test_after_acceptance_costs_the_tariffs_share_and_frees_the_driver(self):
        delivery = DeliveryFactory.create(accepted=True)

        cancelled = do(deliveries.cancel, delivery, reason="")

        assert statuses(delivery) == ("FAILED", "CANCELLED", ["FAILED"] * 3)
        assert cancelled.cancel_fee == (delivery.shipping_value * Decimal("0.30")).quantize(Decimal("0.01"))
        assert DeliveryFactory.create(accepted=True, driver=delivery.driver).driver == delivery.driver

    def test_rounds_half_a_centavo_of_the_fee_up(self):
        TariffFactory.create(base_fare=Decimal("10.05"), minimum_fare=0, cancel_percent_accepted=50)
        delivery = DeliveryFactory.create(accepted=True, stops=1)

        cancelled = do(deliveries.cancel, delivery, reason="")

        assert (cancelled.shipping_value, cancelled.cancel_fee) == (Decimal("10.05"), Decimal("5.03"))

    def test_after_pickup_makes_the_driver_return(self):
        delivery = DeliveryFactory.create(collected=True)
        do(deliveries.deliver_point, delivery, point="B")

        cancelled = do(deliveries.cancel, delivery, reason="")

        assert statuses(delivery) == ("FAILED", "RETURNING", ["DELIVERED", "FAILED", "FAILED"])
        assert cancelled.cancel_fee == delivery.shipping_value

    def test_again_changes_nothing(self):
        delivery = DeliveryFactory.create()
        first = do(deliveries.cancel, delivery, reason="one")
        before = writes()

        second = do(deliveries.cancel, delivery, reason="two")

        assert (second.cancel_reason, second.cancelled_at) == ("one", first.cancelled_at)
        assert writes() == before

    def test_refuses_a_finished_delivery(self):
        delivery = DeliveryFactory.create(collected=True, stops=1)
        do(deliveries.deliver_point, delivery, point="B")

        with pytest.raises(AlreadyFinished):
            do(deliveries.cancel, delivery, reason="")

        assert statuses(delivery) == ("DELIVERED", "FINISHED", ["DELIVERED"])


@pytest.mark.django_db
class TestExpireOverdue:
    def test_expires_offers_from_their_deadline_on(self):
        now = timezone.now()
        due = DeliveryFactory.create(at=now - timedelta(minutes=60))
        young = DeliveryFactory.create(at=now - timedelta(minutes=60) + timedelta(microseconds=1))

        assert deliveries.expire_overdue(at=now) == 1

        assert statuses(due) == ("FAILED", "EXPIRED", ["FAILED"] * 3)
        assert statuses(young)[:2] == ("PENDING", "AVAILABLE")

    def test_continues_after_a_delivery_that_cannot_be_expired_and_names_it(self, caplog):
        broken = DeliveryFactory.create(at=timezone.now() - timedelta(minutes=62))
        old = DeliveryFactory.create(at=timezone.now() - timedelta(minutes=61))
        WebhookEndpoint.objects.filter(integrator=broken.integrator).delete()

        assert deliveries.expire_overdue(at=timezone.now()) == 1

        assert statuses(broken)[:2] == ("PENDING", "AVAILABLE")
        assert statuses(old)[:2] == ("FAILED", "EXPIRED")
        assert [str(broken.pk) in record.getMessage() for record in caplog.records if record.exc_info] == [True]
