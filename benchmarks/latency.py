"""Latency from commit to receipt of webhook events, also while one endpoint does not answer."""

import time
from collections.abc import Sequence
from statistics import median

from django.db import transaction
from django.utils import timezone

from benchmarks import processes, report, seed
from benchmarks.processes import Sink
from delivery.models import Delivery, WebhookEndpoint, WebhookEvent
from delivery.webhooks import outbox

_PER_SECOND, _SECONDS = 200, 60
_ACCOUNTS, _EACH = 40, 25
_PAIRS, _PAIR_SECONDS = 5, 30
_GRACE_SECONDS = 5
# A run that takes longer than this multiple of its planned duration did not reach the rate, and is repeated.
_MAX_DURATION_RATIO = 1.02
_TRIES = 4


class RateNotReached(Exception):
    """The events were committed more slowly than at the rate shown in the table."""


def run() -> None:
    milliseconds = _measure(_SECONDS, only_healthy=False)
    report.table(
        f"From commit to receipt, {_PER_SECOND} events/s for {_SECONDS} s, workers as `make run` starts them",
        ["events", "received", "p50", "p99", "greatest"],
        [
            (
                f"{_PER_SECOND * _SECONDS:,}",
                f"{len(milliseconds):,}",
                *(f"{report.percentile(milliseconds, share):.1f} ms" for share in (0.5, 0.99, 1)),
            )
        ],
    )


def run_with_a_hanging_endpoint() -> None:
    without, hanging = [], []
    for _pair in range(_PAIRS):
        without.append(report.percentile(_measure(_PAIR_SECONDS), 0.99))
        hanging.append(report.percentile(_measure(_PAIR_SECONDS, hanging=True), 0.99))
    ratios = [after / before for before, after in zip(without, hanging, strict=True)]
    report.table(
        f"p99 of the healthy endpoints at {_PER_SECOND} events/s, {_PAIRS} pairs of {_PAIR_SECONDS} s in turn",
        ["5 % of the traffic goes to an endpoint that", "p99: median (least to greatest)"],
        [
            ("answers", report.spread(without, unit=" ms", digits=1)),
            ("never answers", report.spread(hanging, unit=" ms", digits=1)),
            ("ratio of the medians", f"{median(hanging) / median(without):.2f}"),
            ("ratio, pair by pair", report.spread(ratios, digits=2)),
        ],
    )


def _measure(seconds: int, *, only_healthy: bool = True, hanging: bool = False) -> list[float]:
    """Latency in ms of every event, or of those to healthy endpoints. Raises RuntimeError if one was not received."""
    for _try in range(_TRIES):
        try:
            return _measure_once(seconds, only_healthy=only_healthy, hanging=hanging)
        except RateNotReached as error:
            print(f"Again: {error}")
    raise RuntimeError("The machine is too busy to measure this.")


def _measure_once(seconds: int, *, only_healthy: bool, hanging: bool) -> list[float]:
    seed.empty()
    with processes.sink() as sink:
        deliveries, suspects = _accounts(sink, hanging=hanging)
        with processes.worker(processes=2, beat=True):
            committed = _commit(deliveries, suspects, count=seconds * _PER_SECOND)
            time.sleep(_GRACE_SECONDS)
    received = sink.received()
    counted = [name for name, (_at, is_healthy) in committed.items() if is_healthy or not only_healthy]
    if missing := [name for name in counted if name not in received]:
        raise RuntimeError(f"{len(missing)} of {len(counted)} events were not received")
    return [1000 * (received[name] - committed[name][0]) for name in counted]


def _accounts(sink: Sink, *, hanging: bool) -> tuple[list[Delivery], list[Delivery]]:
    """Deliveries of the healthy accounts, and those of the account whose endpoint hangs if `hanging`."""
    tokens = seed.accounts(_ACCOUNTS + 1, url=sink.url)
    seed.deliveries(tokens, each=_EACH)
    deliveries = list(Delivery.objects.with_parts().filter(token__in=tokens))  # loaded as for an action
    suspect = tokens[-1].integrator_id
    if hanging:
        WebhookEndpoint.objects.filter(integrator=suspect).update(url=sink.hanging_url)
    return (
        [delivery for delivery in deliveries if delivery.integrator_id != suspect],
        [delivery for delivery in deliveries if delivery.integrator_id == suspect],
    )


def _commit(healthy: Sequence[Delivery], suspects: Sequence[Delivery], *, count: int) -> dict[str, tuple[float, bool]]:
    """Commit events at a constant rate, one in twenty for `suspects`. Returns {event: (commit time, is healthy)}."""
    at: dict[tuple[object, int], tuple[float, bool]] = {}
    started = time.monotonic()
    for number in range(count):
        time.sleep(max(0, started + number / _PER_SECOND - time.monotonic()))
        is_healthy = number % 20 != 0
        kind = healthy if is_healthy else suspects
        delivery = kind[number % len(kind)]
        with transaction.atomic():
            delivery.last_sequence += 1
            Delivery.objects.filter(pk=delivery.pk).update(last_sequence=delivery.last_sequence)
            outbox.record(delivery=delivery, at=timezone.now())
            written = time.monotonic()
        # `atomic` commits and then wakes a worker; the moment of the commit lies between these two.
        at[delivery.pk, delivery.last_sequence] = (written, is_healthy)
    took = time.monotonic() - started
    if took > _MAX_DURATION_RATIO * count / _PER_SECOND:
        raise RateNotReached(f"{count} changes took {took:.1f} s, so the rate was too low")
    return {
        str(pk): at[delivery, sequence]
        for pk, delivery, sequence in WebhookEvent.objects.values_list("pk", "delivery", "sequence")
    }
