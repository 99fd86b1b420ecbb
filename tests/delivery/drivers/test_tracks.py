"""Whole drives: from what phones are told of their place, by what the page sends, to where the shop sees the driver.

The shop sees a driver who moves at 11 m/s at most 110 m behind: positions are sent every five seconds, and satellites
are 10 m wrong, seldom 30 m.

A real phone is not at hand, so the errors are taken from what was measured and documented:

- Android gives the accuracy as the radius within which the place is with 68 % probability (android.location.Location,
  getAccuracy); Apple says of its own 63 to 68 % (developer.apple.com/forums/thread/699996).
- Satellites in a town: 7 to 13 m on average (Merry and Bettinger, "Smartphone GPS accuracy study in an urban
  environment", PLOS ONE 14(7), 2019, doi 10.1371/journal.pone.0219890).
- WiFi: median 74 m, radio cells: median 600 m (Zandbergen, "Accuracy of iPhone Locations", Transactions in GIS 13,
  2009).
- The moment of a position is by the satellites' clock on some phones and by the phone's on others, and the phone's can
  jump (Location.getTime; on GitHub Lyokone/flutterlocation issue 818, mauron85/cordova-plugin-background-geolocation
  issue 141).
- The first position may be an old one that the system had kept (Apple, CLLocationManagerDelegate,
  locationManager(_:didUpdateTo:from:)).
"""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from random import Random
from typing import Any

import pytest

from delivery.drivers import phone_data
from delivery.geo import service_area
from delivery.geo.distance import Point, away_from, metres
from delivery.geo.position_filter import Limits, SentPosition, plausible
from tests.factories import PICKUP

START = datetime(2026, 11, 22, 12, tzinfo=UTC)
SECONDS = 600
SPEED = 11.0  # metres a second: 40 km/h
_STANDS = range(240, 300)  # seconds at a traffic light
_MEDIAN = math.sqrt(math.log(2) / -math.log(0.32))  # of an error whose 68 % radius is 1
WIFI, CELL = 74 / _MEDIAN, 600 / _MEDIAN
_LIMITS = Limits([service_area.BRAZIL], kmh=200)
NEAR = 110.0


def place(second: float) -> Point:
    """Where the driver is."""
    driven = min(second, _STANDS.start) + max(second - _STANDS.stop, 0)
    return away_from(PICKUP, metres=driven * SPEED, bearing=30)


@dataclass(frozen=True)
class Fix:
    """A position that the page is told at a second of the drive. `age`: how old it is then."""

    second: float
    point: Point
    accuracy: float
    by_satellites: bool = True
    age: float = 0.0


def satellites(start: int, stop: int, *, accuracy: float = 10.0, seed: int = 1) -> Iterator[Fix]:
    """A position each second, a third of a second old."""
    random = Random(seed)  # noqa: S311  # the same in each run
    for second in range(start, stop):
        yield Fix(second, _scattered(place(second), accuracy, random), accuracy, age=0.3)


def network(start: int, stop: int, *, accuracy: float, every: int = 10, seed: int = 2) -> Iterator[Fix]:
    """Positions by WiFi or radio cells, dated by the phone's clock."""
    random = Random(seed)  # noqa: S311  # the same in each run
    for second in range(start, stop, every):
        yield Fix(second, _scattered(place(second), accuracy, random), accuracy, by_satellites=False)


def elsewhere(start: int, stop: int, *, accuracy: float) -> Iterator[Fix]:
    """Positions by a base station whose place is known wrongly, 33 km away."""
    for second in range(start, stop, 5):
        yield Fix(second, away_from(PICKUP, metres=33_000, bearing=200), accuracy, by_satellites=False)


def _scattered(point: Point, accuracy: float, random: Random) -> Point:
    distance = accuracy * math.sqrt(math.log(1 - random.random()) / math.log(0.32))
    return away_from(point, metres=distance, bearing=random.uniform(0, 360))


@dataclass
class Drive:
    """A drive over which a page sends to the service, as positions.js does.

    `ahead`: seconds of the phone's clock at a second. `takes`: seconds that a request takes. `fails`: which requests
    get no answer, of which `reach` the service.
    """

    ahead: Callable[[float], float] = lambda _second: 0.0
    takes: Callable[[int], float] = lambda _request: 0.2
    fails: Callable[[float], bool] = lambda _second: False
    reach: bool = False
    kept: list[SentPosition] = field(default_factory=list)
    seen: dict[int, Point] = field(default_factory=dict)  # by second, where the shop sees the driver
    _unsent: list[dict[str, Any]] = field(default_factory=list)
    _doubted: list[dict[str, Any]] = field(default_factory=list)
    _taken: Fix | None = None
    _requests: int = 0

    def run(self, *fixes: Iterator[Fix]) -> "Drive":
        by_second: dict[int, list[Fix]] = {}
        for fix in (each for source in fixes for each in source):
            by_second.setdefault(int(fix.second), []).append(fix)
        free_at = 0.0
        for second in range(SECONDS):
            for fix in by_second.get(second, []):
                self._take(fix)
            if second % 5 == 4 and second >= free_at and self._unsent:
                free_at = second + self._send(second)
            if self.kept:
                self.seen[second] = max(self.kept, key=lambda each: each.at).point
        return self

    def worst_seen(self, start: int, stop: int = SECONDS) -> float:
        """Metres at most between where the shop saw the driver and where the driver was."""
        return max(metres(self.seen[second], place(second)) for second in range(start, stop))

    def worst_kept(self, start: int = 0) -> float:
        """Metres at most between the positions that were kept and where the driver was at their moments."""
        moments = [(each.point, (each.at - START).total_seconds()) for each in self.kept]
        return max(metres(point, place(second)) for point, second in moments if second >= start)

    def _clock(self, second: float) -> str:
        return (START + timedelta(seconds=second + self.ahead(second))).isoformat()

    def _take(self, fix: Fix) -> None:
        if self._taken is not None:
            is_standing = metres(self._taken.point, fix.point) < 10
            if fix.second - self._taken.second < (30 if is_standing else 1):
                return
        self._taken = fix
        told = fix.second - fix.age
        at = (START + timedelta(seconds=told)).isoformat() if fix.by_satellites else self._clock(told)
        place_ = {"latitude": fix.point.latitude, "longitude": fix.point.longitude, "accuracy": fix.accuracy}
        self._unsent.append({**place_, "at": at, "heardAt": self._clock(fix.second)})

    def _send(self, second: int) -> float:
        """Send a report, and return how long that takes."""
        self._requests += 1
        some = self._unsent[:98]
        report = [*self._doubted, *some]
        took = self.takes(self._requests)
        fails = self.fails(second)
        if not fails or self.reach:
            kept, too_fast = self._receive({"sentAt": self._clock(second), "positions": report}, second + took)
        if fails:
            return 15  # the page's deadline
        self._doubted = report[-2:] if too_fast and not kept else []
        del self._unsent[: len(some)]
        return took

    def _receive(self, body: dict[str, Any], second: float) -> tuple[int, int]:
        """As `driver_devices.receive_positions`: the number of positions that are kept, and of those too far away."""
        at = START + timedelta(seconds=second)
        last = max(self.kept, key=lambda each: each.at, default=None)
        kept, dropped = plausible(phone_data.positions(body, at=at), last=last, limits=_LIMITS, at=at)
        self.kept += kept
        return len(kept), dropped["too_fast"]  # type: ignore[index]  # a StrEnum's member equals its text


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
