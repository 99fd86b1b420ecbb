"""Each periodic task beside one row that it cannot handle: the others are handled, as if that one were not there.

With batches of one row, so that the bad row, which is the first, fills one. In one run it is tried once.
"""

import asyncio
import logging
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import Any

import pytest
from cryptography.fernet import Fernet
from django.contrib.auth.models import User
from django.contrib.sessions.models import Session
from django.core.files.base import ContentFile
from django.db import connection, transaction
from django.utils import timezone

from access import personal_data
from access.models import AccessLink, PersonRequest
from access.models import PersonRequestKind as Asked
from access.personal_data import person
from common import credentials
from common.mail import sending
from common.mail.models import Kind, Message
from common.models import AttemptCount, KeptUpload, LatestMoment
from common.postgresql import batches
from common.webhooks import endpoints, health
from common.webhooks.endpoints import CheckedUrl
from common.workers import moments
from config.celery import app
from delivery.actions import arrivals, proofs
from delivery.actions import forgetting as forgetting_deliveries
from delivery.alerts import actions as alerts
from delivery.alerts import posts as alert_posts
from delivery.alerts.models import AlertPost, EndpointAlerts
from delivery.connections import drafts
from delivery.connections.models import Draft
from delivery.models import (
    ArrivalEstimate,
    Delivery,
    DriverPosition,
    IdempotencyRecord,
    Integrator,
    RefusedDeliveryCall,
    Stop,
    Transition,
    WebhookAttempt,
    WebhookEndpoint,
    WebhookEvent,
)
from delivery.places.models import LocatedAddress
from delivery.sandbox import simulated_driver
from integration.actions import forgetting as forgetting_orders
from integration.invoices.models import Invoice
from integration.models import IdempotencyRecord as RecordOfSeller
from integration.models import Order, RefusedSellerCall
from integration.models import WebhookEndpoint as EndpointOfSeller
from integration.sandbox import simulated_carrier
from integration.webhooks.outbox import OUTBOX as OUTBOX_OF_ORDERS
from tests.common.webhooks.conftest import Sink, _send_due, sink
from tests.delivery.alerts.test_digests import EIGHT, YESTERDAY
from tests.delivery.connections.shops import order, post, shop
from tests.delivery.personal_data import MARIA, SHOP, closed
from tests.delivery.scheduled import scheduled
from tests.delivery.simulated import request as request_simulated
from tests.factories import BY, PICKUP, DeliveryFactory, DriverFactory, IntegratorFactory, TokenFactory
from tests.integration.factories import COMPANY, OTHER_COMPANY, SellerFactory, create_order, nfe_xml, send_invoice
from tests.integration.test_forgetting import delivered

__all__ = ["Sink", "sink"]
pytestmark = pytest.mark.django_db(transaction=True)
app.loader.import_default_modules()  # the tasks, as a worker does
LONG_AGO = timedelta(days=2000)
Check = Callable[[], bool]
BATCHES = [
    (batches, "_BATCH"), (health, "MOST_AT_ONCE"), (endpoints, "_EVENTS_OF_BATCH"), (moments, "_BATCH"),
    (forgetting_deliveries, "BATCH"), (forgetting_orders, "_BATCH"), (arrivals, "_BATCH"), (alert_posts, "_BATCH"),
]  # fmt: skip  # a table


@pytest.fixture(autouse=True)
def _batches_of_one_row(monkeypatch):
    for module, name in BATCHES:
        monkeypatch.setattr(module, name, 1)


def damage(model: Any, pk: Any, **columns: str) -> None:
    """Write what no code of ours writes, such as a moment that Python cannot read."""
    values = ", ".join(f"{column} = %s" for column in columns)
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("SET LOCAL session_replication_role = replica")  # without triggers
        table, key = model._meta.db_table, model._meta.pk.column
        cursor.execute(f"UPDATE {table} SET {values} WHERE {key} = %s", [*columns.values(), pk])  # noqa: S608  # names of the models


@contextmanager
def keeping(row: Any, condition: str) -> Iterator[None]:
    """Have the database refuse to change this row in such a way that the condition does not hold any more."""
    table = row._meta.db_table
    with connection.cursor() as cursor:
        check = f"CHECK (id <> %s OR {condition}) NOT VALID"
        cursor.execute(f"ALTER TABLE {table} ADD CONSTRAINT keeping {check}", [row.pk])
        try:
            yield
        finally:
            cursor.execute(f"ALTER TABLE {table} DROP CONSTRAINT keeping")


def pruned(task: str, model: Any, column: str, **values: Any) -> Check:
    """Two old rows, the age of one of which Python cannot read. `values` may be functions of a number."""
    now, made = timezone.now(), []
    for number in range(2):
        of_row = {name: value(number) if callable(value) else value for name, value in values.items()}
        made.append(model._default_manager.create(**of_row, **{column: now - LONG_AGO}))
    damage(model, made[0].pk, **{column: "-infinity"})
    app.tasks[task]()
    return lambda: not model._default_manager.exists()


def unreadable_endpoint() -> WebhookEndpoint:
    """A live endpoint that nobody listens at, and another one before it that Python cannot read. Both fail."""
    found = [TokenFactory.create().integrator.endpoints.get(environment="live") for _number in range(2)]
    bad, good = sorted(found, key=lambda endpoint: endpoint.pk)
    WebhookEndpoint.objects.filter(pk__in=[bad.pk, good.pk]).update(
        url="http://127.0.0.1:9/", failures=9, failing_since=timezone.now()
    )
    damage(WebhookEndpoint, bad.pk, last_success_at="-infinity")
    return good


def message(recipient: str) -> Message:
    now = timezone.now()
    values = {"created_at": now, "due_at": now, "expires_at": now + timedelta(days=1)}
    return Message.objects.create(
        kind=Kind.ALERT, recipient=recipient, subject="x", body_ciphertext=credentials.encrypt("x"), **values
    )


def sellers_told(url: str) -> list[EndpointOfSeller]:
    """The endpoints of two sellers, each with an order that is to be told."""
    found = []
    for document in (COMPANY, OTHER_COMPANY):
        seller = SellerFactory.create(documents=(document,))
        endpoint = endpoints.first(EndpointOfSeller, owner=seller.pk, environment="live")
        found.append(endpoints.store_url(endpoint=endpoint, url=CheckedUrl(url), by=BY, at=timezone.now()))
        create_order(seller, company_document=document)
    return found


class Cases:
    """For each task of the schedule: rows of which one is bad, a run of the task, and a check of the others."""

    def __init__(self, sink: Any, mailbox: Any, settings: Any) -> None:
        self.sink, self.mailbox, self.settings = sink, mailbox, settings

    def send_due_webhooks(self) -> Check:
        self.sink.answers = [(200, {}, b"")]
        tokens = [TokenFactory.create() for _number in range(2)]
        for token in tokens:
            token.integrator.endpoints.update(url=self.sink.url)
            DeliveryFactory.create(token=token)
        tokens[0].integrator.endpoints.update(secret_ciphertext="x")
        asyncio.run(_send_due())
        return lambda: len(self.sink.received) == 1

    def send_due_webhooks_of_orders(self) -> Check:
        self.sink.answers = [(200, {}, b"")]
        bad, _good = sellers_told(self.sink.url)
        EndpointOfSeller.objects.filter(pk=bad.pk).update(secret_ciphertext="x")
        asyncio.run(_send_due(OUTBOX_OF_ORDERS))
        return lambda: len(self.sink.received) == 1

    def advance_simulations(self) -> Check:
        now = timezone.now()
        bad, good = request_simulated(at=now), request_simulated(at=now)
        WebhookEndpoint.objects.filter(integrator=bad.integrator).delete()
        simulated_driver.advance_due(at=now + timedelta(seconds=30))
        return lambda: Delivery.objects.get(pk=good.pk).status == "ACCEPT"

    def advance_simulated_orders(self) -> Check:
        bad, good = (
            create_order(
                SellerFactory.create(documents=(each,)), "sandbox", company_document=each, simulation_speed=1.0
            )
            for each in (COMPANY, OTHER_COMPANY)
        )
        damage(Order, bad.pk, status="unknown")
        simulated_carrier.advance_due(at=timezone.now() + timedelta(seconds=30))
        return lambda: Order.objects.get(pk=good.pk).status == "collected"

    def renew_arrivals(self) -> Check:
        bad, good = (
            DeliveryFactory.create(accepted=True, stops=1, driver=DriverFactory.create(at_point=PICKUP))
            for _number in range(2)
        )
        for change in bad.transitions.all():  # a route without a history
            damage(Transition, change.pk, delivery_id=str(good.pk))
        arrivals.renew(at=timezone.now())
        return lambda: ArrivalEstimate.objects.filter(stop__delivery=good).exists()

    def prune_attempts(self) -> Check:
        event = DeliveryFactory.create().events.get()
        return pruned(
            "delivery.webhooks.prune", WebhookAttempt, "at", event=event, number=lambda number: number, milliseconds=1
        )

    def _refused(self, task: str, model: Any, **owner: Any) -> Check:
        call = {"method": "GET", "path": "/", "status": 404, "request_id": "x", "credential": "x", "size": 0}
        return pruned(task, model, "created_at", **call, **owner)

    def prune_refused_deliveries(self) -> Check:
        owner = {"integrator": IntegratorFactory.create(), "environment": "live"}
        return self._refused("delivery.prune_refused_calls", RefusedDeliveryCall, **owner)

    def prune_refused_orders(self) -> Check:
        return self._refused("integration.prune_refused_calls", RefusedSellerCall, seller=SellerFactory.create())

    def _records(self, task: str, model: Any, **owner: Any) -> Check:
        values = {"endpoint": "x", "key": str, "fingerprint": b"x" * 32, "status": 200, "body": "{}"}
        return pruned(task, model, "created_at", **values, **owner)

    def prune_idempotency_a(self) -> Check:
        owner = {"integrator": IntegratorFactory.create(), "environment": "live"}
        return self._records("delivery.prune_idempotency_records", IdempotencyRecord, **owner)

    def prune_idempotency_b(self) -> Check:
        seller = SellerFactory.create()
        return self._records("integration.prune_idempotency_records", RecordOfSeller, seller=seller)

    def check_drafts(self) -> Check:
        of_shop = shop()
        for number in (1, 2):
            post(of_shop, order(number))
        bad, good = Draft.objects.order_by("order_id")
        damage(Draft, bad.pk, payload="{}", due_at="2020-01-01")
        drafts.check_due()
        return lambda: Draft.objects.get(pk=good.pk).missing == ["address_not_located"]

    def prune_located_addresses(self) -> Check:
        place = {"latitude": 1, "longitude": 1, "precision": "street", "digest": lambda number: bytes([number])}
        return pruned("delivery.prune_located_addresses", LocatedAddress, "created_at", **place)

    def prune_proof_photos(self) -> Check:
        files = proofs.files()
        files.save("2020-01-01/unexpected/x.jpg", ContentFile(b"x"))
        files.save("2020-01-02/x.jpg", ContentFile(b"x"))
        app.tasks["delivery.prune_proof_photos"]()
        return lambda: not files.exists("2020-01-02/x.jpg")

    def forget_deliveries(self) -> Check:
        bad, good = (closed(MARIA, at=timezone.now() - timedelta(days=days)) for days in (182, 181))
        damage(WebhookEvent, bad.events.get(sequence=1).pk, body="no JSON")
        DriverPosition.objects.update(recorded_at=timezone.now() - LONG_AGO)
        app.tasks["delivery.forget"]()
        return lambda: Stop.objects.get(delivery=good).contact_phone == "" and not DriverPosition.objects.exists()

    def forget_orders(self) -> Check:
        seller = SellerFactory.create()
        bad, good = (create_order(seller, orderId=f"A-{n}", trackingCode=f"T-{n}") for n in range(2))
        damage(Order, bad.pk, created_at="2019-01-01", receiver="[]")
        damage(Order, good.pk, created_at="2019-01-01")
        app.tasks["integration.forget"]()
        return lambda: Order.objects.get(pk=good.pk).receiver_name == ""

    def forget_people(self) -> Check:
        closed(MARIA)
        keys = self.settings.CREDENTIALS_KEYS
        self.settings.CREDENTIALS_KEYS = [Fernet.generate_key().decode()]
        personal_data.record(person(phone=MARIA), kind=Asked.FORGET, by=BY, at=timezone.now())
        self.settings.CREDENTIALS_KEYS = keys
        good = personal_data.record(person(phone=MARIA), kind=Asked.FORGET, by=BY, at=timezone.now())
        app.tasks["access.finish_person_requests"]()
        return lambda: PersonRequest.objects.get(pk=good.pk).finished_at is not None

    def _forgotten(self, bad: Any, condition: str, **person_asked: str) -> None:
        request = personal_data.record(person(**person_asked), kind=Asked.FORGET, by=BY, at=timezone.now())
        with keeping(bad, condition):
            app.tasks["access.finish_person_requests"]()
        request.refresh_from_db()
        assert request.finished_at is None  # as long as a row is left

    def forget_orders_of_a_person(self) -> Check:
        seller = SellerFactory.create()
        bad, good = (delivered(seller, orderId=f"A-{n}", trackingCode=f"T-{n}") for n in range(2))
        self._forgotten(bad, "receiver_name <> ''", phone=MARIA)
        return lambda: Order.objects.get(pk=good.pk).receiver_name == ""

    def forget_stops_of_a_person(self) -> Check:
        bad, good = (closed(MARIA).stops.get() for _number in range(2))
        self._forgotten(bad, "contact_name <> ''", phone=MARIA)
        return lambda: Stop.objects.get(pk=good.pk).contact_name == ""

    def forget_pickups_of_a_person(self) -> Check:
        bad, good = (closed(MARIA) for _number in range(2))
        self._forgotten(bad, "contact_name <> ''", phone=SHOP)
        return lambda: Delivery.objects.get(pk=good.pk).contact_name == ""

    def forget_invoices(self) -> Check:
        seller = SellerFactory.create()
        bad, good = (send_invoice(seller, nfe_xml(key=f"{n}" * 44).encode()) for n in range(2))
        Invoice.objects.update(received_at=timezone.now() - LONG_AGO * 2)
        with keeping(bad, "raw <> ''::bytea"):
            app.tasks["integration.forget"]()
        return lambda: bytes(Invoice.objects.get(pk=good.pk).raw) == b""

    def prune_sessions(self) -> Check:
        return pruned("access.prune_sessions", Session, "expire_date", session_key=lambda number: f"key-{number}")

    def prune_login_attempts(self) -> Check:
        return pruned("access.prune_attempts", AttemptCount, "expires_at", key=str, count=1)

    def prune_access_links(self) -> Check:
        link = {"issued_by": BY, "issued_at": timezone.now(), "integrator": IntegratorFactory.create()}
        return pruned("access.prune_links", AccessLink, "expires_at", **link, digest=lambda number: bytes([number]))

    def prune_uploads(self) -> Check:
        upload = {"owner": "user 1", "kind": "x", "ciphertext": "x", "created_at": timezone.now()}
        return pruned("access.prune_uploads", KeptUpload, "expires_at", **upload)

    def send_alerts(self) -> Check:
        good = unreadable_endpoint()
        EndpointAlerts.objects.create(endpoint=good, url_ciphertext=credentials.encrypt(self.sink.url), url_host="x")
        good.integrator.memberships.create(user=User.objects.create_user("ana", "ana@example.com"))
        alerts.tell_changes(at=timezone.now())
        alert_posts.post_due()
        told = ["ana@example.com"]
        return lambda: [each.recipient for each in Message.objects.all()] == told and len(self.sink.received) == 1

    def send_digests(self) -> Check:
        bad, good = (TokenFactory.create() for _number in range(2))
        wanted = dict.fromkeys(("failing", "off", "recovered", "digest"), True)
        for token in (bad, good):
            name = f"user-{token.pk}"
            user = User.objects.create_user(name, f"{name}@example.com")
            membership = token.integrator.memberships.create(user=user)
            alerts.choose(membership=membership, environment="live", wanted=wanted, language="en")
            DeliveryFactory.create(token=token, at=YESTERDAY)
        WebhookEndpoint.objects.filter(environment="sandbox").delete()
        damage(WebhookEndpoint, bad.integrator.endpoints.get(environment="live").pk, last_success_at="-infinity")
        alerts.record_digests(at=EIGHT)
        return lambda: [each.recipient for each in Message.objects.all()] == [f"user-{good.pk}@example.com"]

    def send_alerts_of_sellers(self) -> Check:
        bad, good = sellers_told("http://127.0.0.1:9/")
        EndpointOfSeller.objects.update(failures=9, failing_since=timezone.now())
        damage(EndpointOfSeller, bad.pk, last_success_at="-infinity")
        good.seller.memberships.create(user=User.objects.create_user("ana", "ana@example.com"))
        app.tasks["integration.send_alerts"]()
        return lambda: [each.recipient for each in Message.objects.all()] == ["ana@example.com"]

    def prune_alert_posts(self) -> Check:
        of_endpoint = EndpointAlerts.objects.create(endpoint=TokenFactory.create().integrator.endpoints.all()[0])
        due = {"kind": "test", "text": "x", "due_at": timezone.now(), "state": "sent"}
        return pruned("delivery.prune_alert_posts", AlertPost, "created_at", alerts=of_endpoint, **due)

    def send_mail(self) -> Check:
        bad = message("ana@example.com")
        Message.objects.filter(pk=bad.pk).update(subject="two\nlines")
        message("bia@example.com")
        sending.send_due()
        return lambda: [each["To"] for each in self.mailbox.messages] == ["bia@example.com"]

    def prune_mail(self) -> Check:
        now = timezone.now()
        values = {"kind": Kind.ALERT, "recipient": "ana@example.com", "subject": "x", "due_at": now, "expires_at": now}
        return pruned("mail.prune", Message, "created_at", **values)

    def offer_scheduled(self, task: str = "delivery.offer_scheduled") -> Check:
        at, ahead = timezone.now() - timedelta(hours=3), timedelta(hours=2)
        bad, good = (scheduled(ahead + timedelta(minutes=number), at=at) for number in range(2))
        damage(Stop, bad.ordered_stops[0].pk, status="unknown")
        app.tasks[task]()
        return lambda: Transition.objects.filter(delivery=good, trigger="offer").exists()

    def plan_scheduled(self) -> Check:
        return self.offer_scheduled("delivery.plan_scheduled")

    def expire_offers(self) -> Check:
        bad, good = (DeliveryFactory.create(at=timezone.now() - timedelta(minutes=61 + n)) for n in (1, 0))
        WebhookEndpoint.objects.filter(integrator=bad.integrator).delete()
        app.tasks["delivery.expire_offers"]()
        return lambda: Transition.objects.filter(delivery=good, trigger="expire").exists()

    def pull_moments_back(self) -> Check:
        ahead = timezone.now() + timedelta(hours=3)
        bad, good = (IntegratorFactory.create(created_at=ahead) for _number in range(2))
        damage(Integrator, bad.pk, created_at="infinity")
        LatestMoment.objects.create(moment=ahead)
        app.tasks["config.pull_moments_back"]()
        return lambda: Integrator.objects.get(pk=good.pk).created_at <= timezone.now()

    def analyze_new_tables(self) -> Check:
        """In a schema of their own, because the plans of other tests depend on the statistics of their tables."""
        function = "FUNCTION checked(int) RETURNS int IMMUTABLE LANGUAGE plpgsql AS 'BEGIN RETURN 1 / {}; END'"
        with transaction.atomic(), connection.cursor() as cursor:
            cursor.execute("CREATE SCHEMA analysed")
            cursor.execute("SET LOCAL search_path = analysed")
            cursor.execute("CREATE TABLE a_bad AS SELECT 1 AS id")
            cursor.execute("CREATE TABLE b_good AS SELECT 1 AS id")
            cursor.execute(f"CREATE {function.format(1)}")
            cursor.execute("CREATE INDEX ON a_bad (checked(id))")
            cursor.execute(f"CREATE OR REPLACE {function.format(0)}")
            app.tasks["config.analyze_new_tables"]()
            cursor.execute("SELECT tablename FROM pg_stats WHERE schemaname = 'analysed'")
            analysed = cursor.fetchall()
            transaction.set_rollback(True)
        return lambda: analysed == [("b_good",)]


FURTHER = [
    "forget_orders_of_a_person", "forget_stops_of_a_person", "forget_pickups_of_a_person", "forget_invoices",
    "send_digests",
    # Of the threads that `wake-threads` wakes.
    "send_due_webhooks", "send_due_webhooks_of_orders", "advance_simulations", "advance_simulated_orders",
    "check_drafts", "send_mail",
]  # fmt: skip  # names


# What works for one row at most, or wakes threads.
_WITHOUT_ROWS = {"copy-streets", "wake-threads"}


@pytest.mark.parametrize("name", [*sorted({*app.conf.beat_schedule} - _WITHOUT_ROWS), *FURTHER])
def test_a_bad_row_stops_no_other(name, sink, mailbox, settings, photo_folder, caplog):
    case = getattr(Cases(sink, mailbox, settings), name.replace("-", "_"))

    others_were_handled = case()

    assert others_were_handled()
    errors = (each.getMessage() for each in caplog.records if each.levelno >= logging.ERROR)
    assert {text: count for text, count in Counter(errors).items() if count > 1} == {}
