"""When drivers were on duty."""

from datetime import UTC, datetime, timedelta

import pytest
from django.db import ProgrammingError, connection
from django.test.utils import CaptureQueriesContext

from delivery.actions import drivers
from delivery.drivers import day as days
from delivery.drivers.day import Duty, Span
from delivery.models import Driver, DutyChange
from tests.factories import BY, DriverFactory
from tests.moments import at_each_midnight

NOON = datetime(2026, 11, 22, 15, tzinfo=UTC)
TODAY = NOON.date()
HOUR = timedelta(hours=1)


@pytest.fixture
def ana(db):
    return DriverFactory.create(on_duty=False)


def record(driver, *changes):
    DutyChange.objects.bulk_create([DutyChange(driver=driver, on_duty=is_on, at=at) for is_on, at in changes])


def of(driver, day=TODAY, at=NOON):
    return days.of_days(driver, [day], at=at)[day]


class TestRecord:
    def changes(self, driver):
        return list(driver.duty_changes.order_by("pk").values_list("on_duty", flat=True))

    def test_has_each_change_whatever_makes_it(self, ana):
        drivers.set_duty([ana], on_duty=True)
        drivers.set_duty([ana], on_duty=False)
        ana.on_duty = True
        drivers.save(driver=ana, by=BY, at=NOON)
        Driver.objects.filter(pk=ana.pk).update(on_duty=False)

        assert self.changes(ana) == [True, False, True, False]

    def test_begins_with_a_driver_who_is_new_and_on_duty(self, db):
        assert self.changes(DriverFactory.create(on_duty=True)) == [True]

    def test_ends_with_the_work_for_us(self, ana):
        drivers.set_duty([ana], on_duty=True)

        Driver.objects.filter(pk=ana.pk).update(active=False)
        Driver.objects.filter(pk=ana.pk).update(on_duty=False)

        assert self.changes(ana) == [True, False]

    def test_has_nothing_of_other_changes(self, ana):
        drivers.set_duty([ana], on_duty=False)
        Driver.objects.filter(pk=ana.pk).update(name="Ana Lima")

        assert self.changes(ana) == []

    def test_does_not_change(self, ana):
        record(ana, (True, NOON))

        with pytest.raises(ProgrammingError, match="Cannot update rows"):
            DutyChange.objects.update(at=NOON - HOUR)


class TestOfDays:
    def test_are_the_spans_and_their_sum(self, ana):
        record(ana, (True, NOON - 5 * HOUR), (False, NOON - 3 * HOUR), (True, NOON - HOUR))

        assert of(ana) == Duty([Span(NOON - 5 * HOUR, NOON - 3 * HOUR), Span(NOON - HOUR, None)], 3 * HOUR)

    @at_each_midnight
    def test_are_parted_at_midnight_in_the_services_time_zone(self, ana, midnight):
        record(ana, (True, midnight.start - 2 * HOUR), (False, midnight.start + HOUR))

        found = days.of_days(ana, [midnight.eve, midnight.day], at=midnight.start + 3 * HOUR)

        assert found[midnight.eve] == Duty([Span(midnight.start - 2 * HOUR, midnight.start)], 2 * HOUR)
        assert found[midnight.day] == Duty([Span(midnight.start, midnight.start + HOUR)], HOUR)

    def test_that_go_on_end_at_midnight_of_the_days_before(self, ana):
        record(ana, (True, NOON - 24 * HOUR))
        yesterday, midnight = TODAY - timedelta(days=1), NOON - 12 * HOUR

        found = days.of_days(ana, [yesterday, TODAY], at=NOON)

        assert found[yesterday].spans == [Span(NOON - 24 * HOUR, midnight)]
        assert found[TODAY].spans == [Span(midnight, None)]

    def test_know_nothing_from_before_the_first_record(self, ana):
        record(ana, (False, NOON - HOUR))

        assert of(ana) == Duty()

    def test_count_a_repeated_record_once(self, ana):
        record(ana, (True, NOON - 3 * HOUR), (True, NOON - 2 * HOUR), (False, NOON - HOUR), (False, NOON))

        assert of(ana) == Duty([Span(NOON - 3 * HOUR, NOON - HOUR)], 2 * HOUR)

    def test_know_nothing_after_more_changes_than_are_read(self, ana, monkeypatch):
        monkeypatch.setattr(days, "_MOST_CHANGES", 3)
        record(ana, *((number % 2 == 0, NOON - (5 - number) * HOUR) for number in range(4)))

        assert of(ana) == Duty([Span(NOON - 5 * HOUR, NOON - 4 * HOUR)], HOUR)

    def test_are_of_one_driver(self, ana):
        record(DriverFactory.create(on_duty=False), (True, NOON - HOUR))

        assert of(ana) == Duty()

    def test_take_one_query_that_reads_from_the_last_change_before(self, ana):
        record(ana, *((number % 2 == 0, NOON - timedelta(days=9, minutes=number)) for number in range(500)))
        record(ana, (True, NOON - 26 * HOUR), (False, NOON - 25 * HOUR), (True, NOON - HOUR))

        with CaptureQueriesContext(connection) as queries:
            assert of(ana).total == HOUR

        with connection.cursor() as cursor:
            cursor.execute("ANALYZE delivery_dutychange")
            cursor.execute(f"EXPLAIN (ANALYZE) {queries[0]['sql']}")
            plan = "\n".join(line for (line,) in cursor.fetchall())
        assert len(queries) == 1
        assert plan.count("duty_change_of_driver") == 2
        assert "Rows Removed by Filter" not in plan
