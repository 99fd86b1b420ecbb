"""What is left of a webhook's body when the people in it are forgotten. Pure.

Statuses, ids, prices and distances stay, of addresses the city, of places the region.
"""

import json
from collections.abc import Collection
from decimal import ROUND_HALF_UP, Decimal
from typing import Any

KEPT_OF_ADDRESS = ("city", "state", "country")
_NOBODY = {"name": "", "phone": "", "coordinates": {"latitude": None, "longitude": None}}
_DEGREES = Decimal("0.1")  # about eleven kilometres


def without_people(body: str) -> str:
    """The body without driver and receivers."""
    event = json.loads(body)
    return _text({**event, "driver": _NOBODY, "orders": [_order(order) for order in event["orders"]]})


def without_receivers(body: str, *, points: Collection[str]) -> str:
    """The body without the receivers at these points (B, C, D)."""
    event = json.loads(body)
    orders = [_order(order) if order["point"] in points else order for order in event["orders"]]
    return _text({**event, "orders": orders})


def without_driver(body: str) -> str:
    """The body without the driver."""
    return _text({**json.loads(body), "driver": _NOBODY})


def _text(event: dict[str, Any]) -> str:
    return json.dumps(event, ensure_ascii=False, separators=(",", ":"))


def _order(order: dict[str, Any]) -> dict[str, Any]:
    address = {
        key: value if key in KEPT_OF_ADDRESS else _rounded(value) if isinstance(value, float | int) else ""
        for key, value in order["address"].items()
    }
    coordinates = {key: _rounded(value) for key, value in order["coordinates"].items()}
    return {**order, "coordinates": coordinates, "address": address}


def _rounded(degrees: float | None) -> float | None:
    """As PostgreSQL rounds the columns."""
    return None if degrees is None else float(Decimal(str(degrees)).quantize(_DEGREES, ROUND_HALF_UP))
