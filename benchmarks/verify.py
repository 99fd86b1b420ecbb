"""How long `manage.py verify` takes with a million deliveries and a million orders, all of them healthy."""

import time

from django.apps import apps
from django.core.management import call_command
from django.db import connection, transaction
from django.utils import timezone

import delivery.invariants
import integration.invariants
from benchmarks import fill, report, seed
from common.postgresql.invariants import find_broken, of_schema
from delivery.actions import deliveries
from tests.factories import BY, DeliveryFactory
from tests.integration.factories import SellerFactory, create_order, load_tariff, nfe_xml, send_invoice

_ROWS = 1_000_000
_SLOWEST = 8
# The filled rows differ in their statuses; here all have those of the pattern's history.
_HEALTHY = """
SET session_replication_role = replica;
UPDATE delivery_delivery d SET (status, route_status, environment, driver_id, accepted_at, closed_at) =
    (SELECT 'DELIVERED', 'FINISHED', t.environment, (SELECT min(id::text)::uuid FROM delivery_driver), d.created_at,
            d.created_at)
    FROM delivery_token t WHERE t.id = d.token_id;
UPDATE delivery_stop SET status = 'DELIVERED' WHERE status <> 'DELIVERED';
UPDATE delivery_webhookevent SET state = 'sent', attempts_made = 1, sent_at = coalesce(sent_at, created_at)
    WHERE state <> 'sent' OR sent_at IS NULL;
DELETE FROM delivery_webhookqueueitem;
UPDATE delivery_transition t SET at = d.closed_at FROM delivery_delivery d WHERE d.id = t.delivery_id;
INSERT INTO integration_searchcode (seller_id, order_id, kind, value)
    SELECT v.seller_id, l.order_id, 'invoice_key', v.access_key
    FROM integration_invoicelink l JOIN integration_invoice v ON v.id = l.invoice_id ON CONFLICT DO NOTHING;
SET session_replication_role = DEFAULT;
"""


def run() -> None:
    seed.empty()
    load_tariff()
    pattern = DeliveryFactory.create(stops=1, collected=True)
    deliveries.deliver(delivery=pattern, point="B", by=BY, at=timezone.now())
    fill.deliveries(_ROWS, token=pattern.token, pattern=pattern)
    seller = SellerFactory.create()
    fill.orders(_ROWS, pattern=create_order(seller))
    fill.invoices(pattern=send_invoice(seller, nfe_xml().encode()))
    with connection.cursor() as cursor:
        cursor.execute(_HEALTHY)
        cursor.execute(
            "UPDATE integration_seller SET invoice_bytes = (SELECT sum(octet_length(raw)) FROM integration_invoice)"
        )
    fill.attempts()
    fill.analyze()
    started = time.monotonic()
    call_command("verify")
    print(f"{time.monotonic() - started:.0f} s in all\n")
    _print_the_slowest()
    seed.empty()


def _print_the_slowest() -> None:
    every = (*delivery.invariants.ALL, *integration.invariants.ALL, *of_schema(apps.get_models()))
    seconds = {}
    with transaction.atomic():
        for invariant in every:
            started = time.monotonic()
            find_broken([invariant])
            seconds[invariant.name] = time.monotonic() - started
    slowest = sorted(seconds.items(), key=lambda item: -item[1])[:_SLOWEST]
    report.table("The slowest", ["invariant", "s"], [(name, f"{taken:.1f}") for name, taken in slowest])
