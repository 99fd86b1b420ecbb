"""A delivery at one of whose stops the driver has failed: one phrase for the whole, counted as a failure."""

from datetime import timedelta

import pytest
from django.utils import timezone, translation

from common.pages.periods import Period
from delivery import reports
from delivery.actions import deliveries
from delivery.admin.labels import state
from delivery.alerts import actions as alerts
from delivery.lifecycle import Ending, Mode, OnFailure
from delivery.models import Delivery
from delivery.models.delivery import DELIVERED, NOT_DELIVERED
from delivery.payload import Options
from panel.templatetags.panel import state_badge
from tests.cases import in_turn
from tests.delivery.proofs import asking_for
from tests.factories import BY, DeliveryFactory

NOW = timezone.now()

pytestmark = pytest.mark.django_db


def half_failed(*, stops=2, mode=Mode.DEFAULT, moves=("deliver",)):
    """C, or A's pickup C in mode REVERSE, has failed; then these moves at B and A.

    `recall` is at C, which is not tried again then.
    """
    is_reverse = mode is Mode.REVERSE
    policy = OnFailure.RETRY if "recall" in moves else OnFailure.RETURN
    delivery = asking_for(*[Options(on_failure=policy)] * stops, accepted=True, mode=mode)
    if not is_reverse:
        deliveries.collect(delivery=delivery, by=BY, at=NOW)
    deliveries.fail(delivery=delivery, point="C", code="ABSENT", reason="", by=BY, at=NOW)
    for move in moves:
        if move == "return":
            deliveries.return_(delivery=delivery, by=BY, at=NOW)
        elif move == "recall":
            deliveries.recall(delivery=delivery, point="C", by=BY, at=NOW)
        elif move == "cancel":
            deliveries.cancel(delivery=delivery, reason="", by=BY, at=NOW)
        else:
            action = deliveries.collect if is_reverse else deliveries.deliver
            action(delivery=delivery, point="B", by=BY, at=NOW)
    return Delivery.objects.get(pk=delivery.pk)


class TestStatusName:
    @in_turn(
        ("values", "english", "portuguese"),
        [
            ({"moves": ()}, "On the way, 1 of 2 not delivered", "A caminho, 1 de 2 não entregue"),
            ({}, "Returning to the shop, 1 of 2 not delivered", "Voltando à loja, 1 de 2 não entregue"),
            ({"moves": ("deliver", "return")}, "1 of 2 not delivered", "1 de 2 não entregue"),
            ({"moves": ("deliver", "cancel")}, "Returning to the shop, cancelled", "Voltando à loja, cancelada"),
            ({"moves": ("deliver", "cancel", "return")}, "Cancelled", "Cancelada"),
            ({"moves": (), "stops": 3}, "On the way, 1 of 3 not delivered", "A caminho, 1 de 3 não entregue"),
            ({"mode": Mode.REVERSE}, "On the way to A, 1 of 2 not collected", "A caminho de A, 1 de 2 não coletado"),
            ({"mode": Mode.REVERSE, "moves": ("deliver", "return")}, "1 of 2 not collected", "1 de 2 não coletado"),
        ],
    )
    def test_is_one_phrase(self, values, english, portuguese):
        delivery = half_failed(**values)

        assert delivery.status_name == english
        with translation.override("pt-br"):
            assert delivery.status_name == portuguese
        assert english in state(delivery)
        assert english in state_badge(delivery)

    def test_of_one_with_all_stops_failed_is_that_of_its_status(self):
        delivery = DeliveryFactory.create(collected=True, stops=1)

        failed = deliveries.fail(delivery=delivery, point="B", code="ABSENT", reason="", by=BY, at=NOW)
        assert failed.status_name == "Returning to the shop, not delivered"
        assert deliveries.return_(delivery=delivery, by=BY, at=NOW).status_name == "Not delivered"

    def test_is_no_success_by_its_colour(self):
        assert 'class="badge bad"' in state_badge(half_failed(moves=("deliver", "return")))


class TestNameOfAPickup:
    @in_turn(
        ("values", "names"),
        [
            ({"mode": Mode.REVERSE, "moves": ()}, ["To collect", "Not collected"]),
            ({"mode": Mode.REVERSE}, ["Collected", "Not collected"]),
            ({"mode": Mode.REVERSE, "moves": ("deliver", "return")}, ["Delivered at A", "Not collected"]),
            ({"mode": Mode.REVERSE, "moves": ("cancel",)}, ["Cancelled", "Not collected"]),
            ({"mode": Mode.REVERSE, "moves": ("deliver", "cancel")}, ["Cancelled", "Not collected"]),
            ({}, ["", ""]),
        ],
    )
    def test_says_what_became_of_its_goods(self, values, names):
        assert [stop.pickup_status for stop in half_failed(**values).ordered_stops] == names


class TestCounts:
    @pytest.mark.parametrize(
        "moves", [("deliver",), ("deliver", "return"), ("recall", "deliver"), ("deliver", "recall")]
    )
    def test_have_it_among_the_failures(self, moves):
        delivery = half_failed(moves=moves)

        assert [*Delivery.objects.filter(NOT_DELIVERED)] == [delivery]
        assert not Delivery.objects.filter(DELIVERED).exists()
        (hour,) = Delivery.objects.all().by_hour(since=NOW - timedelta(hours=1))
        assert (hour["delivered"], hour["failed"]) == (0, 1)
        (alert,) = alerts.failed_since(NOW - timedelta(hours=1), at=NOW + timedelta(seconds=1))
        assert alert == delivery

    @pytest.mark.parametrize("moves", [(), ("deliver", "cancel")])
    def test_do_not_have_it_while_a_stop_is_open_or_after_a_cancellation(self, moves):
        half_failed(moves=moves)

        assert not Delivery.objects.filter(NOT_DELIVERED).exists()
        assert not alerts.failed_since(NOW - timedelta(hours=1), at=NOW).exists()

    def test_of_a_report_have_it_among_those_not_delivered(self):
        delivery = half_failed(moves=("deliver", "return"))
        day = timezone.localdate(NOW)

        (line,) = reports.of_all_accounts(Period(day, day))
        (row,) = reports.all_rows(Delivery.objects.all(), Period(day, day))

        assert (line.counts[Ending.NOT_DELIVERED], line.counts[Ending.DELIVERED]) == (1, 0)
        assert line.amount == delivery.shipping_value + (delivery.return_fee or 0)
        assert (row.ending, row.statuses) == ("not_delivered", ["DELIVERED", "FAILED"])
        assert reports.ending_name(row) == "1 of 2 not delivered"
