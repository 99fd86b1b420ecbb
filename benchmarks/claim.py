"""What a claim costs with few and with many finished events in the database."""

import time
from statistics import median
from uuid import uuid4

from django.db import connection, transaction
from django.utils import timezone

from benchmarks import report, seed
from common.webhooks import claims, queue
from delivery.webhooks.outbox import OUTBOX

_FEW, _MANY = 1_000, 1_000_000
_ENDPOINTS, _EACH = 50, 20
_CLAIMS = 200


def run() -> None:
    seed.empty()
    tokens = seed.accounts(_ENDPOINTS, url="http://127.0.0.1:9/hook")
    deliveries = seed.deliveries(tokens, each=_EACH)
    seed.due_events(deliveries, each=1)
    medians: dict[int, list[float]] = {_FEW: [], _MANY: []}
    for count in (_FEW, _MANY, _FEW, _MANY, _FEW):
        seed.finished_events(deliveries[0], count=count)
        medians[count].append(_milliseconds())
        seed.drop_finished_events()
    report.table(
        f"A claim of 200 events of {_ENDPOINTS} endpoints, {_CLAIMS} claims at a time, few and many in turn",
        ["finished events in the database", "ms: median of the medians (least to greatest)"],
        [
            *((f"{count:,}", report.spread(medians[count], digits=2)) for count in (_FEW, _MANY)),
            ("ratio", f"{median(medians[_MANY]) / median(medians[_FEW]):.2f}"),
        ],
    )


def _milliseconds() -> float:
    """The median of many claims, each undone again."""
    took = []
    for number in range(_CLAIMS):
        if number % 20 == 0:  # what is undone leaves dead rows, which no claim in service does
            with connection.cursor() as cursor:
                cursor.execute("VACUUM delivery_webhookqueueitem")
        with transaction.atomic():
            started = time.perf_counter()
            claimed = claims.claim(OUTBOX, lease=uuid4(), at=timezone.now(), limit=1000)
            took.append(1000 * (time.perf_counter() - started))
            transaction.set_rollback(True)
        if len(claimed) != _ENDPOINTS * queue.IN_FLIGHT_PER_ENDPOINT:
            raise RuntimeError(f"{len(claimed)} events claimed")
    return median(took)
