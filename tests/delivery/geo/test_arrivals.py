"""Arrival times from known travel times."""

from datetime import UTC, datetime, timedelta

import pytest

from delivery.geo import arrivals
from delivery.geo.arrivals import Known, Service
from tests.factories import DROPOFFS, PICKUP

NOW = datetime(2026, 3, 2, 12, 0, tzinfo=UTC)
SOMEWHERE = DROPOFFS[2]
SERVICE = Service(pickup=5, stop=2)


def minutes(*found):
    return [(each.at - NOW).total_seconds() / 60 for each in found]


class TestEstimates:
    def test_add_up_the_legs_and_the_time_at_each_place_before(self):
        way = arrivals.way(Known(SOMEWHERE, NOW), pickup=PICKUP, stops=DROPOFFS, service=SERVICE)

        found = arrivals.estimates(way, [600, 60, 120, 180], now=NOW)

        assert minutes(*found) == [10 + 5 + 1, 16 + 2 + 2, 20 + 2 + 3]

    def test_count_from_the_moment_of_the_position(self):
        way = arrivals.way(
            Known(SOMEWHERE, NOW - timedelta(minutes=4)), pickup=None, stops=DROPOFFS[:1], service=SERVICE
        )

        assert minutes(*arrivals.estimates(way, [600], now=NOW)) == [6]

    def test_are_never_in_the_past(self):
        way = arrivals.way(Known(SOMEWHERE, NOW - timedelta(hours=1)), pickup=None, stops=DROPOFFS[:2], service=SERVICE)

        first, second = arrivals.estimates(way, [600, 600], now=NOW)

        assert (first.at, first.earliest) == (NOW, NOW)
        assert minutes(second) == [10]
        assert first.latest > NOW

    def test_of_an_overdue_driver_follow_each_other(self):
        way = arrivals.way(Known(SOMEWHERE, NOW - timedelta(hours=3)), pickup=PICKUP, stops=DROPOFFS, service=SERVICE)

        found = arrivals.estimates(way, [600, 60, 120, 180], now=NOW)

        assert minutes(*found) == [1, 1 + 2 + 2, 5 + 2 + 3]

    @pytest.mark.parametrize("seconds", [0, 60, 3600])
    def test_lie_within_their_spread_which_grows_with_the_time_left(self, seconds):
        way = arrivals.way(Known(SOMEWHERE, NOW), pickup=None, stops=DROPOFFS[:2], service=SERVICE)

        near, far = arrivals.estimates(way, [seconds, 3600], now=NOW)

        assert NOW <= near.earliest <= near.at < near.latest
        assert far.latest - far.earliest > near.latest - near.earliest
