"""Length of a route in kilometres: from a routing engine, or geodesic with a road factor."""

import logging
from collections.abc import Callable, Sequence
from decimal import ROUND_HALF_UP, Decimal
from itertools import pairwise

from delivery.geo.distance import Point, metres
from delivery.geo.routing_engines import Engine, RoutingFailed

_log = logging.getLogger(__name__)

# Kilometres of each leg between consecutive points.
Provider = Callable[[Sequence[Point]], list[Decimal]]


def geodesic(road_factor: float) -> Provider:
    """Provider of the geodesic distance multiplied by `road_factor` (1.3: roads are 30 % longer)."""

    def legs(points: Sequence[Point]) -> list[Decimal]:
        return [_kilometres(metres(start, end) * road_factor) for start, end in pairwise(points)]

    return legs


def with_fallback(engine: Engine, plain: Provider) -> Provider:
    """Provider that asks the engine, and uses `plain` and logs a warning when that raises RoutingFailed."""

    def legs(points: Sequence[Point]) -> list[Decimal]:
        try:
            return [_kilometres(leg.metres) for leg in engine(points)]
        except RoutingFailed as error:
            _log.warning("Falling back to the geodesic distance. %s", error)
            return plain(points)

    return legs


def provider(engine: Engine | None, *, road_factor: float) -> Provider:
    """The engine with the geodesic distance as fallback, or the geodesic distance alone without an engine."""
    plain = geodesic(road_factor)
    return with_fallback(engine, plain) if engine else plain


def _kilometres(length: float) -> Decimal:
    """Metres as kilometres, rounded half up to two places."""
    return Decimal(length / 1000).quantize(Decimal("0.01"), ROUND_HALF_UP)
