"""What is counted of deliveries and webhooks. The names are those of docs/monitoring.md."""

from collections.abc import Mapping
from functools import partial

from django.db import transaction
from prometheus_client import Counter, Histogram

from common.metrics import REGISTRY

MOVES = Counter(
    "rota_moves", "Changes of deliveries, by trigger of the lifecycle", ["trigger", "environment"], registry=REGISTRY
)
POSITIONS = Counter("rota_positions", "Positions that drivers' phones reported", ["outcome"], registry=REGISTRY)
ATTEMPTS = Counter(
    "rota_webhook_attempts", "Webhook requests, by class of status or of error", ["outcome"], registry=REGISTRY
)
ENDED = Counter(
    "rota_webhook_events_ended", "Webhook events that are not tried again: sent or dead", ["state"], registry=REGISTRY
)
SENT_AFTER = Histogram(
    "rota_webhook_sent_seconds",
    "From the change of a delivery to the endpoint's answer, of events that the first attempt has sent",
    buckets=(0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300),
    registry=REGISTRY,
)


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
