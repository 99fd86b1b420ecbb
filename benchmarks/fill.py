"""Bulk test data, inserted by SQL: deliveries in every state, of which the newest are open, and orders."""

from datetime import timedelta
from urllib.parse import quote

from django.db import connection
from django.db.backends.utils import CursorWrapper
from django.db.models import Model
from django.utils import timezone

from delivery.models import Delivery, Stop, Token, Transition, WebhookEndpoint, WebhookEvent
from integration.models import Order
from tests.factories import DeliveryFactory, DriverFactory, TokenFactory

# Age of row n: one row per 30 seconds, so a million rows cover about a year.
_AGE = "n * interval '30 seconds'"
_DRIVERS = 500
_ACTIVE = f"n <= {_DRIVERS + 300}"
_ROUTE = f"""CASE
    WHEN n <= 300 THEN 'AVAILABLE' WHEN n <= 500 THEN 'ACCEPTED' WHEN n <= 780 THEN 'COLLECTED' WHEN {_ACTIVE} THEN
    'RETURNING' WHEN n % 20 = 3 THEN 'CANCELLED' WHEN n % 50 = 1 THEN 'EXPIRED' ELSE 'FINISHED' END"""
_STATUS = f"""CASE WHEN n <= 300 THEN 'PENDING' WHEN n <= 500 THEN 'ACCEPT' WHEN {_ACTIVE} THEN 'COLLECTED'
    WHEN n % 20 = 3 OR n % 50 = 1 OR n % 15 = 2 THEN 'FAILED' ELSE 'DELIVERED' END"""
_DRIVER = """CASE WHEN n <= 300 OR (n > 800 AND (n % 20 = 3 OR n % 50 = 1)) THEN NULL
    ELSE (SELECT array_agg(id ORDER BY id) FROM delivery_driver)[1 + n % 500] END"""


def days_ago(days: int) -> str:
    """URL-encoded time `days` days ago, as a value for the date filter of a list."""
    return quote((timezone.now() - timedelta(days=days)).isoformat(sep=" "))


def deliveries(count: int, *, token: Token | None = None) -> None:
    """Insert `count` deliveries, each with a stop, an event and a transition, and `count` positions of drivers.

    They belong to the token's account. The planner has no statistics of them yet (`analyze`).
    """
    token = token or TokenFactory.create()
    drivers = DriverFactory.create_batch(_DRIVERS)
    pattern = DeliveryFactory.create(token=token, stops=1)
    endpoint = WebhookEndpoint.objects.get(integrator=token.integrator_id, environment="live")
    with connection.cursor() as cursor:
        # Disables triggers, which run once per row, for a fast bulk insert.
        cursor.execute("SET session_replication_role = replica")
        cursor.execute(
            f"CREATE TEMP TABLE numbered AS SELECT n, uuidv7(-({_AGE})) AS id FROM generate_series(1, {count}) n"
        )
        moment = f"now() - {_AGE}"
        _copy(cursor, Delivery, pattern.pk, {
            "id": "numbered.id", "route_id": "gen_random_uuid()", "created_at": moment,
            "environment": "CASE WHEN n % 100 = 0 THEN 'sandbox' ELSE 'live' END",
            "vehicle_type": "CASE WHEN n % 10 = 0 THEN 'CAR' ELSE 'MOTORCYCLE' END",
            "status": _STATUS, "route_status": _ROUTE, "driver_id": _DRIVER,
            "closed_at": f"CASE WHEN {_ACTIVE} THEN NULL ELSE {moment} + interval '20 minutes' END",
            "offer_expires_at": f"{moment} + interval '1 hour'",
        })  # fmt: skip  # a table reads as one
        stop, transition = Stop.objects.get(delivery=pattern), Transition.objects.get(delivery=pattern)
        _copy(cursor, Stop, stop.pk, {"id": None, "delivery_id": "numbered.id", "external_id": "'order-' || n"})
        _copy(cursor, Transition, transition.pk, {
            "id": None, "delivery_id": "numbered.id", "at": moment,
            "by": "CASE WHEN n % 1000 = 0 THEN 'user dora' ELSE 'token rota_live_…' END",
        })  # fmt: skip  # likewise
        _copy(cursor, WebhookEvent, pattern.events.get().pk, {
            "id": f"uuidv7(-({_AGE}))", "delivery_id": "numbered.id", "endpoint_id": str(endpoint.pk),
            "created_at": moment, "attempts_made": "1", "sent_at": moment,
            # Now and then one pending, so that no range of blocks is without that word: in service none is.
            "state": "CASE WHEN n % 1000 = 0 THEN 'dead' WHEN n % 100 = 1 THEN 'pending' ELSE 'sent' END",
        })  # fmt: skip  # likewise
        cursor.execute(
            "INSERT INTO delivery_webhookqueueitem"
            " (event_id, delivery_id, endpoint_id, is_ordered, due_at, tries, refusals)"
            " SELECT id, delivery_id, endpoint_id, TRUE, now(), 0, 0 FROM delivery_webhookevent"
            " WHERE state = 'pending' AND sequence = 1 ORDER BY id DESC LIMIT 2000 ON CONFLICT DO NOTHING"
        )
        cursor.execute(
            "INSERT INTO delivery_driverposition (driver_id, latitude, longitude, recorded_at, recorded_by)"
            f" SELECT (%s::uuid[])[1 + n %% {_DRIVERS}], -23.5, -46.6, now() - ({count} - n) * interval '1 second', 'x'"
            f" FROM generate_series(1, {count}) n",
            [[driver.pk for driver in drivers]],
        )
        cursor.execute("DROP TABLE numbered")
        cursor.execute("SET session_replication_role = DEFAULT")


def orders(count: int, *, pattern: Order) -> None:
    """Insert `count` orders like the pattern, O-1 and so on, each with its search codes and first status."""
    with connection.cursor() as cursor:
        cursor.execute("SET session_replication_role = replica")
        cursor.execute(f"CREATE TEMP TABLE numbered AS SELECT n FROM generate_series(1, {count}) n")
        _copy(cursor, Order, pattern.pk, {
            "id": None, "code": "'O-' || n", "tracking_code": "'T-' || n", "invoice_key": "''",
            "created_at": f"now() - {_AGE}",
        })  # fmt: skip  # a table reads as one
        for kind, column in (("order", "code"), ("tracking_code", "tracking_code"), ("shipping", "id::text")):
            cursor.execute(
                "INSERT INTO integration_searchcode (seller_id, order_id, kind, value)"
                f" SELECT seller_id, id, %s, {column} FROM integration_order WHERE code LIKE 'O-%%'",
                [kind],
            )
        cursor.execute(
            "INSERT INTO integration_statuslog (order_id, company_id, status, via_api, by, created_at, updated_at)"
            " SELECT id, company_id, status, TRUE, 'x', created_at, created_at FROM integration_order"
            " WHERE code LIKE 'O-%%'"
        )
        cursor.execute("DROP TABLE numbered")
        cursor.execute("SET session_replication_role = DEFAULT")


def analyze() -> None:
    with connection.cursor() as cursor:
        cursor.execute("VACUUM ANALYZE")


def _copy(cursor: CursorWrapper, model: type[Model], key: object, changed: dict[str, str | None]) -> None:
    """Write a row for every number, like the row `key` but for what is changed; None leaves it to the database."""
    meta = model._meta  # its public name
    names = [str(field.column) for field in meta.concrete_fields]
    columns = {name: changed.get(name, f"pattern.{name}") for name in names}
    named = {column: expression for column, expression in columns.items() if expression is not None}
    cursor.execute(
        f"INSERT INTO {meta.db_table} ({', '.join(chr(34) + name + chr(34) for name in named)})"
        f" SELECT {', '.join(named.values())} FROM numbered, {meta.db_table} pattern"
        f" WHERE pattern.id = '{key}' ORDER BY n DESC"
    )
