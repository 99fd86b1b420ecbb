"""The row of the rules of dispatch, and how often a process reads it."""

from decimal import Decimal
from types import SimpleNamespace

import pytest
from django.db import IntegrityError, connection, transaction
from django.test.utils import CaptureQueriesContext

from common.cached import Cached
from delivery.models import DispatchRules, Rules, dispatch_rules
from delivery.models.dispatch_rules import CACHED_SECONDS, RANGES
from tests.cases import in_turn
from tests.delivery.drivers.phones import now, phone
from tests.factories import PICKUP

pytestmark = pytest.mark.django_db


@pytest.fixture
def row():
    return DispatchRules.objects.get_or_create()[0]


@pytest.fixture
def clock(monkeypatch):
    """The monotonic clock of a process that has read nothing yet; `clock[0]` is set to its seconds."""
    seconds = [1000.0]
    monkeypatch.setattr("common.cached.time", SimpleNamespace(monotonic=lambda: seconds[0]))
    monkeypatch.setattr(dispatch_rules, "_CACHED", Cached(dispatch_rules._read, seconds=CACHED_SECONDS))
    return seconds


def reads(queries):
    return [query["sql"] for query in queries if "delivery_dispatchrules" in query["sql"]]


def step(name):
    """The smallest difference that the column holds."""
    return Decimal(1).scaleb(-getattr(DispatchRules._meta.get_field(name), "decimal_places", 0))


class TestRow:
    def test_begins_with_the_rules_of_a_new_installation(self):
        assert DispatchRules().rules == Rules()

    def test_has_a_range_for_each_figure(self):
        columns = [field.name for field in DispatchRules._meta.concrete_fields[1:]]

        assert columns == [*RANGES, "streets_from_openstreetmap"]

    @in_turn("name", RANGES)
    def test_holds_values_to_the_ends_of_their_ranges(self, row, name):
        for end in RANGES[name]:
            DispatchRules.objects.update(**{name: end})

            assert getattr(DispatchRules.objects.get().rules, name) == pytest.approx(float(end))

    @in_turn("name", RANGES)
    @in_turn("end", [0, 1])
    def test_refuses_a_value_outside_of_its_range(self, row, name, end):
        beyond = RANGES[name][end] + (step(name) if end else -step(name))

        with pytest.raises(IntegrityError, match="check constraint"), transaction.atomic():
            DispatchRules.objects.update(**{name: beyond})

    @in_turn("name", [name for name in RANGES if name != "position_fresh_seconds"])
    def test_refuses_what_is_no_number(self, row, name):
        with pytest.raises(IntegrityError, match=f"dispatch_{name}_range"), connection.cursor() as cursor:
            cursor.execute(f"UPDATE delivery_dispatchrules SET {name} = 'NaN'")  # noqa: S608  # a column

    def test_is_the_only_one(self, row):
        row.pk = 2

        with pytest.raises(IntegrityError, match="dispatch_rules_one_row"), transaction.atomic():
            row.save(force_insert=True)


class TestCurrent:
    def test_are_those_of_a_new_installation_without_a_row(self, clock):
        DispatchRules.objects.all().delete()

        assert DispatchRules.current() == Rules()

    def test_are_at_most_five_seconds_old(self, row, clock):
        DispatchRules.current()
        DispatchRules.objects.update(dispatch_radius_km=3)  # as another process does
        clock[0] += 4.99
        before = DispatchRules.current().dispatch_radius_km
        clock[0] += 0.02

        assert (before, DispatchRules.current().dispatch_radius_km) == (15, 3)

    def test_are_read_once_by_many_requests_of_phones(self, row, clock):
        ana = phone()
        here = {"latitude": PICKUP.latitude, "longitude": PICKUP.longitude, "accuracy": 6.5}
        DispatchRules.forget_current()
        with CaptureQueriesContext(connection) as queries:
            reported = [
                ana.post("positions/", {"sentAt": now(), "positions": [{**here, "at": now()}]}) for _number in range(10)
            ]
            of_positions = len(queries)
            shown = [ana.get("state/") for _number in range(10)]

        assert {response.status_code for response in (*reported, *shown)} == {200}
        assert reads(queries.captured_queries[:of_positions]) == []
        assert len(reads(queries)) == 1
