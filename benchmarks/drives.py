"""Simulated drives of routes: where the driver is at each moment, and when each stop is reached.

A driver takes the way that is fastest on free streets, at speeds that vary by driver, hour and block, waits at red
lights, and stays at A and at each stop for times of which a few are long. The parameters are assumptions: medians of 4
and 3 minutes at A and at a stop, half of the lights red, cars slowed down by traffic more than motorcycles.
"""

import math
import random
from bisect import bisect_right
from dataclasses import dataclass
from itertools import pairwise

from benchmarks.streets import Crossing, Streets
from delivery.geo.distance import Point, away_from

_PICKUP_MINUTES, _STOP_MINUTES = 4.0, 3.0  # medians
_SPREAD_OF_SERVICE = 0.5  # standard deviation of the logarithm
_RED = 0.5
_LONGEST_RED_SECONDS = {"CAR": 50.0, "MOTORCYCLE": 35.0}
_MEDIAN_TRAFFIC = {"CAR": 0.75, "MOTORCYCLE": 0.9}  # speed as a share of what is allowed
_SPREADS = {"driver": 0.12, "hour": 0.18, "block": 0.25}
_GPS_METRES = 12.0


@dataclass(frozen=True)
class Drive:
    """Seconds from the acceptance. `places`: moments in order, each with where the driver is."""

    vehicle: str
    pickup: Point
    stops: list[Point]
    places: list[tuple[float, Point]]
    collected: float
    arrivals: list[float]
    departures: list[float]

    def place(self, at: float) -> Point:
        """Where the driver is at a moment."""
        number = bisect_right(self.places, at, key=lambda each: each[0])
        if number == 0 or number == len(self.places):
            return self.places[min(number, len(self.places) - 1)][1]
        (before, start), (after, end) = self.places[number - 1 : number + 1]
        share = (at - before) / (after - before)
        return Point(
            start.latitude + (end.latitude - start.latitude) * share,
            start.longitude + (end.longitude - start.longitude) * share,
        )


class Drives:
    """Makes drives, the same ones for the same seed."""

    def __init__(self, streets: Streets, seed: int) -> None:
        self._streets = streets
        self._random = random.Random(seed)  # noqa: S311  # a simulation

    def drive(self, vehicle: str) -> Drive:
        """A route with one to three stops, each within about two kilometres of the place before."""
        pickup = self._streets.crossing(self._random)
        crossings = [self._streets.crossing_near(pickup, self._random, blocks=12), pickup]
        for _stop in range(self._random.randint(1, 3)):
            crossings.append(self._streets.crossing_near(crossings[-1], self._random, blocks=14))
        factor = _MEDIAN_TRAFFIC[vehicle] * self._varied(_SPREADS["driver"]) * self._varied(_SPREADS["hour"])
        places = [(0.0, self._streets.places[crossings[0]])]
        arrivals, departures = [], []
        for number, (start, end) in enumerate(pairwise(crossings)):
            self._go(start, end, vehicle, factor, places)
            arrivals.append(places[-1][0])
            minutes = _STOP_MINUTES if number else _PICKUP_MINUTES
            departures.append(arrivals[-1] + minutes * 60 * self._varied(_SPREAD_OF_SERVICE))
            places.append((departures[-1], places[-1][1]))
        points = [self._streets.places[crossing] for crossing in crossings]
        return Drive(vehicle, points[1], points[2:], places, departures[0], arrivals[1:], departures[1:])

    def fix(self, drive: Drive, at: float) -> Point:
        """Where the driver's phone says that it is at a moment."""
        return away_from(
            drive.place(at), metres=abs(self._random.gauss(0, _GPS_METRES)), bearing=self._random.uniform(0, 360)
        )

    def _go(
        self, start: Crossing, end: Crossing, vehicle: str, factor: float, places: list[tuple[float, Point]]
    ) -> None:
        for block in self._streets.way(start, end):
            seconds = block.metres / (block.kmh * factor * self._varied(_SPREADS["block"])) * 3.6
            places.append((places[-1][0] + seconds, self._streets.places[block.end]))
            if block.has_light and self._random.random() < _RED:
                waited = self._random.uniform(0, _LONGEST_RED_SECONDS[vehicle])
                places.append((places[-1][0] + waited, places[-1][1]))

    def _varied(self, spread: float) -> float:
        """A factor whose median is 1."""
        return math.exp(self._random.gauss(0, spread))
