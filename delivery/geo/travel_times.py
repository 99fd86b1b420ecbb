"""How long a vehicle takes from point to point: from a routing engine, or from the distance and a speed."""

import logging
from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from typing import NamedTuple

from delivery.geo.distance import Point, metres
from delivery.geo.routing_engines import Engine, EngineAway, RoutingFailed

_log = logging.getLogger(__name__)
_KMH_PER_METRE_A_SECOND = 3.6
# What times are from where no engine says them.
PLAIN = "distance"


class Timed(NamedTuple):
    """Seconds of each leg between consecutive points, and the name of the engine they are from, or PLAIN."""

    seconds: list[float]
    engine: str


def by_speed(points: Sequence[Point], *, road_factor: float, kmh: float) -> list[float]:
    """Seconds of each leg: the geodesic distance multiplied by `road_factor`, at a constant speed."""
    seconds_per_metre = road_factor * _KMH_PER_METRE_A_SECOND / kmh
    return [metres(start, end) * seconds_per_metre for start, end in pairwise(points)]


class TravelTimes:
    """Travel times of a number of routes. Once the engine is away it is not asked for the others. Threads may share it.

    `engine_of` gives the engine for a vehicle, or None; `kmh` its speed without one. The engine's times are multiplied
    by the vehicle's `factor`, because without data of traffic they are those of free streets.
    """

    def __init__(
        self,
        name: str,
        engine_of: Callable[[str], Engine | None],
        *,
        factor: Mapping[str, float],
        road_factor: float,
        kmh: Mapping[str, float],
    ) -> None:
        self._name, self._engine_of, self._factor = name, engine_of, factor
        self._road_factor, self._kmh = road_factor, kmh
        self._is_away = False

    def of(self, points: Sequence[Point], *, vehicle: str) -> Timed:
        """Times from the first of these points to the last, by the engine unless that fails."""
        engine = None if self._is_away else self._engine_of(vehicle)
        if engine is not None:
            try:
                return Timed([leg.seconds * self._factor[vehicle] for leg in engine(points)], self._name)
            except EngineAway as error:
                self._is_away = True
                _log.warning("Falling back to travel times by speed. %s", error)
            except RoutingFailed as error:
                _log.warning("Falling back to travel times by speed for one route. %s", error)
        return Timed(by_speed(points, road_factor=self._road_factor, kmh=self._kmh[vehicle]), PLAIN)
