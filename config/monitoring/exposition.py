"""What `/metrics` shows: the checks of readiness, the sums of all processes, and gauges from PostgreSQL and Redis.

The gauges are read at a scrape, so that they are right whatever processes there are.
"""

import logging
from collections.abc import Callable, Iterable, Iterator
from datetime import timedelta
from functools import cache
from typing import Any

from django.conf import settings
from django.db import Error, connection, transaction
from prometheus_client import generate_latest
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.metrics_core import Metric
from redis import RedisError

# Modules that count, so that every process knows the names of what any of them has counted; `config.celery` is loaded.
import common.postgresql.replica  # noqa: F401  # for its counter
from common import clock
from common.cached import Cached
from common.observability import metrics
from common.webhooks import breaker, queue
from common.webhooks.outbox import outboxes
from config.monitoring import heartbeats, readiness, servers
from delivery import lifecycle, windows
from delivery.models import DispatchRules

_log = logging.getLogger(__name__)
_CACHED_SECONDS = 5.0
_STATEMENT_MS = 2000
_OVERDUE = timedelta(minutes=1)
# More rows of the queue are not counted, so that a backlog of millions does not slow the scrapes down.
MOST_COUNTED = 100_000

# Metric: what it is, and its labels.
FAMILIES: dict[str, tuple[str, tuple[str, ...]]] = {
    "rota_routes_in_progress": ("Routes that are offered or held", ("route_status", "environment")),
    "rota_offers_late": ("Live offers without a driver for longer than the rule late_without_driver_minutes", ()),
    "rota_offer_oldest_seconds": ("Age of the oldest live offer without a driver", ()),
    "rota_scheduled_overdue": ("Live scheduled routes that were not offered a minute after the planned moment", ()),
    "rota_drivers": ("Live drivers on duty, with an open route (busy) or without (free)", ("state",)),
    "rota_webhook_queue_items": (
        f"Queue items, counted up to {MOST_COUNTED}: due, due later, or claimed by a worker", ("state",)
    ),
    "rota_webhook_oldest_due_seconds": ("For how long the event that is due first has waited for a worker", ()),
    "rota_webhook_endpoints": ("Endpoints with a URL, by breaker: closed, open, or switched off", ("breaker",)),
    "rota_mail_waiting": ("E-mails that wait to be sent", ()),
    "rota_mail_oldest_seconds": ("Age of the oldest e-mail that waits", ()),
    "rota_database_connections": ("Connections to this database, of all programs", ("state",)),
    "rota_database_connections_limit": ("PostgreSQL's max_connections", ()),
    "rota_database_archive_fails": ("Whether PostgreSQL's last attempt to archive its log failed: 1 or 0", ()),
}  # fmt: skip  # a table

# One row for each sample: the metric, its labels, the value. Each part reads an index or a small table.
_STATEMENT = """
WITH open_routes AS MATERIALIZED (
    SELECT route_status, environment, coalesce(offer_at, created_at) AS created_at FROM delivery_delivery
    WHERE route_status = ANY(%(in_progress)s)
), offers AS (
    SELECT created_at FROM open_routes WHERE route_status = 'AVAILABLE' AND environment = 'live'
), queue AS (
    {items}
), endpoints AS (
    {endpoints}
), waiting_mail AS (
    SELECT created_at FROM mail_message WHERE state = 'waiting' LIMIT %(most)s
)
SELECT 'rota_routes_in_progress', ARRAY[route_status, environment]::text[], count(*)::float
FROM open_routes GROUP BY route_status, environment
UNION ALL SELECT 'rota_offers_late', '{}', count(*) FROM offers WHERE created_at < %(late_since)s
UNION ALL SELECT 'rota_offer_oldest_seconds', '{}', coalesce(EXTRACT(EPOCH FROM %(at)s - min(created_at)), 0)
FROM offers
UNION ALL SELECT 'rota_scheduled_overdue', '{}', count(*) FROM delivery_delivery
WHERE route_status IN ('SCHEDULED') AND scheduled_for <= %(near)s AND offer_at < %(overdue_since)s
      AND environment = 'live'
UNION ALL SELECT 'rota_drivers', ARRAY[CASE WHEN held.driver_id IS NULL THEN 'free' ELSE 'busy' END], count(*)
FROM delivery_driver d
LEFT JOIN delivery_delivery held ON held.driver_id = d.id AND held.route_status = ANY(%(held)s)
WHERE d.active AND d.on_duty AND d.environment = 'live' GROUP BY held.driver_id IS NULL
UNION ALL SELECT 'rota_webhook_queue_items',
       ARRAY[CASE WHEN due_at <= %(at)s THEN 'due' WHEN lease IS NULL THEN 'later' ELSE 'claimed' END], count(*)
FROM queue GROUP BY 2
UNION ALL SELECT 'rota_webhook_endpoints',
       ARRAY[CASE WHEN NOT enabled THEN 'off' WHEN failures >= %(opens_after)s THEN 'open' ELSE 'closed' END], count(*)
FROM endpoints GROUP BY 2
UNION ALL SELECT 'rota_mail_waiting', '{}', count(*) FROM waiting_mail
UNION ALL SELECT 'rota_mail_oldest_seconds', '{}', coalesce(EXTRACT(EPOCH FROM %(at)s - min(created_at)), 0)
FROM waiting_mail
UNION ALL SELECT 'rota_database_connections', ARRAY[coalesce(state, 'unknown')], count(*)
FROM pg_stat_activity WHERE datname = current_database() GROUP BY 2
UNION ALL SELECT 'rota_database_connections_limit', '{}', current_setting('max_connections')::float
UNION ALL SELECT 'rota_database_archive_fails', '{}',
       coalesce(last_failed_time > last_archived_time, last_failed_time IS NOT NULL)::int
FROM pg_stat_archiver
"""


@cache
def _statement() -> str:
    """_STATEMENT with the queues and the endpoints of every area."""
    items = [outbox.sql("(SELECT lease, due_at FROM {items} LIMIT %(most)s)") for outbox in outboxes()]
    endpoints = [outbox.sql("SELECT enabled, failures FROM {endpoints} WHERE url <> ''") for outbox in outboxes()]
    statement = _STATEMENT.replace("{items}", " UNION ALL ".join(items))
    return statement.replace("{endpoints}", " UNION ALL ".join(endpoints))


def read_gauges() -> list[Metric]:
    """The gauges from PostgreSQL now. Raises django.db.Error."""
    at = clock.now()
    parameters: dict[str, Any] = {
        "at": at,
        "late_since": at - DispatchRules.current().late_without_driver,
        "near": at + windows.GREATEST_LEAD,
        "overdue_since": at - _OVERDUE,
        "in_progress": [status.value for status in lifecycle.IN_PROGRESS],
        "held": [status.value for status in lifecycle.HELD],
        "opens_after": breaker.OPENS_AFTER,
        "most": MOST_COUNTED,
    }
    families = {name: GaugeMetricFamily(name, text, labels=labels) for name, (text, labels) in FAMILIES.items()}
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("SELECT set_config('statement_timeout', %s, TRUE)", [str(_STATEMENT_MS)])
        cursor.execute(_statement(), parameters)
        for name, labels, value in cursor.fetchall():
            families[name].add_metric(labels, value)
        families["rota_webhook_oldest_due_seconds"].add_metric([], queue.oldest_due_of_all_seconds(at=at))
    return list(families.values())


_gauges = Cached(read_gauges, seconds=_CACHED_SECONDS)
_database = Cached(servers.read_database, seconds=_CACHED_SECONDS)
_redis = Cached(servers.read_redis, seconds=_CACHED_SECONDS)


def _of_this_service() -> Iterator[Metric]:
    info = GaugeMetricFamily("rota_info", "1, with the version of the web process that answers", labels=["version"])
    info.add_metric([settings.VERSION], 1)
    yield info


def _checks() -> Iterator[Metric]:
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
        _of_this_service,
        _checks,
        _heartbeats,
        lambda: metrics.shared().collect(),
        lambda: _gauges.get(),  # noqa: PLW0108  # looked up at each scrape
        lambda: _database.get(),  # noqa: PLW0108  # looked up at each scrape
        lambda: _redis.get(),  # noqa: PLW0108  # looked up at each scrape
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
