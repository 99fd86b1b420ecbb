"""What `/metrics` shows: the checks of readiness, the sums of all processes, and gauges from PostgreSQL."""

import logging
from collections.abc import Callable, Iterable, Iterator

from django.conf import settings
from django.db import Error
from prometheus_client import CONTENT_TYPE_LATEST, generate_latest
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.metrics_core import Metric
from redis import RedisError

# The modules that count, so that every process knows the names of what any of them has counted.
import common.replica  # noqa: F401  # for its counter
import config.monitoring.requests
import config.monitoring.tasks  # noqa: F401  # for its metrics
from common import metrics
from config.monitoring import database_metrics, heartbeats, readiness

_log = logging.getLogger(__name__)
CONTENT_TYPE = CONTENT_TYPE_LATEST


def _info() -> Iterator[Metric]:
    family = GaugeMetricFamily("rota_info", "1, with the version of the web process that answers", labels=["version"])
    family.add_metric([settings.VERSION], 1)
    yield family


def _checks() -> Iterator[Metric]:
    """One gauge for each check of `/readyz`."""
    family = GaugeMetricFamily("rota_check_ok", "Checks of /readyz: 1 passed, 0 failed", labels=["check"])
    for name, result in readiness.results().items():
        family.add_metric([name], float(result.ok))
    yield family


def _heartbeats() -> Iterator[Metric]:
    family = GaugeMetricFamily("rota_heartbeat_age_seconds", "Since the last sign of life", labels=["process"])
    for process, age in heartbeats.ages().items():
        if age is not None:
            family.add_metric([process], age)
    yield family


class _Everything:
    """The part of a prometheus_client registry that `generate_latest` uses."""

    _COLLECTORS: tuple[Callable[[], Iterable[Metric]], ...] = (
        _info,
        _checks,
        _heartbeats,
        lambda: metrics.shared().collect(),
        database_metrics.collect,
    )

    def collect(self) -> Iterator[Metric]:
        """What can be read. A server that is away costs its part; `rota_check_ok` says so."""
        for collector in self._COLLECTORS:
            try:
                yield from list(collector())
            except (Error, RedisError) as error:
                _log.warning("A part of the metrics cannot be read: %s", error)


def exposition() -> bytes:
    """All metrics in the text format of Prometheus."""
    return generate_latest(_Everything())  # it calls `collect` only
