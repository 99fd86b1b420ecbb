"""Calls of both areas after an import, before PostgreSQL has statistics of the imported rows.

An installation that has just been filled must not be slow until the first ANALYZE, and statements that were prepared
while the tables were empty must not be either. So the calls come before the import too, on the same connection.
"""

import time
from collections.abc import Callable
from statistics import median

from django.conf import settings
from django.db import connection

from benchmarks import fill, report, seed
from benchmarks.growth_calls import ask
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


def _calls(token: Token, delivery: Delivery, seller: Seller, pattern: Order) -> dict[str, Callable[[], object]]:
    """By its name each call that is measured, of the token's account or with a new key of the seller."""
    of_a = {"Authorization": f"Bearer {token.clear_text}", "Content-Type": "application/json"}
    of_b = {"Authorization": f"Basic {key_of(seller)}", "Content-Type": "application/json"}
    tracked = f"type=order_number&value={pattern.code}"
    numbers = iter(range(10**6))

    return {
        "quotation-delivery": lambda: ask("POST", "/api/quotation-delivery", of_a, body=payload(stops=3)),
        "request-delivery": lambda: ask("POST", "/api/request-delivery", of_a, body=payload(stops=3)),
        "info-delivery": lambda: ask("GET", f"/api/info-delivery/{delivery.pk}", of_a),
        "deliveries": lambda: ask("GET", "/api/deliveries", of_a),
        "deliveries by externalId": lambda: ask("GET", "/api/deliveries", of_a, "externalId=order-7"),
        "deliveries by status": lambda: ask("GET", "/api/deliveries", of_a, "status=PENDING"),
        "events": lambda: ask("GET", "/api/events", of_a),
        "orders/tracking": lambda: ask("GET", "/api/integration/orders/tracking", of_b, tracked),
        "orders": lambda: ask("GET", "/api/integration/orders", of_b),
        "orders/{orderId}": lambda: ask("GET", f"/api/integration/orders/{pattern.code}", of_b),
        "create an order": lambda: ask(
            "POST", "/api/integration/orders", of_b,
            body=order_body(orderId=f"N-{(number := next(numbers))}", trackingCode=f"N-{number}", invoice=None),
        ),
    }  # fmt: skip  # a table


def _milliseconds(act: Callable[[], object]) -> float:
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
