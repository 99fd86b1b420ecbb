"""Counters and histograms of all processes of an installation, summed in Redis.

A process counts in memory (prometheus_client). A thread of it adds what was counted since the last time to one hash in
Redis, every few seconds. So any web process can show the sums of all processes on all machines, and what a process
has counted stays when it ends. A process that is killed loses the counts of its last seconds. If Redis is emptied, the
sums start from 0, as those of a restarted process do, which Prometheus expects. Without METRICS_TOKEN no thread runs.
"""

import json
import logging
import threading
from collections.abc import Iterator
from functools import cache

import prometheus_client
from django.conf import settings
from prometheus_client import CollectorRegistry, Counter
from prometheus_client.metrics_core import Metric
from redis import Redis, RedisError

from common.connections import redis

_log = logging.getLogger(__name__)
# Every counter and histogram belongs to it. Labels have few values: routes and states, never ids.
REGISTRY = CollectorRegistry()
KEY = "rota:metrics"
_FLUSH_SECONDS = 5.0
_KEPT_SECONDS = 30 * 24 * 3600

# Without the time at which this process has made each counter, which says nothing about the sum.
prometheus_client.disable_created_metrics()  # type: ignore[no-untyped-call]

# Each process that counts adds itself when it starts.
STARTS = Counter("rota_process_starts", "Processes that have started", ["process"], registry=REGISTRY)


class SharedCounts:
    """Adds what this process has counted to the sums in Redis, and reads these."""

    def __init__(self, redis: "Redis", registry: CollectorRegistry) -> None:
        self._redis, self._registry = redis, registry
        self._added: dict[str, float] = {}
        self._adding = threading.Lock()

    def add(self) -> None:
        """Add what was counted since the last call. Raises RedisError; the next call then adds it too.

        If only the answer of Redis is lost, it is added twice.
        """
        with self._adding:
            counted = {
                json.dumps([sample.name, sorted(sample.labels.items())]): sample.value
                for family in self._registry.collect()
                for sample in family.samples
            }
            known = self._added if self._redis.exists(KEY) else {}
            # 0 is written once: a histogram needs its empty buckets too.
            changes = {
                field: value - self._added.get(field, 0.0)
                for field, value in counted.items()
                if field not in known or value != known[field]
            }
            if not changes:
                return
            with self._redis.pipeline() as pipeline:
                for field, change in changes.items():
                    pipeline.hincrbyfloat(KEY, field, change)
                pipeline.expire(KEY, _KEPT_SECONDS)
                pipeline.execute()
            self._added = counted

    def collect(self) -> Iterator[Metric]:
        """The sums, as a collector of prometheus_client gives them. Raises RedisError.

        Sums that this version does not know, of an older or newer one, are left out.
        """
        families = {
            family.name: Metric(family.name, family.documentation, family.type) for family in self._registry.collect()
        }
        stored = [(*json.loads(field), float(value)) for field, value in self._redis.hgetall(KEY).items()]
        for name, labels, value in sorted(stored, key=_order):
            for suffix in ("", "_total", "_bucket", "_sum", "_count"):
                if name.endswith(suffix) and (family := families.get(name.removesuffix(suffix))):
                    family.add_sample(name, dict(labels), value)
                    break
        yield from families.values()


def _order(stored: tuple[str, list[list[str]], float]) -> tuple[str, list[list[str]], float]:
    """By name and labels, the buckets of a histogram by their limits."""
    name, labels, _value = stored
    limit = next((float(value) for label, value in labels if label == "le"), 0.0)
    return name, [pair for pair in labels if pair[0] != "le"], limit


@cache
def shared() -> SharedCounts:
    return SharedCounts(redis(), REGISTRY)


def add_until_exit() -> None:
    """Add the counts every few seconds, and once more when the main thread has ended. For a thread of its own."""
    main = threading.main_thread()
    is_away = False
    while main.is_alive():
        is_away = not _add(was_away=is_away)  # at once too: a process that ends soon has counted its start
        main.join(_FLUSH_SECONDS)
    _add(was_away=is_away)


def start_thread() -> None:
    """Run `add_until_exit` in a thread, if metrics are wanted at all."""
    if settings.METRICS_TOKEN:
        threading.Thread(target=add_until_exit, name="metrics", daemon=True).start()


def add_last() -> None:
    """Add the counts of a process that is about to end without waiting for its threads."""
    if settings.METRICS_TOKEN:
        _add(was_away=False)


def _add(*, was_away: bool) -> bool:
    """Whether the counts were added. An outage of Redis is logged once."""
    try:
        shared().add()
    except RedisError as error:
        if not was_away:
            _log.warning("Metrics are added when Redis answers again: %s", error)
        return False
    return True
