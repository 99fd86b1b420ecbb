"""One error code. Pure."""

from dataclasses import dataclass

A, B = "immediate delivery", "order integration"
BOTH = (A, B)


@dataclass(frozen=True)
class ErrorCode:
    """`apis`: which of the two have it. `remedy`: what to do, in the imperative."""

    code: str
    status: int
    meaning: str
    remedy: str
    apis: tuple[str, ...] = (A,)
