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

        found = arrivals.estimates(way, [600, 60, 120, 180])

        assert minutes(*found) == [10 + 5 + 1, 16 + 2 + 2, 20 + 2 + 3]

    def test_count_from_the_moment_of_the_position(self):
        way = arrivals.way(
            Known(SOMEWHERE, NOW - timedelta(minutes=4)), pickup=None, stops=DROPOFFS[:1], service=SERVICE
        )

        assert minutes(*arrivals.estimates(way, [600])) == [6]

    def test_do_not_move_while_nothing_is_heard_of_the_driver(self):
        heard = NOW - timedelta(hours=3)
        way = arrivals.way(Known(SOMEWHERE, heard), pickup=PICKUP, stops=DROPOFFS, service=SERVICE)

        found = arrivals.estimates(way, [600, 60, 120, 180])

        assert minutes(*found) == [minute - 180 for minute in (16, 20, 25)]

    def test_begin_when_the_driver_was_heard_of(self):
        way = arrivals.way(
            Known(SOMEWHERE, NOW - timedelta(minutes=9)), pickup=None, stops=DROPOFFS[:1], service=SERVICE
        )

        (found,) = arrivals.estimates(way, [30])

        assert found.earliest == NOW - timedelta(minutes=9)
        assert found.latest == found.at + timedelta(seconds=69)

    @pytest.mark.parametrize("seconds", [0, 60, 3600])
    def test_lie_within_their_spread_which_grows_with_the_time_left(self, seconds):
        way = arrivals.way(Known(SOMEWHERE, NOW), pickup=None, stops=DROPOFFS[:2], service=SERVICE)

        near, far = arrivals.estimates(way, [seconds, 3600])

        assert NOW <= near.earliest <= near.at < near.latest
        assert far.latest - far.earliest > near.latest - near.earliest
