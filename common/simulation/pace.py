"""How fast simulations move, and how a caller asks for an outcome. Pure."""

import re
from datetime import timedelta

# How many times as fast as usual.
SLOWEST, FASTEST = 1, 120
# Real time between two steps, at any speed.
SHORTEST = timedelta(seconds=0.25)
_LIKE_A_PREFIX = re.compile(r"sim[\W_]", re.IGNORECASE)


def prefix(name: str) -> str:
    """The beginning of a caller's id that asks for the outcome with this name."""
    return f"sim-{name}-"


def is_misspelt(text: str, prefixes: tuple[str, ...]) -> bool:
    """Whether a caller's id begins like a prefix and with none of these: `SIM-FAIL-1`, `sim-fail`, `sim-x-1`."""
    return _LIKE_A_PREFIX.match(text) is not None and not text.startswith(prefixes)


def duration(seconds: float, *, speed: float) -> timedelta:
    """Real time that a step of so many seconds takes."""
    return max(timedelta(seconds=seconds / speed), SHORTEST)
