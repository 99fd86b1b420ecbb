"""What an endpoint's receipts amount to, in one line for people and in figures for assertions."""

import time
from collections.abc import Iterable
from dataclasses import asdict, dataclass

from tests.faults.endpoint import Endpoint, Receipt


@dataclass(frozen=True)
class Figures:
    """Of the events that were sent: a duplicate repeats one that was accepted, directly after it.

    Anything else that is not its delivery's next is out of order.
    """

    sent: int
    received: int
    lost: int
    duplicated: int
    out_of_order: int


def await_all(told: set[tuple[str, int]], endpoint: Endpoint, *, seconds: float) -> float:
    """Wait until everything that was told is accepted, for so long at most: what is missing shows in the figures.

    Returns how many seconds it took.
    """
    started = time.monotonic()
    while not told <= endpoint.accepted() and time.monotonic() - started < seconds:
        time.sleep(0.05)
    return time.monotonic() - started


def judge(told: set[tuple[str, int]], receipts: Iterable[Receipt]) -> Figures:
    """Figures of what was accepted. What was told is what has to arrive."""
    last: dict[str, int] = {}
    accepted = [receipt.event for receipt in receipts if receipt.is_accepted]
    out_of_order = 0
    for delivery, sequence in accepted:
        out_of_order += sequence not in {last.get(delivery, 0), last.get(delivery, 0) + 1}
        last[delivery] = sequence
    distinct = set(accepted)
    return Figures(len(told), len(distinct), len(told - distinct), len(accepted) - len(distinct), out_of_order)


def say(what: str, figures: Figures | None = None, **others: object) -> None:
    """Print one line."""
    parts = {**(asdict(figures) if figures else {}), **others}
    line = ", ".join(
        f"{name.replace('_', ' ')} {value:.2f}" if isinstance(value, float) else f"{name.replace('_', ' ')} {value}"
        for name, value in parts.items()
    )
    print(f"\n{what}: {line}", flush=True)  # noqa: T201  # the figures are what this suite is for
