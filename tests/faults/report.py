"""Counts what an endpoint has received, for assertions and as a printed line."""

import time
from collections.abc import Iterable
from dataclasses import asdict, dataclass

from django.db.models import QuerySet

from delivery.models import WebhookEvent
from tests.faults.endpoint import Endpoint, Receipt
from tests.faults.waiting import DEADLINE_SECONDS


@dataclass(frozen=True)
class Figures:
    """Counts of events. A duplicate repeats the event of the same delivery that was accepted before it.

    Any other event that is not the next of its delivery is out of order.
    """

    sent: int
    received: int
    lost: int
    duplicated: int
    out_of_order: int


def sequences(events: QuerySet[WebhookEvent]) -> set[tuple[str, int]]:
    """Delivery and sequence of each."""
    return {(str(delivery), sequence) for delivery, sequence in events.values_list("delivery", "sequence")}


def await_all(committed: set[tuple[str, int]], endpoint: Endpoint) -> float:
    """Wait until everything that was committed is accepted, or the deadline. Returns how many seconds it took.

    Raises nothing when something is missing; the figures show it.
    """
    started = time.monotonic()
    while not committed <= endpoint.accepted() and time.monotonic() - started < DEADLINE_SECONDS:
        time.sleep(0.05)
    return time.monotonic() - started


def figures_of(committed: set[tuple[str, int]], receipts: Iterable[Receipt]) -> Figures:
    """Compare what was accepted with what was committed."""
    last: dict[str, int] = {}
    accepted = [receipt.event for receipt in receipts if receipt.is_accepted]
    out_of_order = 0
    for delivery, sequence in accepted:
        out_of_order += sequence not in {last.get(delivery, 0), last.get(delivery, 0) + 1}
        last[delivery] = sequence
    distinct = set(accepted)
    return Figures(
        len(committed), len(distinct), len(committed - distinct), len(accepted) - len(distinct), out_of_order
    )


def print_figures(what: str, figures: Figures | None = None, **others: object) -> None:
    """Print one line."""
    parts = {**(asdict(figures) if figures else {}), **others}
    line = ", ".join(
        f"{name.replace('_', ' ')} {value:.2f}" if isinstance(value, float) else f"{name.replace('_', ' ')} {value}"
        for name, value in parts.items()
    )
    print(f"\n{what}: {line}", flush=True)  # noqa: T201  # the figures are what this suite is for
