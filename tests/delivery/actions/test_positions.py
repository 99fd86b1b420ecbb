"""Positions of drivers: how they are recorded, which of phones are, and which one a delivery shows."""

from datetime import timedelta

import pytest
from django.db import connection
from django.utils import timezone

from common.workers.moments import TOLERANCE
from delivery.actions import deliveries, drivers
from delivery.drivers import devices as driver_devices
from delivery.errors import InvalidPosition, NotOnDuty, OtherPhoneSends
from delivery.geo.distance import Point
from delivery.geo.position_filter import Reason, SentPosition
from delivery.models import Delivery, DriverDevice, DriverPosition, LatestPosition
from tests.cases import in_turn
from tests.factories import BY, DROPOFFS, PICKUP, DeliveryFactory, DriverFactory

NOW = timezone.now()
FAR = Point(-23.461414, -46.655881)


def sent_position(point=PICKUP, *, ago=0.0):
    """A position of so many seconds ago."""
    return SentPosition(point, NOW - timedelta(seconds=ago), 8.0)


def writes_of_latest_positions():
    """Inserts and updates that this connection has counted."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT n_tup_ins, n_tup_upd FROM pg_stat_xact_user_tables WHERE relname = 'delivery_latestposition'"
        )
        return cursor.fetchone()


@pytest.mark.django_db
class TestRecordPositions:
    def test_writes_them_by_one_statement_and_reads_the_routes_by_another(self, django_assert_num_queries):
        driver = DriverFactory.create()

        with django_assert_num_queries(2):
            drivers.store_positions(driver=driver, sent=[sent_position(ago=ago) for ago in (2, 1)], by=BY)

        written = DriverPosition.objects.order_by("recorded_at").values_list("recorded_at", "accuracy_m", "recorded_by")
        assert list(written) == [(NOW - timedelta(seconds=ago), 8.0, BY) for ago in (2, 1)]

    @pytest.mark.parametrize("order", [(0, 1, 2), (2, 1, 0), (1, 0, 2)])
    def test_writes_the_latest_position_once_whatever_the_order(self, order):
        inserts, updates = writes_of_latest_positions()
        positions = [sent_position(PICKUP if ago == 0 else FAR, ago=ago) for ago in order]

        drivers.store_positions(driver=DriverFactory.create(), sent=positions, by=BY)

        latest = LatestPosition.objects.get()
        assert (latest.point, latest.recorded_at) == (PICKUP, NOW)
        assert writes_of_latest_positions() == (inserts + 1, updates)

    @pytest.mark.parametrize(("before", "until"), [(10, 10), (600, 60)])
    def test_puts_those_ahead_of_now_before_what_follows_unless_that_is_long_ago(self, before, until):
        """In seconds before now. What follows was found then."""
        driver, other = DriverFactory.create_batch(2)
        for each in (driver, other):
            drivers.store_positions(driver=each, sent=[sent_position(ago=ago) for ago in (-3600, 3600)], by=BY)

        drivers.pull_back_positions(driver=driver, before=NOW - timedelta(seconds=before), at=NOW)

        latest, earlier = driver.positions.order_by("-recorded_at").values_list("recorded_at", flat=True)
        # Within the tolerance of clocks, so that the order of several stays.
        for moment in (latest, LatestPosition.objects.get(driver=driver).recorded_at):
            assert timedelta(0) <= NOW - timedelta(seconds=until) - moment <= TOLERANCE
        assert earlier == NOW - timedelta(seconds=3600)
        ahead = NOW + timedelta(seconds=3600)
        assert other.positions.latest("recorded_at").recorded_at == other.latest.recorded_at == ahead

    def test_refuses_all_of_them_for_one_that_does_not_exist(self):
        with pytest.raises(InvalidPosition):
            drivers.store_positions(
                driver=DriverFactory.create(), sent=[sent_position(ago=1), sent_position(Point(91.0, 0.0))], by=BY
            )

        assert DriverPosition.objects.count() == LatestPosition.objects.count() == 0


def phone(driver, *, on_duty=True):
    token = driver_devices.issue_link(driver=driver, by=BY, at=NOW)
    device, session = driver_devices.log_in(token=token, phone="", language="en", at=NOW)
    if on_duty:
        driver_devices.go_on_duty(device=device)
    return driver_devices.find(session, at=NOW)


@pytest.mark.django_db
class TestRecord:
    def test_records_what_can_be_true_and_counts_the_rest(self):
        device = phone(DriverFactory.create(name="Ana"))

        outside = [sent_position(Point(0, 0), ago=8), sent_position(Point(0, 1), ago=7)]
        dropped = driver_devices.receive_positions(
            device=device, sent=[sent_position(ago=10), sent_position(FAR, ago=5), *outside, sent_position()], at=NOW
        )

        assert dropped == {Reason.TOO_FAST: 1, Reason.OUTSIDE: 2}
        assert [position.point for position in DriverPosition.objects.all()] == [PICKUP, PICKUP]
        assert DriverPosition.objects.latest("id").recorded_by == "driver Ana"
        device.refresh_from_db()
        assert device.dropped_positions == 3

    def test_believes_an_exact_position_after_an_inexact_one(self):
        """As from the radio cell of a network first and from satellites then."""
        device = phone(DriverFactory.create())
        driver_devices.receive_positions(
            device=device, sent=[SentPosition(FAR, NOW - timedelta(seconds=10), 900.0)], at=NOW
        )

        dropped = driver_devices.receive_positions(device=device, sent=[sent_position()], at=NOW)

        assert not dropped
        assert device.driver.latest_position().point == device.driver.latest.point == PICKUP

    def test_refuses_off_duty(self):
        driver = DriverFactory.create(on_duty=False)
        device = phone(driver, on_duty=False)

        with pytest.raises(NotOnDuty):
            driver_devices.receive_positions(device=device, sent=[sent_position()], at=NOW)

        assert not DriverPosition.objects.exists()

    def test_records_off_duty_while_the_driver_holds_a_route(self):
        driver = DriverFactory.create()
        device = phone(driver)
        DeliveryFactory.create(accepted=True, driver=driver)
        drivers.set_duty([driver], on_duty=False)
        device.driver.refresh_from_db()

        assert driver_devices.receive_positions(device=device, sent=[sent_position()], at=NOW) == {}

        assert DriverPosition.objects.get().point == PICKUP

    def test_begins_with_the_first_phone_of_a_driver_whom_a_dispatcher_puts_on_duty(self):
        driver = DriverFactory.create(on_duty=True)
        first, second = phone(driver, on_duty=False), phone(driver, on_duty=False)

        driver_devices.receive_positions(device=first, sent=[sent_position(ago=10)], at=NOW)
        with pytest.raises(OtherPhoneSends):
            driver_devices.receive_positions(device=second, sent=[sent_position()], at=NOW)

        assert DriverDevice.objects.get(reports_positions=True) == first
        assert DriverPosition.objects.count() == 1

    @pytest.mark.parametrize(
        "ended", [{"revoked_at": NOW, "revoked_by": BY}, {"expires_at": NOW}], ids=["log-out", "age"]
    )
    def test_passes_from_a_phone_that_is_logged_out_to_another(self, ended):
        driver = DriverFactory.create()
        former, new = phone(driver), phone(driver, on_duty=False)
        DriverDevice.objects.filter(pk=former.pk).update(**ended)

        driver_devices.receive_positions(device=new, sent=[sent_position()], at=NOW)

        assert DriverDevice.objects.get(reports_positions=True) == new

    def test_refuses_the_phone_that_does_not_report(self):
        driver = DriverFactory.create()
        first = phone(driver)
        phone(driver)
        first.refresh_from_db()

        with pytest.raises(OtherPhoneSends):
            driver_devices.receive_positions(device=first, sent=[sent_position()], at=NOW)

        assert not DriverPosition.objects.exists()


def record(driver, point, at):
    drivers.set_position(driver=driver, point=point, by=BY, at=at)


@pytest.mark.django_db
class TestDriverPosition:
    def test_of_a_closed_route_is_the_latest_up_to_its_end(self):
        delivery = DeliveryFactory.create(collected=True, stops=1)
        end = NOW + timedelta(minutes=5)
        record(delivery.driver, PICKUP, end - timedelta(microseconds=1))
        record(delivery.driver, DROPOFFS[0], end)
        record(delivery.driver, DROPOFFS[1], end + timedelta(microseconds=1))

        closed = deliveries.deliver(delivery=delivery, point="B", by=BY, at=end)

        assert closed.driver_position is not None
        assert closed.driver_position.point == DROPOFFS[0]

    def test_of_an_open_route_is_the_latest(self):
        delivery = DeliveryFactory.create(accepted=True)
        record(delivery.driver, DROPOFFS[1], NOW + timedelta(minutes=5))
        record(delivery.driver, PICKUP, NOW)

        latest = Delivery.objects.get(pk=delivery.pk).driver_position
        assert latest is not None
        assert latest.point == DROPOFFS[1]

    @in_turn(("seconds", "age"), [(-1, 0), (0, 0), (0.999, 0), (1, 1), (90.5, 90)])
    def test_has_an_age_in_whole_seconds_that_is_never_negative(self, seconds, age):
        assert DriverPosition(recorded_at=NOW).age_seconds(at=NOW + timedelta(seconds=seconds)) == age
