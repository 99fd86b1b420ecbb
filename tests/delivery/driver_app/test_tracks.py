"""Whole drives: from what phones are told of their place, by the page's reports, to where the shop sees the driver.

The shop sees a driver who moves at 11 m/s at most 110 m behind: reports are sent every five seconds, and satellites are
10 m wrong, seldom 30 m.
"""

from itertools import pairwise

import pytest

from delivery.geo.distance import away_from
from tests.delivery.driver_app.tracks import CELL, SECONDS, WIFI, Drive, Fix, elsewhere, network, satellites
from tests.factories import PICKUP

NEAR = 110.0


def seen_all_the_way(drive, start=10):
    return drive.worst_seen(start) < NEAR and drive.worst_kept(start) < NEAR


class TestDrive:
    def test_by_satellites_is_seen_all_the_way(self):
        drive = Drive().run(satellites(0, SECONDS))

        assert seen_all_the_way(drive)
        assert drive.worst_kept() < 50

    def test_by_wifi_alone_is_seen_as_far_as_it_tells(self):
        drive = Drive().run(network(0, SECONDS, accuracy=WIFI))

        assert drive.worst_seen(10) < 3 * WIFI + 20 * 11

    def test_through_a_tunnel_is_seen_again_behind_it(self):
        """In it the phone knows its radio cell, and behind it satellites are inexact at first."""
        drive = Drive().run(
            satellites(0, 100),
            network(100, 190, accuracy=CELL),
            satellites(190, 195, accuracy=60, seed=3),
            satellites(195, SECONDS, seed=4),
        )

        assert drive.worst_seen(10, 100) < NEAR
        assert drive.worst_seen(100, 190) < 3 * CELL
        assert drive.worst_seen(205) < NEAR


class TestWrongPositions:
    @pytest.mark.parametrize("accuracy", [20.0, 900.0])
    def test_at_first_are_left_within_seconds(self, accuracy):
        drive = Drive().run(elsewhere(0, 10, accuracy=accuracy), satellites(12, SECONDS))

        assert drive.worst_seen(5, 10) > 30_000
        assert seen_all_the_way(drive, 25)

    def test_between_right_ones_are_not_seen(self):
        drive = Drive().run(satellites(0, 100), elsewhere(100, 130, accuracy=900.0), satellites(130, SECONDS, seed=3))

        assert drive.worst_seen(10) < 30 * 11 + NEAR

    def test_among_right_ones_are_not_seen(self):
        drive = Drive().run(satellites(0, SECONDS), elsewhere(50, SECONDS, accuracy=20.0))

        assert seen_all_the_way(drive)

    def test_that_the_system_had_kept_are_not_taken_for_new_ones(self):
        """Eight minutes old and 5 km away."""
        old = Fix(0, away_from(PICKUP, metres=5_000, bearing=100), 10.0, age=480)

        drive = Drive().run(iter([old]), satellites(1, SECONDS))

        assert seen_all_the_way(drive)


class TestClock:
    @pytest.mark.parametrize("ahead", [-7200, 30, 900])
    def test_of_the_phone_that_is_wrong_hides_nothing(self, ahead):
        drive = Drive(ahead=lambda _second: ahead).run(satellites(0, SECONDS))

        assert seen_all_the_way(drive)

    @pytest.mark.parametrize("ahead", [-30, 7200])
    def test_of_satellites_and_of_the_phone_may_date_positions_in_turn(self, ahead):
        drive = Drive(ahead=lambda _second: ahead).run(satellites(0, SECONDS), network(3, SECONDS, accuracy=30.0))

        assert seen_all_the_way(drive)

    @pytest.mark.parametrize("before", [-60, 7200])
    @pytest.mark.parametrize("source", [satellites, network])
    def test_that_is_put_right_on_the_way_hides_nothing_for_long(self, before, source):
        fixes = source(0, SECONDS) if source is satellites else source(0, SECONDS, accuracy=30.0, every=2)

        drive = Drive(ahead=lambda second: before if second < 152 else 0).run(fixes)

        assert drive.worst_seen(10, 152) < NEAR
        assert drive.worst_seen(165) < NEAR


class TestLine:
    def test_that_fails_for_minutes_leaves_no_gap(self):
        drive = Drive(fails=lambda second: 100 <= second < 340).run(satellites(0, SECONDS))

        moments = sorted(each.at for each in drive.kept)
        assert max(later - earlier for earlier, later in pairwise(moments)).total_seconds() <= 31
        assert drive.worst_seen(365) < NEAR

    def test_that_loses_answers_stores_nothing_twice(self):
        drive = Drive(fails=lambda second: second % 35 == 4, reach=True, takes=lambda number: 0.2 + number % 3 * 0.3)
        drive.run(satellites(0, SECONDS))

        told = [each.told_at for each in drive.kept]
        assert len(told) == len(set(told))
        assert drive.worst_seen(25) < NEAR + 15 * 11

    def test_that_is_slow_shows_the_driver_late(self):
        drive = Drive(takes=lambda number: 2 + number % 4 * 3).run(satellites(0, SECONDS))

        assert drive.worst_seen(20) < NEAR + 20 * 11
