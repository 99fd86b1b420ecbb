"""What `/metrics` says of the servers themselves: roles, standbys, and whether PostgreSQL's data are still the same.

What the role of DATABASE_URL or the user of REDIS_URL may not read is left out: `rota_database_readable` and
`rota_redis_readable` are 0.
"""

from django.db import connection, transaction
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.metrics_core import Metric
from redis.exceptions import NoPermissionError

from common.connections import redis

# Metric: what it is, and its labels.
FAMILIES: dict[str, tuple[str, tuple[str, ...]]] = {
    "rota_database_readable": ("Whether the role of DATABASE_URL may read this part: 1 or 0", ("part",)),
    "rota_database_is_primary": ("Whether DATABASE_URL leads to a primary, 1, or to a standby, 0", ()),
    "rota_database_timeline": ("PostgreSQL's timeline, which grows when a standby becomes the primary", ()),
    "rota_database_system_identifier": ("PostgreSQL's system identifier, rounded; another one is another cluster", ()),
    "rota_database_standbys": ("Standbys that stream from the primary", ("sync_state",)),
    "rota_database_standby_lag_seconds": ("Greatest replay_lag of these standbys", ("sync_state",)),
    "rota_redis_readable": ("Whether the user of REDIS_URL may read the role of Redis: 1 or 0", ()),
    "rota_redis_is_master": ("Whether REDIS_URL leads to a master, 1, or to a replica, 0", ()),
    "rota_redis_replicas": ("Replicas that are connected to the master", ()),
}
_SYNC_STATES = ("sync", "quorum", "potential", "async")

# A standby has no place in the log to write to, and so no timeline of its own.
_SERVER = """
SELECT NOT pg_is_in_recovery(),
       CASE WHEN NOT pg_is_in_recovery() THEN pg_walfile_name(pg_current_wal_lsn()) END,
       pg_has_role('pg_read_all_stats', 'USAGE'), has_function_privilege('pg_control_system()', 'EXECUTE')
"""
_IDENTIFIER = "SELECT system_identifier FROM pg_control_system()"
_STANDBYS = """
SELECT sync_state, count(*), coalesce(EXTRACT(EPOCH FROM max(replay_lag)), 0)::float
FROM pg_stat_replication WHERE state = 'streaming' GROUP BY sync_state
"""
_TIMELINE_DIGITS = 8  # of the name of a file of the log, hexadecimal


def read_database() -> list[Metric]:
    """Raises django.db.Error."""
    found: dict[str, list[tuple[list[str], float]]] = {}
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(_SERVER)
        is_primary, file, sees_standbys, sees_identifier = cursor.fetchone()
        found["rota_database_is_primary"] = [([], is_primary)]
        readable = {"standbys": sees_standbys, "system_identifier": sees_identifier}
        found["rota_database_readable"] = [([part], may) for part, may in readable.items()]
        if file:
            found["rota_database_timeline"] = [([], int(file[:_TIMELINE_DIGITS], 16))]
        if sees_identifier:
            cursor.execute(_IDENTIFIER)
            found["rota_database_system_identifier"] = [([], cursor.fetchone()[0])]
        if sees_standbys:
            cursor.execute(_STANDBYS)
            standbys = {state: (count, lag) for state, count, lag in cursor.fetchall()}
            found["rota_database_standbys"] = [
                ([state], standbys[state][0] if state in standbys else 0) for state in _SYNC_STATES
            ]
            found["rota_database_standby_lag_seconds"] = [([state], lag) for state, (_count, lag) in standbys.items()]
    return _families(found)


def read_redis() -> list[Metric]:
    """Raises RedisError."""
    try:
        info = redis().info("replication")
    except NoPermissionError:
        return _families({"rota_redis_readable": [([], 0)]})
    return _families(
        {
            "rota_redis_readable": [([], 1)],
            "rota_redis_is_master": [([], info["role"] == "master")],
            "rota_redis_replicas": [([], info["connected_slaves"])],
        }
    )


def _families(found: dict[str, list[tuple[list[str], float]]]) -> list[Metric]:
    families: list[Metric] = []
    for name, samples in found.items():
        text, labels = FAMILIES[name]
        family = GaugeMetricFamily(name, text, labels=labels)
        for values, value in samples:
            family.add_metric(values, value)
        families.append(family)
    return families
