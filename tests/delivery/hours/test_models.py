"""Hours of service: what a row may hold, which of several holds, and how often a process reads them."""

from datetime import UTC, date, datetime
from types import SimpleNamespace

import pytest
from django.core.exceptions import ValidationError
from django.db import IntegrityError, transaction

from common.cached import Cached
from delivery.hours import models
from delivery.hours.models import CACHED_SECONDS, ServiceHours
from delivery.hours.timetable import Day
from tests.cases import in_turn
from tests.factories import IntegratorFactory
from tests.service_hours import make, row

pytestmark = pytest.mark.django_db
NOON = datetime(2026, 11, 24, 15, tzinfo=UTC)  # in São Paulo


@pytest.fixture
def shop():
    return IntegratorFactory.create()


class TestInForce:
    def test_is_always_open_without_hours(self, shop):
        ServiceHours.forget_in_force()

        assert ServiceHours.in_force().opens_at(shop.pk, at=NOON) == NOON

    @pytest.mark.parametrize("is_own_first", [True, False])
    def test_takes_the_account_before_the_installation(self, shop, is_own_first):
        rows = [make(integrator=of) for of in ((shop, None) if is_own_first else (None, shop))]
        general, own = reversed(rows) if is_own_first else rows
        found = ServiceHours.in_force()

        assert found.of(shop.pk) == own
        assert found.of(IntegratorFactory.create().pk) == general

    def test_goes_by_its_own_zone_or_else_that_of_the_service(self, shop, settings):
        settings.TIME_ZONE = "America/Santiago"
        make("12:30-13:00")
        make("12:30-13:00", integrator=shop, time_zone="America/Manaus")
        found = ServiceHours.in_force()

        assert found.opens_at(IntegratorFactory.create().pk, at=NOON) == NOON.replace(minute=30)
        assert found.opens_at(shop.pk, at=NOON) == NOON.replace(hour=16, minute=30)

    def test_is_read_once_in_five_seconds(self, shop, monkeypatch, django_assert_num_queries):
        seconds = [1000.0]
        monkeypatch.setattr("common.cached.time", SimpleNamespace(monotonic=lambda: seconds[0]))
        monkeypatch.setattr(models, "_CACHED", Cached(models._read, seconds=CACHED_SECONDS))

        with django_assert_num_queries(1):
            ServiceHours.in_force()
            seconds[0] += CACHED_SECONDS - 0.1
            ServiceHours.in_force()
        with django_assert_num_queries(1):
            seconds[0] += 0.2
            ServiceHours.in_force()


class TestClean:
    def test_writes_hours_as_the_database_has_them(self):
        hours = row("13:00-18:00,8:00–12:00", days_off="25/12/2026 Natal\r\n24/12/2026 8:00-12:00 Véspera")

        hours.full_clean()
        hours.save()

        assert (hours.monday, hours.days_off) == (
            "08:00-12:00, 13:00-18:00",
            "2026-12-24 08:00-12:00 Véspera\n2026-12-25 Natal",
        )
        assert hours.timetable.day(date(2026, 12, 25)) == Day((), "Natal")

    @pytest.mark.parametrize(
        ("values", "faults"),
        [
            ({"monday": "8-18"}, {"monday": ["'8-18' is no span such as 08:00-12:00 or 22:00-02:00."]}),
            ({"friday": "8:00-9:00,8:30-10:00"}, {"friday": ["The spans overlap, or there are more than six."]}),
            ({"days_off": "Natal"}, {"days_off": [
                "'Natal' is no date with a name of at most 60 characters, its date occurs twice, or there are over 100."
            ]}),
            (dict.fromkeys(models.WEEKDAYS, ""), {"__all__": ["Fill in the hours of at least one day."]}),
        ],
    )  # fmt: skip  # a table
    def test_names_what_is_wrong(self, values, faults):
        with pytest.raises(ValidationError) as refused:
            row(**values).full_clean()

        assert refused.value.message_dict == faults

    def test_refuses_a_second_one_of_a_scope(self):
        make()

        with pytest.raises(ValidationError, match="There are hours of this account"):
            row().full_clean()

    def test_bounds_the_rows(self, monkeypatch, shop):
        monkeypatch.setattr(models, "MOST_ROWS", 1)
        first = make()
        first.full_clean()

        with pytest.raises(ValidationError, match="no more than 1"):
            row(integrator=shop).full_clean()


class TestDatabase:
    @in_turn(
        ("values", "constraint"),
        [
            ({"monday": "8-18"}, "spans"),
            ({"sunday": "08:00-24:30"}, "spans"),
            ({"sunday": "08:00-12:00 13:00-18:00"}, "spans"),
            ({"days_off": "2026-12-25"}, "days_off"),
            ({"days_off": "2026-12-25 Natal\nNatal"}, "days_off"),
            ({"time_zone": "Mars/Olympus"}, "time_zone"),
            (dict.fromkeys(models.WEEKDAYS, ""), "some_day"),
        ],
    )
    def test_refuses(self, values, constraint):
        with pytest.raises(IntegrityError, match=f"service_hours_{constraint}"), transaction.atomic():
            row(**values).save()

    def test_accepts_what_is_written(self):
        everything = "00:00-06:00, 22:00-02:00"
        row(everything, days_off=f"2026-12-24 {everything} Véspera de Natal").save()

        assert ServiceHours.objects.count() == 1

    def test_has_one_row_of_a_scope(self, shop):
        for values in ({}, {"integrator": shop}):
            row(**values).save()

            with pytest.raises(IntegrityError, match="service_hours_one_of_a_scope"), transaction.atomic():
                row(**values).save()
