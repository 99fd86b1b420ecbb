"""The header by which a call with test credentials says how fast what it creates moves by itself."""

from rest_framework.request import Request

from common.api.openapi import request_header
from common.simulation.pace import FASTEST, SLOWEST

_NAME = "Sandbox-Speed"
_LONGEST = 64  # characters
SPEED = request_header(
    _NAME,
    "How many times as fast the sandbox is; 1 without it. Ignored with live credentials.",
    # Without a default, which some generated clients would send with each call, live ones too.
    {"type": "number", "minimum": SLOWEST, "maximum": FASTEST},
)


class NotASpeed(Exception):
    """The header is not a number from SLOWEST to FASTEST."""


def read_speed(request: Request) -> float:
    """The speed that a call asks for, 1 without the header. Raises NotASpeed."""
    text = request.headers.get(_NAME, "1")
    if len(text) > _LONGEST or not text.isascii() or "_" in text:  # which `float` would take as digits
        raise NotASpeed
    try:
        speed = float(text)
    except ValueError as error:
        raise NotASpeed from error
    if not SLOWEST <= speed <= FASTEST:  # nor is NaN
        raise NotASpeed
    return speed
