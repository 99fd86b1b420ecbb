"""Whether calls get slower as the database grows: the same calls in a small and in a large database, in turn.

The small one is a copy of the large one before it grew, so both have the rows that are asked for, and lists have at
least a page of rows in both. The rows that the large one has besides are older.
"""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from itertools import product
from typing import NamedTuple

from django.conf import settings
from django.db import DEFAULT_DB_ALIAS, connection, connections
from django.db.backends.base.base import BaseDatabaseWrapper
from django.utils import timezone

from benchmarks import fill, growth_calls, report, seed
from config.database import for_web_process
from delivery.actions import deliveries
from delivery.models import Delivery, Driver, Token, WebhookEvent
from integration.invoices.models import Invoice
from integration.models import Order
from tests.factories import BY, DriverFactory, TariffFactory, add_endpoint
from tests.integration.factories import SellerFactory, create_order, load_tariff, nfe_xml, send_invoice


class Size(NamedTuple):
    """The numbers of rows of a database, or of its first row of each kind."""

    deliveries: int
    orders: int
    drivers: int
    positions: int

    def next(self) -> "Size":
        return Size(*(number + 1 for number in self))


class Patterns(NamedTuple):
    """The rows that the others are like."""

    delivery: Delivery
    order: Order
    invoice: Invoice


_FEW = Size(deliveries=2_500, orders=1_000, drivers=600, positions=6_000)
_MANY = Size(deliveries=1_000_000, orders=1_000_000, drivers=10_000, positions=1_000_000)
_DEGREES = 0.1  # from PICKUP to the sides of the square with all drivers, which is within the dispatch radius
_SMALL = "growth_small"
_SAMPLE = 500  # deliveries
_LIMIT = 1.2
_WARM_UPS, _TIMES = 6, 200
_SIZES = """
SELECT relname, n_live_tup, pg_table_size(relid), pg_indexes_size(relid) FROM pg_stat_user_tables
WHERE pg_total_relation_size(relid) > 10000000 ORDER BY pg_total_relation_size(relid) DESC
"""


def run(names: list[str]) -> None:
    """Measure the calls whose names contain one of `names`, or all."""
    connection.close()
    for_web_process(connection.settings_dict)
    settings.RATE_LIMIT_PER_SECOND = settings.RATE_LIMIT_PER_HOUR = 0
    seed.empty()
    load_tariff()
    TariffFactory.create()
    (token,) = seed.accounts(1, url="")
    add_endpoint(token, statuses=["DELIVERED"])
    seller = SellerFactory.create()
    patterns = Patterns(
        _delivered(token, DriverFactory.create()), create_order(seller), send_invoice(seller, nfe_xml().encode())
    )
    _grow(_FEW, patterns, first=Size(1, 1, 1, 1), rare=20)
    calls = {
        **growth_calls.of_area_a(token),
        **growth_calls.of_area_b(seller),
        **growth_calls.of_dispatch(token),
        **growth_calls.of_monitoring(),
    }
    tasks = growth_calls.of_tasks(token, seller)
    visits = growth_calls.of_pages(token, seller)
    with _small_copy() as small:
        _grow(_MANY, patterns, first=_FEW.next())
        dead = WebhookEvent.objects.in_state("dead")
        assert dead.count() > _MANY.deliveries // 1000
        _sizes()
        for title, compared in (("API calls and actions", calls), ("periodic tasks", tasks), ("pages", visits)):
            _compare(title, compared, small, names)
    _log_volume(token)  # whose deliveries the small one would not have
    seed.empty()


def _sizes() -> None:
    """Print what the tables of more than 10 MB take on the disk."""
    with connection.cursor() as cursor:
        cursor.execute(_SIZES)
        rows = cursor.fetchall()
    deliveries = Delivery.objects.count()
    report.table(
        f"Size on disk with {deliveries:,} deliveries, after VACUUM",
        ["table", "rows", "table, MB", "indexes, MB", "bytes of a row with its indexes"],
        [
            (name, f"{count:,}", f"{table / 1e6:,.0f}", f"{indexes / 1e6:,.0f}", f"{(table + indexes) / count:,.0f}")
            for name, count, table, indexes in rows
        ],
    )
    total = sum(table + indexes for _name, _count, table, indexes in rows)
    print(f"Together: {total / 1e9:.1f} GB\n")


def _log_volume(token: Token) -> None:
    """Print how much write-ahead log a delivery causes from its request to its last drop-off, without its webhooks."""
    rows = []
    with connection.cursor() as cursor:
        cursor.execute("CHECKPOINT")
        for name in ("just after a checkpoint", "later"):
            cursor.execute("SELECT pg_current_wal_insert_lsn()::text")
            (start,) = cursor.fetchone()
            for _number in range(_SAMPLE):
                _delivered(token)
            cursor.execute("SELECT pg_current_wal_insert_lsn() - %s::pg_lsn", [start])
            rows.append((name, f"{cursor.fetchone()[0] / _SAMPLE:,.0f}"))
    report.table(f"Write-ahead log of {_SAMPLE} deliveries", ["", "bytes each"], rows)


def _delivered(token: Token, driver: Driver | None = None) -> Delivery:
    """A delivery with three drop-offs and whole addresses that went through every status of a successful one."""
    delivery = growth_calls.requested(token)
    steps: list[Callable[..., Delivery]] = [
        partial(deliveries.accept, driver=driver),
        deliveries.collect,
        *(partial(deliveries.deliver, point=point) for point in "BCD"),
    ]
    for step in steps:
        step(delivery=delivery, by=BY, at=timezone.now())
    return delivery


def _alter_system(setting: str) -> None:
    with connection.cursor() as cursor:
        cursor.execute(f"ALTER SYSTEM {setting}")
        cursor.execute("SELECT pg_reload_conf()")


def _grow(size: Size, patterns: Patterns, *, first: Size, rare: int = 1) -> None:
    """Insert rows up to this size, each step with its seconds."""
    token = patterns.delivery.token
    steps: dict[str, Callable[[], object]] = {
        "drivers": lambda: Driver.objects.bulk_create(
            Driver(name=f"Driver {number}", vehicle_type="MOTORCYCLE", on_duty=True)
            for number in range(size.drivers - Driver.objects.count())
        ),
        "deliveries, stops, transitions, events": lambda: fill.deliveries(
            size.deliveries, first=first.deliveries, token=token, pattern=patterns.delivery, rare=rare, are_read=True
        ),
        "attempts": fill.attempts,
        "positions": lambda: fill.positions(size.positions, degrees=_DEGREES),
        "orders": lambda: fill.orders(size.orders, first=first.orders, pattern=patterns.order),
        "invoices": lambda: fill.invoices(pattern=patterns.invoice),
        "vacuum": fill.analyze,
    }
    _alter_system("SET max_wal_size = '16GB'")  # else checkpoints take most of the time
    for name, act in steps.items():
        started = time.monotonic()
        act()
        print(f"{name}: {time.monotonic() - started:.0f} s", flush=True)
    _alter_system("RESET max_wal_size")


@contextmanager
def _small_copy() -> Iterator[BaseDatabaseWrapper]:
    """A connection to a copy of the current database."""
    large = str(connection.settings_dict["NAME"])
    _administrate(f"DROP DATABASE IF EXISTS {_SMALL}", f'CREATE DATABASE {_SMALL} TEMPLATE "{large}"')
    small = connections.create_connection(DEFAULT_DB_ALIAS)
    small.settings_dict = {**connection.settings_dict, "NAME": _SMALL}
    try:
        yield small
    finally:
        small.close()
        _administrate(f"DROP DATABASE {_SMALL}")


def _administrate(*statements: str) -> None:
    """Execute statements while nothing is connected to the current database."""
    connection.close()
    own = connection.settings_dict["NAME"]
    connection.settings_dict["NAME"] = "postgres"
    with connection.cursor() as cursor:
        for statement in statements:
            cursor.execute(statement)
    connection.close()
    connection.settings_dict["NAME"] = own


def _compare(
    title: str,
    calls: dict[str, growth_calls.Timed],
    small: BaseDatabaseWrapper,
    names: list[str],
) -> None:
    """Make each call in both databases in turn, and print percentiles and their ratios."""
    large = connections[DEFAULT_DB_ALIAS]
    rows = []
    for name, call in calls.items():
        if names and not any(part in name for part in names):
            continue
        spent: dict[BaseDatabaseWrapper, list[float]] = {small: [], large: []}
        for _time, database in product(range(_WARM_UPS + _TIMES), (small, large)):
            connections[DEFAULT_DB_ALIAS] = database
            spent[database].append(call())
        measured = [values[_WARM_UPS:] for values in spent.values()]
        rows.append([name, *_columns(*measured, share=0.5), *_columns(*measured, share=0.95)])
    report.table(
        f"CPU milliseconds, Python and PostgreSQL together, of {title}, {_TIMES} times in each database",
        ["call", "p50 small", "p50 large", "ratio", "p95 small", "p95 large", "ratio"],
        rows,
    )


def _columns(small: list[float], large: list[float], *, share: float) -> list[str]:
    values = [report.percentile(values, share) for values in (small, large)]
    ratio = values[1] / values[0]
    return [*(f"{value:.1f}" for value in values), f"**{ratio:.2f}**" if ratio > _LIMIT else f"{ratio:.2f}"]
