"""Tables by month: what a look-up by key reads, and what it costs to remove the oldest month.

The copies of `delivery_transition` and its deliveries are in a schema of their own, which is dropped at the end. Both
are divided by the delivery's id, a UUIDv7, which begins with the time at which it was made.
"""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from uuid import UUID

from django.db import connection

from benchmarks import report

_MONTHS = 12
_EACH = 60_000  # deliveries of a month; each has two transitions
_START_MS, _MONTH_MS = 1_767_225_600_000, 2_629_800_000  # 2026, and months of equal length
_SCHEMA = "monthly"
_TABLES = ("transition", "delivery")  # in the order in which their oldest month is removed


def run() -> None:
    with _schema():
        tables = {"one table": _fill(is_divided=False), "12 partitions": _fill(is_divided=True)}
        _execute("VACUUM ANALYZE")
        rows = []
        for name, prefix in tables.items():
            key = _row(f"SELECT id FROM {prefix}_delivery ORDER BY id LIMIT 1 OFFSET {_EACH * 7}")[0]
            rows.append((name, *_look_ups(prefix, key), *_removal(prefix, is_divided=name != "one table")))
        report.table(
            f"{_MONTHS * _EACH:,} deliveries with two transitions each, {_MONTHS} months",
            [
                "", "pages: a delivery by id", "pages: its transitions", "removal of a month: s", "WAL, MB",
                "space that is free at once, MB",
            ],
            rows,
        )  # fmt: skip  # a table


@contextmanager
def _schema() -> Iterator[None]:
    _execute(f"DROP SCHEMA IF EXISTS {_SCHEMA} CASCADE", f"CREATE SCHEMA {_SCHEMA}")
    try:
        yield
    finally:
        _execute(f"DROP SCHEMA {_SCHEMA} CASCADE")


def _fill(*, is_divided: bool) -> str:
    """Make the two tables and return their common prefix."""
    prefix = f"{_SCHEMA}.{'divided' if is_divided else 'whole'}"
    by_id, by_delivery = (f"PARTITION BY RANGE ({column})" if is_divided else "" for column in ("id", "delivery_id"))
    _execute(
        f"CREATE TABLE {prefix}_delivery (id uuid PRIMARY KEY, integrator_id uuid, status text, address text) {by_id}",
        f"CREATE TABLE {prefix}_transition (id bigint GENERATED ALWAYS AS IDENTITY, delivery_id uuid REFERENCES"
        f" {prefix}_delivery, sequence int, body text, UNIQUE (delivery_id, sequence)) {by_delivery}",
    )
    for month in range(_MONTHS if is_divided else 0):
        begin, end = _bound(month), _bound(month + 1)
        for table in ("delivery", "transition"):
            _execute(
                f"CREATE TABLE {prefix}_{table}_{month} PARTITION OF {prefix}_{table}"
                f" FOR VALUES FROM ('{begin}') TO ('{end}')"
            )
    # Not to the end of the month: ids are made by the clock, and now() is the beginning of the statement.
    _execute(
        f"INSERT INTO {prefix}_delivery SELECT uuidv7(to_timestamp({_START_MS / 1000}) - now()"
        f" + (month + 0.9 * n / {_EACH}) * interval '{_MONTH_MS} milliseconds'), gen_random_uuid(), 'DELIVERED',"
        f" repeat('x', 300) FROM generate_series(0, {_MONTHS - 1}) month, generate_series(0, {_EACH - 1}) n"
    )
    _execute(
        f"INSERT INTO {prefix}_transition (delivery_id, sequence, body)"
        f" SELECT id, n, repeat('x', 80) FROM {prefix}_delivery, generate_series(1, 2) n ORDER BY id"
    )
    return prefix


def _bound(month: int) -> UUID:
    """The least UUIDv7 of a month."""
    return UUID(int=(_START_MS + month * _MONTH_MS) << 80)


def _look_ups(prefix: str, key: UUID) -> tuple[str, str]:
    """How many pages are read for a delivery by its key, and for its transitions."""
    pages = []
    for condition in (f"{prefix}_delivery WHERE id", f"{prefix}_transition WHERE delivery_id"):
        statement = f"EXPLAIN (ANALYZE, BUFFERS, FORMAT json) SELECT * FROM {condition} = '{key}'"
        (plan,) = _row(statement)[0]
        pages.append(f"{plan['Plan']['Shared Hit Blocks'] + plan['Plan']['Shared Read Blocks']}")
    return pages[0], pages[1]


def _removal(prefix: str, *, is_divided: bool) -> tuple[str, str, str]:
    """Seconds, MB of write-ahead log, and MB that the file system has back, for the oldest month."""
    before, (start,) = _size(prefix), _row("SELECT pg_current_wal_insert_lsn()::text")
    started = time.monotonic()
    if is_divided:
        for table in _TABLES:
            month = f"{prefix}_{table}_0"
            _execute(f"ALTER TABLE {prefix}_{table} DETACH PARTITION {month}", f"DROP TABLE {month}")
    else:
        end = _bound(1)
        _execute(
            f"DELETE FROM {prefix}_transition WHERE delivery_id < '{end}'",
            f"DELETE FROM {prefix}_delivery WHERE id < '{end}'",
            f"VACUUM {prefix}_transition, {prefix}_delivery",
        )
    seconds = time.monotonic() - started
    (written,) = _row(f"SELECT pg_current_wal_insert_lsn() - '{start}'::pg_lsn")
    return f"{seconds:.2f}", f"{written / 1_000_000:.1f}", f"{(before - _size(prefix)) / 1e6:.0f}"


def _size(prefix: str) -> int:
    name = prefix.partition(".")[2]
    (size,) = _row(
        "SELECT sum(pg_total_relation_size(oid))::bigint FROM pg_class"
        f" WHERE relkind = 'r' AND relnamespace = '{_SCHEMA}'::regnamespace AND starts_with(relname, '{name}_')"
    )
    return int(size)


def _execute(*statements: str) -> None:
    with connection.cursor() as cursor:
        for statement in statements:
            cursor.execute(statement)


def _row(statement: str) -> tuple[Any, ...]:
    with connection.cursor() as cursor:
        cursor.execute(statement)
        row: tuple[Any, ...] = cursor.fetchone()
    return row
