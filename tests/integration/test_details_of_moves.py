"""What is reported of a change of status: reason, place and moment."""

from contextlib import nullcontext
from datetime import timedelta

import pytest
from django.utils import timezone

from integration.actions import orders
from integration.actions.orders import Details
from integration.errors import InvalidStatusReport
from integration.lifecycle import Reason, Status
from integration.models import Company, StatusLog
from tests.cases import in_turn
from tests.integration.factories import BY, create_order, load_tariff

DAY, MINUTE, TICK = timedelta(days=1), timedelta(minutes=1), timedelta(microseconds=1)


@pytest.fixture
def order(seller):
    """Out for delivery."""
    load_tariff()
    Company.objects.update(postcode="01310100")
    order = create_order(seller)
    at = timezone.now()
    for status in (Status.COLLECTED, Status.OUT_FOR_DELIVERY):
        order = orders.move(order=order, to=status, by=BY, at=at, details=Details(happened_at=None))
    return order


def moved(order, to, **values):
    return orders.move(order=order, to=to, by=BY, at=timezone.now(), details=Details(**values))


class TestReport:
    @in_turn("code", list(Reason))
    def test_has_a_reason_for_a_failure(self, order, code):
        reason, place = "ã" * 255, "õ" * 120
        moved(order, Status.DELIVERY_FAILED, reason_code=code, reason=reason, place=place)

        entry = StatusLog.objects.latest("pk")
        assert (entry.reason_code, entry.reason, entry.place) == (code, reason, place)
        assert entry.occurred_at == entry.created_at

    @in_turn(
        ("to", "values", "field"),
        [
            (Status.DELIVERED, {"reason_code": "ABSENT"}, "code"),
            (Status.IN_TRANSIT, {"reason": "Chuva"}, "reason"),
            (Status.DELIVERY_FAILED, {"reason_code": "absent"}, "code"),
            (Status.DELIVERY_FAILED, {"reason": "  "}, "code"),
            (Status.DELIVERY_FAILED, {"reason_code": "OTHER"}, "reason"),
            (Status.DELIVERY_FAILED, {"reason_code": "OTHER", "reason": "a\0b"}, "reason"),
            (Status.DELIVERY_FAILED, {"reason_code": "OTHER", "reason": "  "}, "reason"),
            (Status.DELIVERY_FAILED, {"reason_code": "ABSENT", "reason": "x" * 256}, "reason"),
            (Status.DELIVERED, {"place": "x" * 121}, "place"),
            (Status.DELIVERED, {"place": "a\0b"}, "place"),
        ],
    )
    def test_that_does_not_fit_is_refused(self, order, to, values, field):
        with pytest.raises(InvalidStatusReport) as caught:
            moved(order, to, **values)

        assert caught.value.fields == (field,)
        order.refresh_from_db()
        assert (order.status, StatusLog.objects.count()) == ("out_for_delivery", 3)

    def test_has_a_moment_after_the_entry_before_it(self, order):
        last = StatusLog.objects.latest("pk").created_at

        for moment in (last - timedelta(seconds=1), last - 31 * DAY, timezone.now() + timedelta(minutes=5)):
            with pytest.raises(InvalidStatusReport) as caught:
                moved(order, Status.DELIVERED, happened_at=moment)
            assert caught.value.fields == ("occurredAt",)
        last_move = moved(order, Status.DELIVERED, happened_at=last + timedelta(microseconds=1))

        assert last_move.delivered_at == last + timedelta(microseconds=1)

    @pytest.mark.parametrize(("microseconds", "is_refused"), [(0, False), (499_999, True), (500_000, False)])
    def test_has_one_of_the_same_second_if_it_has_no_parts_of_a_second(self, order, microseconds, is_refused):
        second = timezone.now().replace(microsecond=0) + timedelta(seconds=1)
        orders.move(order=order, to=Status.IN_TRANSIT, by=BY, at=second.replace(microsecond=500_000))

        refused = pytest.raises(InvalidStatusReport) if is_refused else nullcontext()
        with refused:
            moved(order, Status.DELIVERED, happened_at=second.replace(microsecond=microseconds))

    @pytest.mark.parametrize(
        ("ago", "is_refused"),
        [(30 * DAY, False), (30 * DAY + TICK, True), (-2 * MINUTE, False), (-2 * MINUTE - TICK, True)],
    )
    def test_has_a_moment_of_30_days_by_a_clock_that_is_at_most_2_minutes_ahead(self, ago, is_refused):
        at = timezone.now()

        with pytest.raises(InvalidStatusReport) if is_refused else nullcontext():
            orders.check_moment(at - ago, last=at - 31 * DAY, at=at)

    def test_has_no_moment_in_the_future_of_a_clock_that_is_ahead(self, order):
        at = timezone.now()

        delivered = moved(order, Status.DELIVERED, happened_at=at + timedelta(minutes=1))

        assert at <= delivered.delivered_at == StatusLog.objects.latest("pk").occurred_at <= timezone.now()

    def test_dates_the_promise_by_the_moment_of_the_collection(self, seller):
        load_tariff()
        Company.objects.update(postcode="01310100")
        order = create_order(seller)
        now = order.created_at + 20 * DAY
        kept = [
            orders.move(order=each, to=Status.COLLECTED, by=BY, at=now, details=Details(happened_at=at)).promised_on
            for each, at in ((order, order.created_at + DAY), (create_order(seller, orderId="A-2"), None))
        ]

        early, late = kept
        assert early is not None
        assert late is not None
        assert early < late
