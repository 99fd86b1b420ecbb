"""`manage.py verify` finds nothing in a healthy database, and names each invariant that is broken."""

from dataclasses import replace
from datetime import timedelta
from io import StringIO

import pytest
from django.apps import apps
from django.core.management import CommandError, call_command
from django.db import connection, transaction
from django.utils import timezone

import delivery.invariants
import integration.invariants
from common.postgresql.invariants import Invariant, find_broken, of_schema
from common.webhooks import endpoints, feed
from common.webhooks.endpoints import CheckedUrl
from delivery.actions import deliveries
from delivery.lifecycle import OnFailure
from delivery.models import Stop, StopProof, WebhookEvent
from delivery.payload import Options
from delivery.windows import Window
from integration.actions import orders
from integration.lifecycle import Status
from integration.manifests import actions as manifests
from integration.models import WebhookEndpoint as EndpointOfSeller
from integration.receivers.models import ReceiverMail
from tests.common.webhooks import settling
from tests.delivery import simulated
from tests.delivery.proofs import asking_for
from tests.delivery.scheduled import scheduled
from tests.factories import BY, PICKUP, DeliveryFactory, DriverFactory, TokenFactory, add_endpoint
from tests.integration.factories import OTHER_COMPANY, SellerFactory, create_order, nfe_xml, send_invoice

EVERY = (
    *delivery.invariants.ALL,
    *integration.invariants.ALL,
    *of_schema(apps.get_models(include_auto_created=True)),
)

# Of those about webhooks of both areas, here of area A.
OF_WEBHOOKS = {
    "event_of_its_account": [
        """UPDATE delivery_webhookevent SET endpoint_id =
               (SELECT p.id FROM delivery_webhookendpoint p WHERE p.id NOT IN (SELECT endpoint_id
                    FROM delivery_webhookevent) LIMIT 1)
           WHERE copy_of IS NULL""",
        """DELETE FROM delivery_webhookendpoint WHERE id NOT IN (SELECT endpoint_id FROM delivery_webhookevent);
           UPDATE delivery_webhookendpoint SET environment = 'sandbox' WHERE environment = 'live'""",
        "UPDATE delivery_webhookendpoint SET number = 5 WHERE number = 1 AND url <> ''",
    ],
    "copy_has_its_event": [
        "UPDATE delivery_webhookevent SET copy_of = gen_random_uuid() WHERE copy_of IS NOT NULL",
        "UPDATE delivery_webhookevent SET body = 'x' WHERE copy_of IS NOT NULL",
        "UPDATE delivery_webhookevent SET name = 'FAILED' WHERE copy_of IS NOT NULL",
    ],
    "sent_event_has_its_attempt": [
        "UPDATE delivery_webhookattempt SET status_code = 500",
        "UPDATE delivery_webhookattempt SET status_code = NULL",
        "UPDATE delivery_webhookevent SET sent_at = NULL WHERE state = 'sent'",
        "UPDATE delivery_webhookevent SET attempts_made = 0 WHERE state = 'sent'",
    ],
    "attempts_are_counted": [
        "UPDATE delivery_webhookevent SET attempts_made = 3 WHERE attempts_made = 1",
        "UPDATE delivery_webhookattempt SET number = 0",
    ],
    "pending_event_is_in_the_queue": ["DELETE FROM delivery_webhookqueueitem"],
    "queue_item_of_a_pending_event": [
        """UPDATE delivery_webhookevent SET state = 'dead' WHERE id IN
               (SELECT event_id FROM delivery_webhookqueueitem)""",
        """UPDATE delivery_webhookqueueitem SET endpoint_id =
               (SELECT p.id FROM delivery_webhookendpoint p WHERE p.id NOT IN (SELECT endpoint_id
                    FROM delivery_webhookqueueitem) LIMIT 1)
           WHERE id = (SELECT max(id) FROM delivery_webhookqueueitem)""",
    ],
    "feed_positions_ascend": ["UPDATE delivery_webhookevent SET feed_position = -feed_position WHERE copy_of IS NULL"],
}
# What breaks each invariant, each statement by itself, done with triggers and foreign keys switched off.
BREAKS = {
    "delivery_has_its_stops": ["DELETE FROM delivery_stop WHERE index = 0"],
    "delivery_of_its_token": ["UPDATE delivery_token SET environment = 'sandbox'"],
    "history_leads_to_the_statuses": ["UPDATE delivery_transition SET trigger = 'release' WHERE trigger = 'accept'"],
    "first_attempt_is_in_the_history": ["UPDATE delivery_stop SET tried_at = tried_at + interval '1 second'"],
    "left_at_the_door_by_policy": ["UPDATE delivery_dropoffoptions SET on_failure = 'RETRY'"],
    "accepted_when_its_history_says": ["UPDATE delivery_delivery SET accepted_at = accepted_at + interval '1 second'"],
    "closed_when_its_history_says": ["UPDATE delivery_delivery SET closed_at = closed_at + interval '1 second'"],
    "cancellation_has_its_fee": ["UPDATE delivery_delivery SET cancel_fee = cancel_fee + 0.01"],
    "failures_have_their_fees": ["UPDATE delivery_delivery SET retry_fee = 0.01"],
    "reported_moves_were_made_once": [
        """INSERT INTO delivery_drivermove
               (id, driver_id, report, delivery_id, trigger, point, made_at, received_at, refusal, refusal_detail)
           SELECT gen_random_uuid(), driver_id, gen_random_uuid(), id, 'return', '', now(), now(), '', ''
           FROM delivery_delivery WHERE status = 'DELIVERED'""",
    ],
    "scheduled_until_offered": [
        "UPDATE delivery_delivery SET created_at = scheduled_for WHERE scheduled_for IS NOT NULL"
    ],
    "deadline_is_that_of_the_last_stop": ["UPDATE delivery_delivery SET deadline_at = deadline_at + interval '1 s'"],
    "event_sequences_have_no_gap": ["DELETE FROM delivery_webhookevent WHERE sequence = 1"],
    "transition_has_its_event": ["UPDATE delivery_webhookevent SET name = 'ACCEPT' WHERE name = 'COLLECTED'"],
    "event_has_the_price": ["UPDATE delivery_delivery SET shipping_value = shipping_value + 0.01"],
    **OF_WEBHOOKS,
    "simulated_driver_of_its_account": [
        """UPDATE delivery_driver SET environment = 'sandbox', simulated_for_id = (SELECT id FROM delivery_integrator
               WHERE id NOT IN (SELECT integrator_id FROM delivery_delivery) LIMIT 1)""",
    ],
    "open_route_fits_its_driver": ["UPDATE delivery_driver SET active = FALSE"],
    "latest_position_is_the_newest": ["DELETE FROM delivery_latestposition"],
    "simulation_of_an_open_delivery": ["UPDATE delivery_delivery SET environment = 'live'"],
    "order_has_its_last_status": ["UPDATE integration_order SET status = 'delivered'"],
    "simulated_orders_of_the_sandbox": ["UPDATE integration_order SET environment = 'live'"],
    "status_log_follows_the_lifecycle": ["UPDATE integration_statuslog SET status = 'delivered'"],
    "status_log_of_the_company": [
        """UPDATE integration_statuslog SET company_id =
               (SELECT id FROM integration_company WHERE id NOT IN (SELECT company_id FROM integration_order))""",
    ],
    "order_of_its_company": ["UPDATE integration_company SET seller_id = seller_id + 1000"],
    "order_is_found_by_its_codes": ["DELETE FROM integration_searchcode WHERE kind = 'shipping'"],
    "receiver_mail_of_its_seller": ["UPDATE integration_receivermail SET seller_id = seller_id + 1000"],
    "search_code_of_its_seller": ["UPDATE integration_searchcode SET seller_id = seller_id + 1000"],
    "invoice_link_within_a_seller": ["UPDATE integration_order SET seller_id = seller_id + 1000"],
    "invoice_reference_of_its_seller": ["UPDATE integration_invoicereference SET seller_id = seller_id + 1000"],
    "order_is_found_by_its_invoices": ["DELETE FROM integration_searchcode WHERE kind = 'invoice_key'"],
    "manifest_within_a_seller": ["UPDATE integration_manifest SET environment = 'sandbox'"],
    "manifest_is_handed_over": ["UPDATE integration_order SET status = 'cancelled'"],
    "entry_has_its_event": ["UPDATE integration_webhookevent SET name = 'returned'"],
    **{
        f"order_{name}": [statement.replace("delivery_", "integration_") for statement in statements]
        for name, statements in OF_WEBHOOKS.items()
    },
    "keys_are_ahead": ["UPDATE integration_order SET id = id + 1000000"],
    "constraints_are_there": [
        "DROP INDEX one_open_route_per_driver",
        "ALTER TABLE delivery_delivery DROP CONSTRAINT delivery_driver_fits_route",
    ],
    "foreign_keys_are_there": [
        """DO $$ BEGIN EXECUTE (SELECT format('ALTER TABLE delivery_delivery DROP CONSTRAINT %I', conname)
               FROM pg_constraint WHERE contype = 'f' AND conrelid = 'delivery_delivery'::regclass LIMIT 1); END $$""",
    ],
    "constraints_are_validated": ["ALTER TABLE delivery_stop ADD CONSTRAINT new CHECK (index < 9) NOT VALID"],
    "indexes_are_valid": ["UPDATE pg_index SET indisvalid = FALSE WHERE indexrelid = 'delivery_newest'::regclass"],
    "triggers_are_enabled": ["ALTER TABLE delivery_transition DISABLE TRIGGER USER"],
}


@pytest.fixture
def healthy():
    """One row at least of everything that an invariant is about, made by the actions of the product."""
    at = timezone.now()
    shop, other_shop = TokenFactory.create(), TokenFactory.create()
    endpoint = shop.integrator.endpoints.get(environment="live")
    add_endpoint(shop)
    endpoints.set_url(endpoint=endpoint, url="http://127.0.0.1:9/hook", by=BY, at=at)
    DriverFactory.create(at_point=PICKUP)
    finished = DeliveryFactory.create(token=shop, stops=2, collected=True)
    deliveries.deliver(delivery=finished, point="B", by=BY, at=at)
    deliveries.deliver(delivery=finished, point="C", by=BY, at=at)
    settling.attempt(WebhookEvent.objects.get(delivery=finished, sequence=1, copy_of=None), settling.OK)
    feed.read(endpoint=endpoint, after=0, limit=10, at=timezone.now())
    deliveries.cancel(
        delivery=DeliveryFactory.create(token=other_shop, accepted=True), reason="changed", by=BY, at=timezone.now()
    )
    DeliveryFactory.create(accepted=True)
    tried = asking_for(Options(on_failure=OnFailure.RETRY), Options(on_failure=OnFailure.LEAVE), collected=True)
    deliveries.fail(delivery=tried, point="B", code="ABSENT", reason="", by=BY, at=at)
    deliveries.deliver(delivery=tried, point="C", by=BY, at=at)
    StopProof.objects.create(stop=Stop.objects.get(delivery=tried, index=1), left_at_door=True)
    TokenFactory.create()
    window = Window(at + timedelta(hours=2), at + timedelta(hours=3))
    scheduled(pickup=window, dropoffs=[window], at=at)
    simulated.request(at=at)
    seller = SellerFactory.create()
    other_seller = SellerFactory.create(documents=(OTHER_COMPANY,))
    of_seller, _other = (
        endpoints.first(EndpointOfSeller, owner=each.pk, environment="live") for each in (seller, other_seller)
    )
    endpoints.store_url(endpoint=of_seller, url=CheckedUrl("http://127.0.0.1:9/hook"), by=BY, at=at)
    endpoints.add(beside=of_seller, url=CheckedUrl("http://127.0.0.1:9/2"), statuses=[], by=BY, at=at)
    order = create_order(seller, orderId="A-1")
    create_order(seller, orderId="A-2")
    send_invoice(seller, nfe_xml(items=["A-1"]).encode())
    orders.move(order=order, to=Status.COLLECTED, by=BY, at=at)
    settling.attempt(order.events.get(sequence=1, copy_of=None), settling.OK)
    ReceiverMail.objects.create(seller=seller, order=order, status="collected", message=1, created_at=at)
    waiting = create_order(seller, orderId="A-3")
    manifests.create(seller=seller, environment="live", orders=[waiting], by=BY, at=at)
    create_order(seller, "sandbox", orderId="A-4", simulation_speed=1)
    feed.read(endpoint=of_seller, after=0, limit=10, at=timezone.now())


def _run(statement):
    with connection.cursor() as cursor:
        cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")  # else tables with pending checks cannot be altered
        cursor.execute("SET LOCAL session_replication_role = replica")
        cursor.execute(statement)


@pytest.mark.django_db
class TestInvariants:
    def test_hold_in_a_healthy_database(self, healthy):
        assert find_broken(EVERY) == []

    def test_are_each_broken_below(self):
        assert list(BREAKS) == [invariant.name for invariant in EVERY]

    def test_are_named_with_rows_when_they_are_broken(self, healthy):
        unnoticed = []
        for invariant in EVERY:
            for statement in BREAKS[invariant.name]:
                with transaction.atomic():
                    _run(statement)
                    if not any(finding.ids for finding in find_broken([invariant])):
                        unnoticed.append((invariant.name, statement))
                    transaction.set_rollback(True)

        assert unnoticed == []

    def test_count_all_rows_and_name_some(self, db):
        many = Invariant("many", "there are none", "SELECT generate_series(1, 12) AS id")
        facts = "SELECT id, (id % 3)::text AS facts FROM generate_series(1, 12) AS id"
        judged = replace(many, broken=facts, holds="0".__eq__)

        first, second = find_broken([many, judged])

        assert (first.rows, first.ids) == (12, [str(number) for number in range(1, 11)])
        assert (second.rows, set(second.ids)) == (8, {"1", "2", "4", "5", "7", "8", "10", "11"})


@pytest.mark.django_db(transaction=True)
class TestVerify:
    def test_says_that_all_hold(self, healthy):
        printed = StringIO()

        call_command("verify", stdout=printed)

        assert printed.getvalue() == f"All {len(EVERY)} invariants hold.\n"

    def test_names_what_is_broken_and_fails(self, healthy):
        connection.cursor().execute("ALTER TABLE delivery_webhookevent DISABLE TRIGGER USER")
        printed = StringIO()
        try:
            deleted = WebhookEvent.objects.filter(sequence=2)
            keys = {str(key) for key in deleted.values_list("delivery", flat=True)}
            deleted.delete()

            with pytest.raises(CommandError, match=f" of {len(EVERY)} invariants are broken"):
                call_command("verify", stdout=printed)
        finally:
            connection.cursor().execute("ALTER TABLE delivery_webhookevent ENABLE TRIGGER USER")

        lines = dict(line.split(": ", 1) for line in printed.getvalue().splitlines())
        assert lines["triggers_are_enabled"]
        assert all(key in lines["event_sequences_have_no_gap"] for key in keys)
        assert f"{len(keys)} break it" in lines["event_sequences_have_no_gap"]

    def test_writes_nothing_in_one_snapshot(self, healthy, monkeypatch):
        seen = []

        def look(_invariants):
            with connection.cursor() as cursor:
                cursor.execute(
                    "SELECT current_setting('transaction_read_only'), current_setting('transaction_isolation')"
                )
                seen.extend(cursor.fetchall())
            return []

        monkeypatch.setattr("config.management.commands.verify.find_broken", look)

        call_command("verify", stdout=StringIO())

        assert seen == [("on", "repeatable read")]
