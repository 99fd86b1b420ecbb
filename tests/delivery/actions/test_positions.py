"""Recording of several positions at once."""

from datetime import timedelta

import pytest
from django.db import connection
from django.utils import timezone

from delivery.actions import drivers
from delivery.actions.drivers import Fix
from delivery.errors import InvalidPosition
from delivery.geo.distance import Point
from delivery.models import DriverPosition, LatestPosition
from tests.factories import BY, PICKUP, DriverFactory

NOW = timezone.now()
THERE = Point(-23.5, -46.6)


def fix(driver, *, seconds, point=THERE):
    """A position recorded so many seconds ago."""
    return Fix(driver.pk, point, NOW - timedelta(seconds=seconds), accuracy_m=5.0)


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
        ana, bia = DriverFactory.create_batch(2)

        with django_assert_num_queries(2):
            drivers.record_positions([fix(ana, seconds=2), fix(bia, seconds=1), fix(ana, seconds=0)], by=BY)

        assert DriverPosition.objects.count() == 3
        written = bia.positions.get()
        assert (written.point, written.recorded_at) == (THERE, NOW - timedelta(seconds=1))
        assert (written.accuracy_m, written.recorded_by) == (5.0, BY)

    @pytest.mark.parametrize("order", [(0, 1, 2), (2, 1, 0), (1, 0, 2)])
    def test_keeps_the_newest_as_the_latest(self, order):
        driver = DriverFactory.create()

        drivers.record_positions(
            [fix(driver, seconds=seconds, point=PICKUP if seconds == 0 else THERE) for seconds in order], by=BY
        )

        latest = LatestPosition.objects.get()
        assert (latest.point, latest.recorded_at) == (PICKUP, NOW)

    def test_takes_the_later_of_two_positions_of_the_same_moment(self):
        driver = DriverFactory.create()

        drivers.record_positions([fix(driver, seconds=0), fix(driver, seconds=0, point=PICKUP)], by=BY)

        assert LatestPosition.objects.get().point == PICKUP

    def test_writes_the_latest_position_of_a_driver_once(self):
        driver = DriverFactory.create()
        inserts, updates = writes_of_latest_positions()

        drivers.record_positions([fix(driver, seconds=seconds) for seconds in (3, 2, 1, 0)], by=BY)

        assert writes_of_latest_positions() == (inserts + 1, updates)

    def test_locks_the_latest_positions_in_the_order_of_the_drivers(self):
        """Otherwise two calls for the same drivers could deadlock."""
        made = sorted(DriverFactory.create_batch(4), key=lambda driver: driver.pk)

        drivers.record_positions([fix(made[index], seconds=0) for index in (2, 0, 3, 1)], by=BY)

        assert [row.driver for row in DriverPosition.objects.order_by("pk").select_related("driver")] == made

    def test_refuses_all_of_them_for_one_that_does_not_exist(self):
        driver = DriverFactory.create()

        with pytest.raises(InvalidPosition):
            drivers.record_positions([fix(driver, seconds=1), fix(driver, seconds=0, point=Point(91.0, 0.0))], by=BY)

        assert DriverPosition.objects.count() == LatestPosition.objects.count() == 0
