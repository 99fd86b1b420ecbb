"""What pages for people cost with a million deliveries: in the process, from request to rendered page."""

import time
from collections.abc import Callable
from statistics import median

from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from benchmarks import fill, pages, report, seed
from delivery.models import Delivery, Integrator
from integration.models import Seller
from tests.integration.factories import SellerFactory, create_order, load_tariff, nfe_xml, send_invoice

_ROWS = 1_000_000
_RUNS = 5
# Refused calls that an account can have in seven days, and entries of its activity.
_REFUSED, _ENTRIES = 84_000, 100_000
_MOST_MILLISECONDS = 150
_ID_LENGTH = 36
# Prices and values from 5 to 55, so that the order by them is not that of the age.
_PRICE = "5 + n % 5000 * 7919 % 5000 / 100.0"
# The newest orders are under way, most others delivered.
_STATUS = """CASE WHEN n <= 300 THEN 'pending' WHEN n <= 500 THEN 'collected' WHEN n <= 900 THEN 'in_transit'
    WHEN n % 1000 = 7 THEN 'returned' WHEN n % 50 = 1 THEN 'cancelled' WHEN n % 200 = 3 THEN 'delivery_failed'
    ELSE 'delivered' END"""


def run() -> None:
    seed.empty()
    started = time.monotonic()
    load_tariff()
    (token,) = seed.accounts(1, url="")
    seller = SellerFactory.create()
    fill.deliveries(_ROWS, token=token, price=_PRICE)
    fill.positions(_ROWS)
    fill.orders(_ROWS, pattern=create_order(seller), status=_STATUS, cost=_PRICE)
    fill.invoices(pattern=send_invoice(seller, nfe_xml().encode()))
    fill.refused_calls(_REFUSED, account=token.integrator, seller=seller)
    fill.audit_entries(_ENTRIES, account=token.integrator)
    fill.analyze()
    print(
        f"{_ROWS:,} deliveries, each with a stop, an event and a transition, and as many orders with invoices: "
        f"{time.monotonic() - started:.0f} s\n"
    )
    client = pages.staff()
    middle = Delivery.objects.order_by("-created_at")[_ROWS // 2]
    report.table(
        f"Pages with {_ROWS:,} deliveries, of 50 rows each where they are lists; {_RUNS} times",
        ["page", "ms: median (least to greatest)", "queries"],
        [(name, *_measured(client, path)) for name, path in {**pages.admin(middle), **pages.panel(client)}.items()],
    )
    report.table(
        "For comparison: an exact count",
        ["rows", "ms: median (least to greatest)"],
        [(f"{_ROWS:,}", report.spread([_milliseconds(Delivery.objects.count) for _run in range(_RUNS)]))],
    )
    _compare_lists(client, token.integrator, seller)
    seed.empty()


def _compare_lists(client: Client, account: Integrator, seller: Seller) -> None:
    """Print the slowest query of each list, and those above _MOST_MILLISECONDS."""
    asked = {path: pages.combinations(each) for path, each in pages.lists(account, seller).items()}
    asked |= pages.admin_lists()
    rows, slow = [], []
    for path, queries in asked.items():
        client.get(path)
        found = {query: _median(client, f"{path}?{query}") for query in queries}
        slowest = max(found, key=lambda query: found[query])
        rows.append(
            (_named(path), f"{len(queries):,}", f"{median(found.values()):,.0f}", f"{found[slowest]:,.0f}", slowest)
        )
        slow += [(_named(path), query, f"{spent:,.0f}") for query, spent in found.items() if spent > _MOST_MILLISECONDS]
    report.table(
        "CPU milliseconds of every order of a list with every combination of its filters; in the admin two at once",
        ["list", "queries", "median", "the slowest", "its query"],
        rows,
    )
    report.table(f"Queries above {_MOST_MILLISECONDS} ms", ["list", "query", "ms"], slow)


def _named(path: str) -> str:
    """Without the ids of an account and a seller."""
    return "/".join(part for part in path.split("/") if not part.isdigit() and len(part) < _ID_LENGTH)


def _median(client: Client, path: str) -> float:
    """CPU milliseconds of a page: once, and if they are many, the median of some more times."""
    first = report.cpu_milliseconds(lambda: client.get(path))
    if first < _MOST_MILLISECONDS / 2:
        return first
    return median(report.cpu_milliseconds(lambda: client.get(path)) for _run in range(_RUNS))


def _measured(client: Client, path: str) -> tuple[str, str]:
    with CaptureQueriesContext(connection) as queries:
        response = client.get(path)
    if response.status_code not in {200, 204}:
        raise RuntimeError(f"{path}: {response.status_code}")
    asked = len(queries)  # before the next request empties the log
    return report.spread([_milliseconds(lambda: client.get(path)) for _run in range(_RUNS)]), str(asked)


def _milliseconds(call: Callable[[], object]) -> float:
    started = time.perf_counter()
    call()
    return 1000 * (time.perf_counter() - started)
