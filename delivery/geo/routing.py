"""Lengths and travel times of routes: from an OSRM or a Valhalla server, or from the distance alone."""

import logging
import math
from collections.abc import Callable, Mapping, Sequence
from decimal import ROUND_HALF_UP, Decimal
from enum import StrEnum
from functools import cache, partial
from http import HTTPStatus
from itertools import accumulate, pairwise
from typing import Any, NamedTuple

import requests
from prometheus_client import Counter

from common.observability.metrics import REGISTRY
from common.workers.deadlines import BoundedCalls, DeadlinePassed, TooManyCalls
from delivery.geo.distance import Point, metres

_log = logging.getLogger(__name__)
_SECONDS = 2
# The timeout of requests applies to connecting and to each read. This deadline applies to the whole call.
_calls = BoundedCalls(most=8, seconds=_SECONDS)
# Valhalla's name of each vehicle.
_COSTINGS = {"MOTORCYCLE": "motorcycle", "CAR": "auto"}
_KMH_PER_METRE_A_SECOND = 3.6
# What cannot be. A road that is farther from a point is not the road of that place.
_FARTHEST_ROAD_M = 1000
# A leg is from road to road, and so shorter by what lies beside the roads, of which a yard or a park at most counts.
_BESIDE_M = 100
_SHORTEST = 0.99  # engines measure on a sphere
_FASTEST_KMH, _ROUNDED_SECONDS = 150, 2  # on average; more than any engine's motorway
_SLOWEST_KMH, _LONGEST_STOP_SECONDS = 3, 600  # on average, beside a wait for a ferry
# What times are from where no engine says them.
PLAIN = "distance"
_FAILURES = Counter(
    "rota_routing_failures",
    "Answers of the routing engine that do not count, so that the straight line does",
    ["engine", "reason"],
    registry=REGISTRY,
)


class Leg(NamedTuple):
    """The way between two consecutive points."""

    metres: float
    seconds: float

    @property
    def kilometres(self) -> Decimal:
        """Rounded half up to two places."""
        return Decimal(self.metres / 1000).quantize(Decimal("0.01"), ROUND_HALF_UP)


# Legs between consecutive points. Raises RoutingFailed without a complete and possible answer within 2 s.
Engine = Callable[[Sequence[Point]], list[Leg]]


class Reason(StrEnum):
    """Why there is no answer that counts, as the metric has it."""

    AWAY = "away"
    REFUSED = "refused"  # it knows no way, or not the question
    UNREADABLE = "unreadable"
    FAR_FROM_ROAD = "far_from_road"
    TOO_SHORT = "too_short"
    TOO_FAST = "too_fast"
    TOO_SLOW = "too_slow"


class RoutingFailed(Exception):
    """The routing engine did not answer with each leg, or with what cannot be. The message says why."""

    def __init__(self, why: str, reason: Reason = Reason.REFUSED) -> None:
        super().__init__(why)
        self.reason = reason


class EngineAway(RoutingFailed):
    """It did not answer in time, so it is likely not to answer to the next question either."""

    def __init__(self, why: str, reason: Reason = Reason.AWAY) -> None:
        super().__init__(why, reason)


class _Answer(NamedTuple):
    """What an engine says of a way.

    `beside`: for each leg the metres from where it was to begin and to end to where it does, on the nearest road; none
    where the engine does not tell. `line`: the way's points, if they were asked for.
    """

    legs: list[Leg]
    beside: list[tuple[float, float]]
    line: list[Point]


def engine(name: str, *, url: str, vehicle: str) -> Engine | None:
    """The engine of this name at this URL, for a type of vehicle. None for an empty URL."""
    if not url:
        return None
    return valhalla(url, vehicle=vehicle) if name == "valhalla" else osrm(url)


def osrm(url: str) -> Engine:
    """The OSRM server at `url`, whatever vehicle its data were prepared for."""
    return lambda points: _ask_osrm(url, points, with_line=False).legs


def valhalla(url: str, *, vehicle: str) -> Engine:
    """The Valhalla server at `url`, with the costing of a type of vehicle."""
    return lambda points: _ask_valhalla(url, points, vehicle).legs


def way(name: str, points: Sequence[Point], *, url: str, vehicle: str) -> list[Point]:
    """The line on the road through these points, by the engine of this name. Raises RoutingFailed."""
    if name == "valhalla":
        return _ask_valhalla(url, points, vehicle).line
    return _ask_osrm(url, points, with_line=True).line


def _ask_osrm(url: str, points: Sequence[Point], *, with_line: bool) -> _Answer:
    """What the OSRM server says. Raises RoutingFailed.

    Source: OSRM HTTP API, route service: GET /route/v1/driving/{lon},{lat};{lon},{lat}, `routes[0].legs[]` with
    `distance` in metres and `duration` in seconds, `routes[0].geometry`, and `waypoints[].distance`, the metres from
    each point to the road, which versions before 5.21 leave out.
    """

    def read(answer: Any) -> _Answer:
        route = answer["routes"][0]
        legs = [Leg(_measure(leg["distance"]), _measure(leg["duration"])) for leg in route["legs"]]
        beside = [_measure(waypoint.get("distance", 0)) for waypoint in answer.get("waypoints", [])]
        return _Answer(legs, list(pairwise(beside)), _line(route["geometry"]) if with_line else [])

    options = {"overview": "full", "geometries": "polyline6"} if with_line else {"overview": "false"}
    path = ";".join(f"{point.longitude:.6f},{point.latitude:.6f}" for point in points)
    address = f"{url.rstrip('/')}/route/v1/driving/{path}"
    return _ask("osrm", f"OSRM at {url}", points, read, "GET", address, params=options)


def _ask_valhalla(url: str, points: Sequence[Point], vehicle: str) -> _Answer:
    """What the Valhalla server says. Raises RoutingFailed.

    Source: Valhalla's turn-by-turn API: POST /route, `trip.legs[].summary` with `length` in kilometres and `time` in
    seconds, and `trip.legs[].shape`, an encoded polyline from road to road.
    """

    def read(answer: Any) -> _Answer:
        summaries = [leg["summary"] for leg in answer["trip"]["legs"]]
        legs = [Leg(_measure(summary["length"]) * 1000, _measure(summary["time"])) for summary in summaries]
        lines = [_line(leg.get("shape", "")) for leg in answer["trip"]["legs"]]
        beside = [
            (metres(start, line[0]), metres(end, line[-1]))
            for line, (start, end) in zip(lines, pairwise(points), strict=True)
            if line
        ]
        return _Answer(legs, beside, [point for line in lines for point in line])

    body = {
        "locations": [{"lat": point.latitude, "lon": point.longitude} for point in points],
        "costing": _COSTINGS[vehicle],
        "directions_type": "none",
        "units": "kilometers",
    }
    return _ask("valhalla", f"Valhalla at {url}", points, read, "POST", f"{url.rstrip('/')}/route", json=body)


def _line(encoded: str) -> list[Point]:
    """The points of an encoded polyline of six places. Raises IndexError if its end is missing.

    Source: Google's Encoded Polyline Algorithm Format: differences of latitude and longitude in turn, each shifted left
    by one bit, inverted if negative, in groups of five bits from the lowest, of which all but the last have bit 6.
    """
    numbers, at = [], 0
    while at < len(encoded):
        number = shift = 0
        while True:
            group = ord(encoded[at]) - 63
            at += 1
            number |= (group & 0x1F) << shift
            shift += 5
            if group < 0x20:  # noqa: PLR2004  # bit 6
                break
        numbers.append(~(number >> 1) if number & 1 else number >> 1)
    latitudes, longitudes = accumulate(numbers[::2]), accumulate(numbers[1::2])
    return [Point(latitude / 1e6, longitude / 1e6) for latitude, longitude in zip(latitudes, longitudes, strict=True)]


def _ask(
    name: str,
    who: str,
    points: Sequence[Point],
    read: Callable[[Any], _Answer],
    method: str,
    address: str,
    **options: Any,
) -> _Answer:
    """What `read` makes of the engine's answer, if that can be. Raises RoutingFailed, and counts that."""
    try:
        answer = _get(read, method, address, **options)
        _check(answer, points)
    except RoutingFailed as error:
        _FAILURES.labels(name, error.reason).inc()
        raise type(error)(f"{who}: {error}", error.reason) from error
    return answer


def _get(read: Callable[[Any], _Answer], method: str, address: str, **options: Any) -> _Answer:
    call = partial(
        _session().request,
        method,
        address,
        timeout=_SECONDS,
        allow_redirects=False,  # addresses of deliveries go to the configured server only
        **options,
    )
    try:
        response = _calls.run(call)
    except requests.RequestException as error:  # its text has the URL, and so the coordinates
        raise EngineAway(type(error).__name__) from error
    except (DeadlinePassed, TooManyCalls) as error:
        raise EngineAway(f"{type(error).__name__} {error}") from error
    if response.status_code != HTTPStatus.OK:
        failed = EngineAway if response.status_code >= HTTPStatus.INTERNAL_SERVER_ERROR else RoutingFailed
        raise failed(f"status {response.status_code}")
    try:
        return read(response.json())
    except (ValueError, TypeError, LookupError, ArithmeticError, AttributeError) as error:
        raise RoutingFailed(str(error), Reason.UNREADABLE) from error


def _check(answer: _Answer, points: Sequence[Point]) -> None:
    """Raise RoutingFailed unless the answer has each leg, and all can be.

    A server answers with the nearest road that its map has, however far that is: without a map of the place all
    points may lie on one road, so that the way has no length.
    """
    if len(answer.legs) != len(points) - 1:
        raise RoutingFailed(f"{len(answer.legs)} legs for {len(points)} points", Reason.UNREADABLE)
    if answer.beside and len(answer.beside) != len(answer.legs):
        raise RoutingFailed(f"{len(answer.beside)} ends for {len(answer.legs)} legs", Reason.UNREADABLE)
    for leg, (start, end), beside in zip(
        answer.legs, pairwise(points), answer.beside or [(0.0, 0.0)] * len(answer.legs), strict=True
    ):
        _check_leg(leg, metres(start, end), beside)


def _check_leg(leg: Leg, geodesic_m: float, beside: tuple[float, float]) -> None:
    if max(beside) > _FARTHEST_ROAD_M:
        raise RoutingFailed(f"a point is {max(beside):.0f} m from the nearest road", Reason.FAR_FROM_ROAD)
    to_roads = sum(min(each, _BESIDE_M) for each in beside)
    if leg.metres + to_roads < geodesic_m * _SHORTEST:
        raise RoutingFailed(f"{leg.metres:.0f} m for {geodesic_m:.0f} m in a straight line", Reason.TOO_SHORT)
    if leg.metres > (leg.seconds + _ROUNDED_SECONDS) * _FASTEST_KMH / _KMH_PER_METRE_A_SECOND:
        raise RoutingFailed(f"{leg.metres:.0f} m in {leg.seconds:.0f} s", Reason.TOO_FAST)
    if leg.seconds > _LONGEST_STOP_SECONDS + leg.metres * _KMH_PER_METRE_A_SECOND / _SLOWEST_KMH:
        raise RoutingFailed(f"{leg.seconds:.0f} s for {leg.metres:.0f} m", Reason.TOO_SLOW)


def _measure(value: Any) -> float:
    """A length or a duration. Raises TypeError, or ValueError for a negative or infinite one."""
    number = float(value)
    if not math.isfinite(number) or number < 0:
        raise ValueError(f"neither a distance nor a duration: {number}")
    return number


@cache
def _session() -> requests.Session:
    """The HTTP session of this process, which keeps connections to the routing engine open."""
    session = requests.Session()
    session.trust_env = False
    return session


def legs(
    points: Sequence[Point], *, engine: Engine | None, time_factor: float, road_factor: float, kmh: float
) -> list[Leg]:
    """The legs between consecutive points: the engine's, their times multiplied by `time_factor`.

    Without an engine, or when it fails, the geodesic distance multiplied by `road_factor` (1.3: roads are 30 % longer),
    at a constant speed.
    """
    if engine is not None:
        try:
            return [Leg(leg.metres, leg.seconds * time_factor) for leg in engine(points)]
        except RoutingFailed as error:
            _log.warning("Falling back to the geodesic distance. %s", error)
    return [by_road(metres(start, end), road_factor=road_factor, kmh=kmh) for start, end in pairwise(points)]


def by_road(geodesic_m: float, *, road_factor: float, kmh: float) -> Leg:
    """A leg without an engine: the geodesic distance multiplied by `road_factor`, at a constant speed."""
    length = geodesic_m * road_factor
    return Leg(length, length * _KMH_PER_METRE_A_SECOND / kmh)


def by_speed(points: Sequence[Point], *, road_factor: float, kmh: float) -> list[float]:
    """Seconds of each leg, see `by_road`."""
    return [leg.seconds for leg in legs(points, engine=None, time_factor=1, road_factor=road_factor, kmh=kmh)]


class Timed(NamedTuple):
    """Seconds of each leg between consecutive points, and the name of the engine they are from, or PLAIN."""

    seconds: list[float]
    engine: str


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
