"""Changes of the rules of dispatch."""

import pytest
from django.core.exceptions import ValidationError
from pghistory.models import Events

from common.postgresql.row_history import Difference, changes, made_by
from delivery.actions import dispatch_rules
from delivery.models import DispatchRules, DispatchRulesChange, Rules
from tests.cases import in_turn
from tests.factories import BY

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _row():
    DispatchRules.objects.get_or_create()


def recorded():
    found = Events.objects.across(DispatchRulesChange).filter(pgh_label="changed")
    return [(made_by(event), change.differences) for event, change in zip(found, changes(found), strict=True)]


class TestChange:
    def test_holds_at_once_in_this_process(self, django_capture_on_commit_callbacks):
        with django_capture_on_commit_callbacks(execute=True):
            dispatch_rules.change(values={"dispatch_radius_km": 3, "driver_share_percent": "70.5"}, by=BY)

        current = DispatchRules.current()
        assert (current.dispatch_radius_km, str(current.driver_share_percent)) == (3, "70.50")

    def test_does_not_hold_before_it_is_committed(self):
        dispatch_rules.change(values={"dispatch_radius_km": 3}, by=BY)

        assert DispatchRules.current() == Rules()

    def test_is_recorded_with_who_made_it(self):
        dispatch_rules.change(values={"dispatch_radius_km": 3, "road_factor": "1.3"}, by=BY)

        assert recorded() == [(BY, [Difference("dispatch radius", "15 km", "3 km")])]

    def test_leaves_the_other_rules_to_who_changes_them_at_the_same_time(self, monkeypatch):
        def check(row):
            DispatchRules.objects.update(road_factor=2)

        monkeypatch.setattr(DispatchRules, "full_clean", check)

        dispatch_rules.change(values={"dispatch_radius_km": 3}, by=BY)

        row = DispatchRules.objects.get()
        assert (row.dispatch_radius_km, row.road_factor) == (3, 2)

    @in_turn(
        ("name", "value"),
        [
            ("road_factor", "0.999"), ("road_factor", "NaN"), ("road_factor", "1e400"), ("road_factor", ""),
            ("speed_kmh_car", "fast"), ("position_fresh_seconds", "1.5"), ("streets_from_openstreetmap", "maybe"),
            ("offer_ttl", "60"), ("id", "2"),
        ],
    )  # fmt: skip  # a list of cases
    def test_refuses_what_is_no_value_of_a_rule(self, name, value):
        with pytest.raises(ValidationError) as refused:
            dispatch_rules.change(values={"dispatch_radius_km": "3", name: value}, by=BY)

        assert [*refused.value.message_dict] == [name]
        assert DispatchRules.objects.get().rules == Rules()

    def test_makes_the_row_where_it_is_missing(self):
        DispatchRules.objects.all().delete()

        assert dispatch_rules.change(values={"speed_kmh_car": 30}, by=BY).rules == Rules(speed_kmh_car=30)
