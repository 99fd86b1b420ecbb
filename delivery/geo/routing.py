"""Lengths and travel times of routes: from an OSRM or a Valhalla server, or from the distance alone."""

import logging
import math
from collections.abc import Callable, Mapping, Sequence
from decimal import ROUND_HALF_UP, Decimal
from functools import cache, partial
from http import HTTPStatus
from itertools import accumulate, pairwise
from typing import Any, NamedTuple, TypeVar

import requests

from common.deadlines import BoundedCalls, DeadlinePassed, TooManyCalls
from delivery.geo.distance import Point, metres

T = TypeVar("T")
_log = logging.getLogger(__name__)
NAMES = ("osrm", "valhalla")
_SECONDS = 2
# The timeout of requests applies to connecting and to each read. This deadline applies to the whole call.
_calls = BoundedCalls(most=8, seconds=_SECONDS)
# Valhalla's name of each vehicle.
_COSTINGS = {"MOTORCYCLE": "motorcycle", "CAR": "auto"}
_KMH_PER_METRE_A_SECOND = 3.6
# What times are from where no engine says them.
PLAIN = "distance"


class Leg(NamedTuple):
    """The way between two consecutive points."""

    metres: float
    seconds: float

    @property
    def kilometres(self) -> Decimal:
        """Rounded half up to two places."""
        return Decimal(self.metres / 1000).quantize(Decimal("0.01"), ROUND_HALF_UP)


# Legs between consecutive points. Raises RoutingFailed without a complete answer within 2 s.
Engine = Callable[[Sequence[Point]], list[Leg]]


class RoutingFailed(Exception):
    """The routing engine did not answer with each leg, perhaps because no road is near. The message says why."""


class EngineAway(RoutingFailed):
    """It did not answer in time, so it is likely not to answer to the next question either."""


def engine(name: str, *, url: str, vehicle: str) -> Engine | None:
    """The engine of this name at this URL, for a type of vehicle. None for an empty URL."""
    if not url:
        return None
    return valhalla(url, vehicle=vehicle) if name == "valhalla" else osrm(url)


def osrm(url: str) -> Engine:
    """The OSRM server at `url`, whatever vehicle its data were prepared for.

    Source: OSRM HTTP API, route service: GET /route/v1/driving/{lon},{lat};{lon},{lat}, `routes[0].legs[]` with
    `distance` in metres and `duration` in seconds.
    """

    def read(answer: Any) -> list[Leg]:
        return [Leg(_measure(leg["distance"]), _measure(leg["duration"])) for leg in answer["routes"][0]["legs"]]

    def legs(points: Sequence[Point]) -> list[Leg]:
        who = f"OSRM at {url}"
        return _complete(
            _ask(who, read, "GET", _address_of_osrm(url, points), params={"overview": "false"}), points, who
        )

    return legs


def valhalla(url: str, *, vehicle: str) -> Engine:
    """The Valhalla server at `url`, with the costing of a type of vehicle.

    Source: Valhalla's turn-by-turn API: POST /route, `trip.legs[].summary` with `length` in kilometres and `time` in
    seconds.
    """

    def read(answer: Any) -> list[Leg]:
        summaries = [leg["summary"] for leg in answer["trip"]["legs"]]
        return [Leg(_measure(summary["length"]) * 1000, _measure(summary["time"])) for summary in summaries]

    def legs(points: Sequence[Point]) -> list[Leg]:
        who, body = f"Valhalla at {url}", _asked_of_valhalla(points, vehicle)
        return _complete(_ask(who, read, "POST", f"{url.rstrip('/')}/route", json=body), points, who)

    return legs


def way(name: str, points: Sequence[Point], *, url: str, vehicle: str) -> list[Point]:
    """The line on the road through these points, by the engine of this name. Raises RoutingFailed.

    Source: as above; OSRM's `routes[0].geometry`, Valhalla's `trip.legs[].shape`, both encoded polylines of six places.
    """
    if name == "valhalla":
        return _ask(
            f"Valhalla at {url}",
            lambda answer: [point for leg in answer["trip"]["legs"] for point in _line(leg["shape"])],
            "POST",
            f"{url.rstrip('/')}/route",
            json=_asked_of_valhalla(points, vehicle),
        )
    return _ask(
        f"OSRM at {url}",
        lambda answer: _line(answer["routes"][0]["geometry"]),
        "GET",
        _address_of_osrm(url, points),
        params={"overview": "full", "geometries": "polyline6"},
    )


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


def _address_of_osrm(url: str, points: Sequence[Point]) -> str:
    path = ";".join(f"{point.longitude:.6f},{point.latitude:.6f}" for point in points)
    return f"{url.rstrip('/')}/route/v1/driving/{path}"


def _asked_of_valhalla(points: Sequence[Point], vehicle: str) -> dict[str, Any]:
    return {
        "locations": [{"lat": point.latitude, "lon": point.longitude} for point in points],
        "costing": _COSTINGS[vehicle],
        "directions_type": "none",
        "units": "kilometers",
    }


def _ask(who: str, read: Callable[[Any], list[T]], method: str, address: str, **options: Any) -> list[T]:
    """What `read` makes of the engine's answer. Raises RoutingFailed."""
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
        raise EngineAway(f"{who}: {type(error).__name__}") from error
    except (DeadlinePassed, TooManyCalls) as error:
        raise EngineAway(f"{who}: {type(error).__name__} {error}") from error
    if response.status_code != HTTPStatus.OK:
        failed = EngineAway if response.status_code >= HTTPStatus.INTERNAL_SERVER_ERROR else RoutingFailed
        raise failed(f"{who}: status {response.status_code}")
    try:
        return read(response.json())
    except (ValueError, TypeError, LookupError, ArithmeticError) as error:
        raise RoutingFailed(f"{who}: {error}") from error


def _complete(legs: list[Leg], points: Sequence[Point], who: str) -> list[Leg]:
    if len(legs) != len(points) - 1:
        raise RoutingFailed(f"{who}: {len(legs)} legs for {len(points)} points")
    return legs


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
