"""Calls of both areas after an import, before PostgreSQL has statistics of the imported rows.

An installation that has just been filled must not be slow until the first ANALYZE, and statements that were prepared
while the tables were empty must not be either. So the calls come before the import too, on the same connection.
"""

import json
import time
from collections.abc import Callable
from statistics import median
from typing import Any

from django.conf import settings
from django.db import connection

from benchmarks import fill, report, seed
from config.database import for_web_process
from delivery.models import Delivery, Token
from integration.models import Order, Seller
from tests.factories import DeliveryFactory, TariffFactory, payload
from tests.integration.factories import SellerFactory, create_order, key_of, order_body

_ROWS = 100_000
_CALLS = 30  # of each kind; a prepared statement is planned for any parameters from its sixth execution


def run() -> None:
    connection.close()
    for_web_process(connection.settings_dict)
    settings.RATE_LIMIT_PER_SECOND = settings.RATE_LIMIT_PER_HOUR = 0
    _set_autovacuum("off")
    seed.empty()
    _forget_statistics()
    TariffFactory.create()
    (token,) = seed.accounts(1, url="")
    seller = SellerFactory.create()
    pattern = create_order(seller)
    calls = _calls(token, DeliveryFactory.create(token=token), seller, pattern)
    before = {name: _milliseconds(act) for name, act in calls.items()}
    fill.deliveries(_ROWS, token=token)
    fill.orders(_ROWS, pattern=pattern)
    imported = {name: _milliseconds(act) for name, act in calls.items()}
    fill.analyze()
    analyzed = {name: _milliseconds(act) for name, act in calls.items()}
    _set_autovacuum("on")

    assert Delivery.objects.count() > _ROWS < Order.objects.count()
    report.table(
        f"Milliseconds of a call, median of {_CALLS}, of an account with {_ROWS:,} deliveries and of a seller with as "
        "many orders; without autovacuum",
        ["call", "before the import", "after it", "after ANALYZE"],
        [[name, f"{before[name]:.1f}", f"{imported[name]:.1f}", f"{analyzed[name]:.1f}"] for name in calls],
    )


def _calls(token: Token, delivery: Delivery, seller: Seller, pattern: Order) -> dict[str, Callable[[], None]]:
    """By its name each call that is measured, of the token's account or with a new key of the seller."""
    from tests.cost.wsgi import ask  # needs the servers

    of_a = {"Authorization": f"Bearer {token.clear_text}", "Content-Type": "application/json"}
    of_b = {"Authorization": f"Basic {key_of(seller)}", "Content-Type": "application/json"}
    tracked = f"type=order_number&value={pattern.code}"
    numbers = iter(range(10**6))

    def call(headers: dict[str, str], method: str, path: str, query: str = "", body: Any = None) -> None:
        content = b"" if body is None else json.dumps(body).encode()
        answer = ask(method, path, query=query, headers=headers, body=content)
        if answer.status >= 400:  # an error
            raise RuntimeError(f"{method} {path}: {answer.status} {answer.body[:200]!r}")

    return {
        "quotation-delivery": lambda: call(of_a, "POST", "/api/quotation-delivery", body=payload(stops=3)),
        "request-delivery": lambda: call(of_a, "POST", "/api/request-delivery", body=payload(stops=3)),
        "info-delivery": lambda: call(of_a, "GET", f"/api/info-delivery/{delivery.pk}"),
        "deliveries": lambda: call(of_a, "GET", "/api/deliveries"),
        "deliveries by externalId": lambda: call(of_a, "GET", "/api/deliveries", "externalId=order-7"),
        "deliveries by status": lambda: call(of_a, "GET", "/api/deliveries", "status=PENDING"),
        "events": lambda: call(of_a, "GET", "/api/events"),
        "orders/tracking": lambda: call(of_b, "GET", "/api/integration/orders/tracking", tracked),
        "orders": lambda: call(of_b, "GET", "/api/integration/orders"),
        "orders/{orderId}": lambda: call(of_b, "GET", f"/api/integration/orders/{pattern.code}"),
        "create an order": lambda: call(
            of_b, "POST", "/api/integration/orders",
            body=order_body(orderId=f"N-{(number := next(numbers))}", trackingCode=f"N-{number}", invoice=None),
        ),
    }  # fmt: skip  # a table


def _milliseconds(act: Callable[[], None]) -> float:
    spent = []
    for _call in range(_CALLS):
        started = time.perf_counter()
        act()
        spent.append(1000 * (time.perf_counter() - started))
    return median(spent)


def _forget_statistics() -> None:
    """Those of an earlier run, which survive the truncation of the tables."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT pg_clear_attribute_stats(schemaname, tablename, attname, inherited) FROM pg_stats"
            " WHERE schemaname = 'public'"
        )


def _set_autovacuum(value: str) -> None:
    with connection.cursor() as cursor:
        cursor.execute(f"ALTER SYSTEM SET autovacuum = {value}")
        cursor.execute("SELECT pg_reload_conf()")
