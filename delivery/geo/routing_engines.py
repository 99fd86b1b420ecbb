"""Lengths and travel times of routes from a routing engine: an OSRM or a Valhalla server."""

import math
from collections.abc import Callable, Sequence
from functools import cache, partial
from http import HTTPStatus
from typing import Any, NamedTuple

import requests

from common.deadlines import BoundedCalls, DeadlinePassed, TooManyCalls
from delivery.geo.distance import Point

NAMES = ("osrm", "valhalla")
_SECONDS = 2
# The timeout of requests applies to connecting and to each read. This deadline applies to the whole call.
_calls = BoundedCalls(most=8, seconds=_SECONDS)
# Valhalla's name of each vehicle.
_COSTINGS = {"MOTORCYCLE": "motorcycle", "CAR": "auto"}


class Leg(NamedTuple):
    """The way between two consecutive points."""

    metres: float
    seconds: float


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

    def legs(points: Sequence[Point]) -> list[Leg]:
        path = ";".join(f"{point.longitude:.6f},{point.latitude:.6f}" for point in points)
        address = f"{url.rstrip('/')}/route/v1/driving/{path}"
        call = partial(_call, "GET", address, params={"overview": "false"})
        return _ask(f"OSRM at {url}", call, points, _read_osrm)

    return legs


def valhalla(url: str, *, vehicle: str) -> Engine:
    """The Valhalla server at `url`, with the costing of a type of vehicle.

    Source: Valhalla's turn-by-turn API: POST /route, `trip.legs[].summary` with `length` in kilometres and `time` in
    seconds.
    """

    def legs(points: Sequence[Point]) -> list[Leg]:
        body = {
            "locations": [{"lat": point.latitude, "lon": point.longitude} for point in points],
            "costing": _COSTINGS[vehicle],
            "directions_type": "none",
            "units": "kilometers",
        }
        call = partial(_call, "POST", f"{url.rstrip('/')}/route", json=body)
        return _ask(f"Valhalla at {url}", call, points, _read_valhalla)

    return legs


def _ask(
    who: str, call: Callable[[], requests.Response], points: Sequence[Point], read: Callable[[Any], list[Leg]]
) -> list[Leg]:
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
        legs = read(response.json())
    except (ValueError, TypeError, LookupError, ArithmeticError) as error:
        raise RoutingFailed(f"{who}: {error}") from error
    if len(legs) != len(points) - 1:
        raise RoutingFailed(f"{who}: {len(legs)} legs for {len(points)} points")
    return legs


def _read_osrm(answer: Any) -> list[Leg]:
    return [Leg(_measure(leg["distance"]), _measure(leg["duration"])) for leg in answer["routes"][0]["legs"]]


def _read_valhalla(answer: Any) -> list[Leg]:
    summaries = [leg["summary"] for leg in answer["trip"]["legs"]]
    return [Leg(_measure(summary["length"]) * 1000, _measure(summary["time"])) for summary in summaries]


def _measure(value: Any) -> float:
    """A length or a duration. Raises TypeError, or ValueError for a negative or infinite one."""
    number = float(value)
    if not math.isfinite(number) or number < 0:
        raise ValueError(f"neither a distance nor a duration: {number}")
    return number


def _call(method: str, address: str, **options: Any) -> requests.Response:
    return _session().request(
        method,
        address,
        timeout=_SECONDS,
        allow_redirects=False,  # addresses of deliveries go to the configured server only
        **options,
    )


@cache
def _session() -> requests.Session:
    """The HTTP session of this process, which keeps connections to the routing engine open."""
    session = requests.Session()
    session.trust_env = False
    return session
