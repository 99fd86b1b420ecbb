"""Length of a route in kilometres: geodesic with a road factor, or from an OSRM server."""

import logging
import math
from collections.abc import Callable, Sequence
from decimal import ROUND_HALF_UP, Decimal
from functools import cache, partial
from http import HTTPStatus
from itertools import pairwise

import requests

from common.deadlines import BoundedCalls, DeadlinePassed, TooManyCalls
from delivery.distance import Point, metres

_log = logging.getLogger(__name__)
_SECONDS = 2
# The timeout of requests applies to connecting and to each read. This deadline applies to the whole call.
_calls = BoundedCalls(most=8, seconds=_SECONDS)

# Kilometres of each leg between consecutive points.
Provider = Callable[[Sequence[Point]], list[Decimal]]


class RoutingFailed(Exception):
    """The routing server did not answer in time with a distance for each leg. The message says why."""


def geodesic(road_factor: float) -> Provider:
    """Provider of the geodesic distance multiplied by `road_factor` (1.3: roads are 30 % longer)."""

    def legs(points: Sequence[Point]) -> list[Decimal]:
        return [_kilometres(metres(start, end) * road_factor) for start, end in pairwise(points)]

    return legs


def osrm(url: str) -> Provider:
    """Provider that queries the OSRM server at `url`. Raises RoutingFailed without a complete answer within 2 s.

    Source: OSRM HTTP API, route service: GET /route/v1/driving/{lon},{lat};{lon},{lat}, `routes[0].legs[].distance`
    in metres.
    """

    def legs(points: Sequence[Point]) -> list[Decimal]:
        try:
            response = _calls.run(partial(_get_route, url, points))
            if response.status_code != HTTPStatus.OK:
                raise RoutingFailed(f"OSRM at {url}: status {response.status_code}")
            lengths = [_kilometres(float(leg["distance"])) for leg in response.json()["routes"][0]["legs"]]
        except (requests.RequestException, ValueError, TypeError, LookupError, ArithmeticError) as error:
            raise RoutingFailed(f"OSRM at {url}: {error}") from error
        except (DeadlinePassed, TooManyCalls) as error:
            raise RoutingFailed(f"OSRM at {url}: {type(error).__name__} {error}") from error
        if len(lengths) != len(points) - 1:
            raise RoutingFailed(f"OSRM at {url}: {len(lengths)} legs for {len(points)} points")
        return lengths

    return legs


def with_fallback(first: Provider, second: Provider) -> Provider:
    """Provider that uses `second`, and logs a warning, when `first` raises RoutingFailed."""

    def legs(points: Sequence[Point]) -> list[Decimal]:
        try:
            return first(points)
        except RoutingFailed as error:
            _log.warning("Falling back to the geodesic distance. %s", error)
            return second(points)

    return legs


def provider(*, routing_url: str, road_factor: float) -> Provider:
    """OSRM with the geodesic distance as fallback, or the geodesic distance alone when `routing_url` is empty."""
    plain = geodesic(road_factor)
    return with_fallback(osrm(routing_url), plain) if routing_url else plain


def _get_route(url: str, points: Sequence[Point]) -> requests.Response:
    path = ";".join(f"{point.longitude:.6f},{point.latitude:.6f}" for point in points)
    return _session().get(
        f"{url.rstrip('/')}/route/v1/driving/{path}",
        params={"overview": "false"},
        timeout=_SECONDS,
        allow_redirects=False,  # addresses of deliveries go to the configured server only
    )


@cache
def _session() -> requests.Session:
    """The HTTP session of this process, which keeps connections to the routing server open."""
    session = requests.Session()
    session.trust_env = False
    return session


def _kilometres(length: float) -> Decimal:
    """Metres as kilometres, rounded half up to two places. Raises ValueError for a negative or infinite length."""
    if not math.isfinite(length) or length < 0:
        raise ValueError(f"not a distance: {length}")
    return Decimal(length / 1000).quantize(Decimal("0.01"), ROUND_HALF_UP)
