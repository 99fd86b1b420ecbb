"""Moves that phones send: exactly once, in order, with the moment at which they were made."""

import re
from datetime import timedelta
from uuid import uuid4

import pytest
from django.utils import timezone, translation

from delivery.actions import deliveries
from delivery.drivers import moves as driver_moves
from delivery.drivers.moves import SentMove
from delivery.lifecycle import OnFailure, Trigger
from delivery.models import Delivery, DriverMove, Transition, WebhookEvent
from delivery.payload import Options
from tests.delivery.proofs import asking_for
from tests.factories import BY, DeliveryFactory, DriverFactory

NOW = timezone.now()
REQUESTED = NOW - timedelta(minutes=30)


@pytest.fixture
def delivery(db):
    return DeliveryFactory.create(accepted=True, at=REQUESTED)


def sent_move(delivery, trigger=Trigger.COLLECT, *, ago=0.0, point="", reason="", report_id=None):
    return SentMove(report_id or uuid4(), delivery.pk, trigger, NOW - timedelta(seconds=ago), point, reason=reason)


def perform(delivery, trigger=Trigger.COLLECT, *, driver=None, **values):
    return driver_moves.perform(driver=driver or delivery.driver, sent=sent_move(delivery, trigger, **values), at=NOW)


class TestPerform:
    def test_makes_the_move_in_the_drivers_name(self, delivery):
        move = perform(delivery)

        assert move.refusal == ""
        latest = Transition.objects.latest("id")
        assert (latest.trigger, latest.by) == ("collect", f"driver {delivery.driver.name}")
        assert (latest.at, latest.made_at) == (NOW, None)

    def test_keeps_the_moment_of_a_move_that_was_made_without_signal(self, delivery):
        perform(delivery, ago=600)

        latest = Transition.objects.latest("id")
        assert (latest.at, latest.made_at) == (NOW, NOW - timedelta(seconds=600))
        assert WebhookEvent.objects.get(sequence=3).created_at == NOW

    @pytest.mark.parametrize(
        ("ago", "made_at"),
        [(-3600, None), (0.9, None), (1, NOW - timedelta(seconds=1)), (86_400, REQUESTED)],
    )
    def test_trusts_no_clock_beyond_now_and_the_move_before(self, delivery, ago, made_at):
        perform(delivery, ago=ago)

        assert Transition.objects.latest("id").made_at == made_at

    def test_keeps_the_moments_of_several_that_are_sent_together_in_their_order(self, delivery):
        perform(delivery, ago=600)
        for point, ago in (("B", 300), ("C", 900)):  # the clock was put back before C
            perform(delivery, Trigger.DELIVER, point=point, ago=ago)

        made = Transition.objects.order_by("id").values_list("made_at", flat=True)[2:]
        assert list(made) == [NOW - timedelta(seconds=ago) for ago in (600, 300, 300)]

    def test_is_the_second_failure_where_both_are_sent_together(self, db):
        """By a page of the version before, which does not say what it knew of."""
        retry = Options(on_failure=OnFailure.RETRY)
        delivery = asking_for(retry, collected=True, at=REQUESTED)

        moves = [perform(delivery, Trigger.FAIL, point="B", reason="Nobody there", ago=ago) for ago in (600, 300)]

        assert [move.refusal for move in moves] == ["", ""]
        assert list(Transition.objects.order_by("id").values_list("trigger", flat=True)[3:]) == ["attempt", "fail"]

    def test_is_recorded_no_earlier_than_the_move_that_it_waited_for(self, delivery):
        perform(delivery)

        late = sent_move(delivery, Trigger.DELIVER, point="B", ago=5)
        move = driver_moves.perform(driver=delivery.driver, sent=late, at=NOW - timedelta(seconds=2))

        collected, delivered = Transition.objects.order_by("id")[2:]
        assert (collected.at, delivered.at, delivered.made_at) == (NOW, NOW, None)
        assert (move.received_at, move.made_at) == (NOW, NOW)

    def test_is_another_one_with_the_id_of_another_drivers_move(self, delivery):
        other, same = DeliveryFactory.create(accepted=True, at=REQUESTED), uuid4()

        moves = [perform(each, report_id=same) for each in (delivery, other)]

        assert [move.driver for move in moves] == [delivery.driver, other.driver]
        assert set(Delivery.objects.values_list("route_status", flat=True)) == {"COLLECTED"}

    def test_keeps_a_refusal_and_answers_it_again(self, delivery):
        perform(delivery)
        same = uuid4()

        first = perform(delivery, report_id=same)
        delivery.refresh_from_db()
        again = perform(delivery, report_id=same)

        assert first.refusal == again.refusal == "move_refused"
        assert again.refusal_detail == "The goods are collected, and not all points are done."
        assert DriverMove.objects.count() == 2

    @pytest.mark.parametrize(
        ("language", "text"),
        [
            ("en", "This route was cancelled. There is nothing left to do."),
            ("pt-br", "Esta rota foi cancelada. Não há mais nada a fazer."),
        ],
    )
    def test_says_in_the_drivers_words_that_a_route_was_cancelled(self, delivery, language, text):
        deliveries.cancel(delivery=delivery, reason="", by=BY, at=NOW)

        with translation.override(language):
            move = perform(delivery, Trigger.DELIVER, point="B")

        assert (move.refusal, move.refusal_detail) == ("move_refused", text)

    def test_never_says_a_code_to_a_driver(self, delivery):
        refused = [perform(delivery, Trigger.RETURN), perform(delivery, Trigger.DELIVER, point="B")]
        perform(delivery)
        refused += [perform(delivery), perform(delivery, Trigger.RETURN)]
        for point in "BCD":
            perform(delivery, Trigger.FAIL, point=point, reason="Nobody there")
        refused += [perform(delivery), perform(delivery, Trigger.DELIVER, point="B")]
        perform(delivery, Trigger.RETURN)
        refused += [perform(delivery), perform(delivery, Trigger.RETURN)]

        assert all(move.refusal for move in refused)
        assert [move.refusal_detail for move in refused if re.search("[A-Z]{3}", move.refusal_detail)] == []

    def test_refuses_a_delivery_that_does_not_exist_as_that_of_another_driver(self, delivery):
        other = perform(delivery, driver=DriverFactory.create())

        unknown = SentMove(uuid4(), uuid4(), Trigger.COLLECT, NOW)
        move = driver_moves.perform(driver=delivery.driver, sent=unknown, at=NOW)

        assert (move.refusal, move.refusal_detail) == (other.refusal, other.refusal_detail)
        assert list(DriverMove.objects.all()) == [other]
