"""What is counted of deliveries. The names are those of docs/monitoring.md."""

from collections.abc import Mapping
from functools import partial

from django.db import transaction
from prometheus_client import Counter

from common.metrics import REGISTRY

MOVES = Counter(
    "rota_moves", "Changes of deliveries, by trigger of the lifecycle", ["trigger", "environment"], registry=REGISTRY
)
POSITIONS = Counter("rota_positions", "Positions that drivers' phones reported", ["outcome"], registry=REGISTRY)


def positions_on_commit(*, kept: int, dropped: Mapping[str, int]) -> None:
    """Count reported positions once this transaction has committed."""

    def count() -> None:
        POSITIONS.labels("kept").inc(kept)
        for reason, number in dropped.items():
            POSITIONS.labels(reason).inc(number)

    transaction.on_commit(count, robust=True)


def moved_on_commit(trigger: str, environment: str) -> None:
    """Count a change once this transaction has committed."""
    transaction.on_commit(partial(MOVES.labels(trigger, environment).inc), robust=True)
