"""Bulk test data, inserted by SQL: deliveries in every state, of which the newest are open, and orders."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import timedelta
from typing import Any
from urllib.parse import quote

from django.db import connection
from django.db.backends.utils import CursorWrapper
from django.db.models import Model
from django.utils import timezone

from delivery.models import Delivery, Driver, Integrator, Stop, Token, Transition, WebhookEndpoint, WebhookEvent
from integration.invoices.models import Invoice
from integration.models import Order, Seller
from tests.factories import PICKUP, DeliveryFactory, DriverFactory, TokenFactory

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


def deliveries(
    count: int,
    *,
    first: int = 1,
    token: Token | None = None,
    pattern: Delivery | None = None,
    rare: int = 1,
    are_read: bool = False,
    price: str = "pattern.shipping_value",
) -> None:
    """Insert deliveries number `first` to `count`, with the stops, events and transitions of `pattern`.

    The oldest are inserted first. They belong to the token's account. The pattern is by default one with a single stop
    that is still offered. What is rare, such as a failed event, is `rare` times as frequent. With `are_read` the events
    were fetched from the feed. `price` is SQL with the number `n`. The planner has no statistics of the rows yet
    (`analyze`).
    """
    token = token or TokenFactory.create()
    pattern = pattern or DeliveryFactory.create(token=token, stops=1)
    endpoint = WebhookEndpoint.objects.get(integrator=token.integrator_id, environment="live", number=1)
    DriverFactory.create_batch(max(_DRIVERS - Driver.objects.count(), 0))
    moment = f"now() - {_AGE}"
    later = "(pattern.sequence - 1) * interval '4 minutes'"
    # A number for each event of the endpoint, because the moments of two deliveries' events can be the same.
    position = (
        f"(1e6 * extract(epoch FROM {moment} + {later}))::bigint + pattern.sequence" if are_read else "NULL::bigint"
    )
    # Events for further endpoints keep theirs, and have no place in the feed.
    is_first = "pattern.copy_of IS NULL"
    with _numbered(first, count) as cursor:
        _copy(cursor, Delivery, [pattern.pk], {
            "id": "numbered.id", "route_id": f"uuidv7(-({_AGE}))", "created_at": moment,
            "environment": f"CASE WHEN n % {100 // rare} = 0 THEN 'sandbox' ELSE 'live' END",
            "vehicle_type": "CASE WHEN n % 10 = 0 THEN 'CAR' ELSE 'MOTORCYCLE' END",
            "status": _STATUS, "route_status": _ROUTE, "driver_id": _DRIVER, "shipping_value": price,
            "closed_at": f"CASE WHEN {_ACTIVE} THEN NULL ELSE {moment} + interval '20 minutes' END",
            "updated_at": f"{moment} + CASE WHEN {_ACTIVE} THEN '0' ELSE interval '20 minutes' END",
            "offer_expires_at": f"{moment} + interval '1 hour'",
            "accepted_at": f"CASE WHEN {_DRIVER} IS NOT NULL THEN {moment} + interval '1 minute' * (1 + n % 9) END",
        })  # fmt: skip  # a table reads as one
        stops, transitions = Stop.objects.filter(delivery=pattern), Transition.objects.filter(delivery=pattern)
        events = WebhookEvent.objects.filter(delivery=pattern)
        _copy(cursor, Stop, [stop.pk for stop in stops], {
            "id": None, "delivery_id": "numbered.id",
            "external_id": "concat_ws('-', 'order', n, nullif(pattern.index, 0))",
            "status": f"CASE WHEN {_ACTIVE} THEN {_STATUS} ELSE pattern.status END",
        })  # fmt: skip  # a table
        _copy(cursor, Transition, [transition.pk for transition in transitions], {
            "id": None, "delivery_id": "numbered.id", "at": moment,
            "by": f"CASE WHEN n % {1000 // rare} = 0 THEN 'user dora' ELSE 'token rota_live_…' END",
        })  # fmt: skip  # a table
        _copy(cursor, WebhookEvent, [event.pk for event in events], {
            "id": f"uuidv7({later} - ({_AGE}))", "delivery_id": "numbered.id",
            "endpoint_id": f"CASE WHEN {is_first} THEN {endpoint.pk} ELSE pattern.endpoint_id END",
            "copy_of": f"CASE WHEN {is_first} THEN NULL ELSE uuidv7() END",
            "created_at": f"{moment} + {later}", "attempts_made": "1", "sent_at": f"{moment} + {later}",
            "feed_position": f"CASE WHEN {is_first} THEN {position} END",
            "dead_since": f"CASE WHEN pattern.sequence = 1 AND n % {1000 // rare} = 0 THEN {moment} END",
            # Now and then one pending, so that no range of blocks is without that word: in service none is.
            "state": f"CASE WHEN pattern.sequence > 1 THEN 'sent' WHEN n % {1000 // rare} = 0 THEN 'dead'"
                     f" WHEN n % {100 // rare} = 1 THEN 'pending' ELSE 'sent' END",
        })  # fmt: skip  # a table
        _queue_some(cursor)


def _queue_some(cursor: CursorWrapper) -> None:
    """A place in the queue for the newest events that are pending."""
    cursor.execute(
        "INSERT INTO delivery_webhookqueueitem"
        " (event_id, delivery_id, endpoint_id, is_ordered, due_at, tries, refusals)"
        " SELECT id, delivery_id, endpoint_id, TRUE, now(), 0, 0 FROM delivery_webhookevent"
        " WHERE state = 'pending' AND sequence = 1 ORDER BY id DESC LIMIT 2000 ON CONFLICT DO NOTHING"
    )


def attempts() -> None:
    """Insert an attempt for each event of the last 30 days that was sent and has none."""
    with bulk() as cursor:
        cursor.execute(
            "INSERT INTO delivery_webhookattempt"
            " (event_id, number, at, milliseconds, status_code, error, response_start)"
            " SELECT id, 1, sent_at, 12, 204, '', '' FROM delivery_webhookevent event"
            " WHERE state = 'sent' AND created_at > now() - interval '30 days'"
            " AND NOT EXISTS (SELECT FROM delivery_webhookattempt WHERE event_id = event.id) ORDER BY created_at"
        )


def positions(count: int, *, degrees: float = 0) -> None:
    """Insert so many positions of the drivers in turn, within a square around PICKUP, ten for each second.

    `degrees` is from its centre to its sides. The last position of each driver becomes its latest one. It is in the
    next hour, so that it is fresh until the end of a benchmark.
    """
    with bulk() as cursor:
        cursor.execute(
            "INSERT INTO delivery_driverposition (driver_id, latitude, longitude, recorded_at, recorded_by)"
            " SELECT ids[1 + n %% cardinality(ids)], %(latitude)s + %(degrees)s * (2 * random() - 1),"
            " %(longitude)s + %(degrees)s * (2 * random() - 1),"
            " now() + interval '1 hour' - (%(count)s - n) * interval '0.1 seconds', 'x'"
            " FROM generate_series(1, %(count)s) n, (SELECT array_agg(id ORDER BY id) AS ids FROM delivery_driver) d",
            {"latitude": PICKUP.latitude, "longitude": PICKUP.longitude, "degrees": degrees, "count": count},
        )
        cursor.execute(
            "INSERT INTO delivery_latestposition AS latest (driver_id, latitude, longitude, recorded_at)"
            " SELECT DISTINCT ON (driver_id) driver_id, latitude, longitude, recorded_at FROM delivery_driverposition"
            " ORDER BY driver_id, recorded_at DESC ON CONFLICT (driver_id) DO UPDATE SET"
            " latitude = EXCLUDED.latitude, longitude = EXCLUDED.longitude, recorded_at = EXCLUDED.recorded_at"
        )


def orders(
    count: int, *, pattern: Order, first: int = 1, status: str = "pattern.status", cost: str = "pattern.cost"
) -> None:
    """Insert orders like the pattern, O-`first` to O-`count`, each with its search codes and its status in the log.

    `status` and `cost` are SQL with the number `n`.
    """
    with _numbered(first, count) as cursor:
        (last,) = _row(cursor, "SELECT max(id) FROM integration_order")
        _copy(cursor, Order, [pattern.pk], {
            "id": None, "code": "'O-' || n", "tracking_code": "'T-' || n", "invoice_key": "''",
            "created_at": f"now() - {_AGE}", "updated_at": f"now() - {_AGE}", "status": status, "cost": cost,
        })  # fmt: skip  # a table reads as one
        for kind, column in (("order", "code"), ("tracking_code", "tracking_code"), ("shipping", "id::text")):
            cursor.execute(
                "INSERT INTO integration_searchcode (seller_id, order_id, kind, value)"
                f" SELECT seller_id, id, %s, {column} FROM integration_order WHERE id > %s",
                [kind, last],
            )
        cursor.execute(
            "INSERT INTO integration_statuslog (order_id, company_id, status, via_api, by, created_at, updated_at)"
            " SELECT id, company_id, status, TRUE, 'x', created_at, created_at FROM integration_order WHERE id > %s",
            [last],
        )


def invoices(*, pattern: Invoice) -> None:
    """Insert an invoice like the pattern for each order that has none, with a reference and a link to it."""
    with bulk() as cursor:
        (last,) = _row(cursor, "SELECT max(id) FROM integration_invoice")
        cursor.execute(
            "CREATE TEMP TABLE numbered AS SELECT id AS n, created_at FROM integration_order"
            " WHERE id NOT IN (SELECT order_id FROM integration_invoicelink)"
        )
        _copy(cursor, Invoice, [pattern.pk], {
            "id": None, "access_key": "lpad(n::text, 44, '0')", "number": "n % 1000000000",
            "received_at": "numbered.created_at",
        })  # fmt: skip  # a table reads as one
        joined = "integration_invoice v JOIN integration_order o ON o.id = v.access_key::numeric WHERE v.id > %s"
        cursor.execute(
            "INSERT INTO integration_invoicereference (seller_id, invoice_id, value)"
            f" SELECT v.seller_id, v.id, o.code FROM {joined}",
            [last],
        )
        cursor.execute(
            "INSERT INTO integration_invoicelink (invoice_id, order_id, linked_by, linked_at)"
            f" SELECT v.id, o.id, 'x', now() FROM {joined}",
            [last],
        )
        cursor.execute("DROP TABLE numbered")


def refused_calls(count: int, *, account: Integrator, seller: Seller) -> None:
    """Insert so many refused calls of the account's live tokens and of the seller, as many as seven days hold."""
    columns = (
        "id, created_at, method, path, status, code, request_id, credential, query, content_type, size, body, answer"
    )
    values = (
        "gen_random_uuid(), now() - n * interval '7 days' / %(count)s, 'POST', '/api/request-delivery',"
        " (ARRAY[401, 404, 409])[1 + n %% 3], CASE WHEN n %% 100 = 0 THEN 'rare' ELSE 'invalid' END, n::text, '…', '',"
        " 'application/json', 900, repeat('x', 600), repeat('y', 300) FROM generate_series(1, %(count)s) n"
    )
    with bulk() as cursor:
        owners: dict[str, dict[str, Any]] = {
            "delivery_refuseddeliverycall": {"integrator_id": account.pk, "environment": "live"},
            "integration_refusedsellercall": {"seller_id": seller.pk},
        }
        for table, owner in owners.items():
            cursor.execute(
                f"INSERT INTO {table} ({columns}, {', '.join(owner)})"
                f" SELECT {values.replace(' FROM', ''.join(f', %({name})s' for name in owner) + ' FROM', 1)}",
                {"count": count, **owner},
            )


def audit_entries(count: int, *, account: Integrator) -> None:
    """Insert entries of the account's activity in the last year, of ten people, one of whom has done little."""
    with bulk() as cursor:
        cursor.execute(
            "INSERT INTO delivery_auditentry (integrator_id, environment, action, subject, by, at)"
            " SELECT %(account)s, 'live', (ARRAY['token_issued', 'url_set', 'test_sent'])[1 + n %% 3], 'x',"
            " CASE WHEN n %% 10000 = 0 THEN 'user dora' ELSE 'user p' || n %% 9 END,"
            " now() - n * interval '365 days' / %(count)s FROM generate_series(1, %(count)s) n",
            {"account": account.pk, "count": count},
        )


def analyze() -> None:
    with connection.cursor() as cursor:
        cursor.execute("VACUUM ANALYZE")


@contextmanager
def bulk() -> Iterator[CursorWrapper]:
    """A cursor without triggers, which run once per row, for a fast bulk insert."""
    with connection.cursor() as cursor:
        cursor.execute("SET session_replication_role = replica")
        yield cursor
        cursor.execute("SET session_replication_role = DEFAULT")


@contextmanager
def _numbered(first: int, last: int) -> Iterator[CursorWrapper]:
    """The same, with a temporary table of numbers and of ids that are as old as the rows with these numbers."""
    with bulk() as cursor:
        cursor.execute(
            f"CREATE TEMP TABLE numbered AS SELECT n, uuidv7(-({_AGE})) AS id FROM generate_series({first}, {last}) n"
        )
        cursor.execute("CREATE INDEX ON numbered (n)")
        cursor.execute("ANALYZE numbered")
        yield cursor
        cursor.execute("DROP TABLE numbered")


def _row(cursor: CursorWrapper, statement: str) -> tuple[int, ...]:
    cursor.execute(statement)
    row: tuple[int, ...] = cursor.fetchone()
    return row


def _copy(cursor: CursorWrapper, model: type[Model], keys: Sequence[object], changed: dict[str, str | None]) -> None:
    """Write the rows `keys` for every number, like them but for what is changed; None leaves it to the database."""
    meta = model._meta  # its public name
    names = [str(field.column) for field in meta.concrete_fields]
    columns = {name: changed.get(name, f"pattern.{name}") for name in names}
    named = {column: expression for column, expression in columns.items() if expression is not None}
    values = ", ".join(named.values()).replace("%", "%%")
    cursor.execute(
        f"INSERT INTO {meta.db_table} ({', '.join(chr(34) + name + chr(34) for name in named)})"
        f" SELECT {values} FROM numbered, {meta.db_table} pattern WHERE pattern.id = ANY(%s) ORDER BY n DESC",
        [list(keys)],
    )
