"""A receiver and a driver of a busy day are forgotten: nothing of them is left in tables, photos, log and queue.

The day goes through the APIs, the driver's phone, the admin, the mail server and an endpoint that repeats what it was
sent. Other people's rows fill the tables.
"""

import asyncio
import json
from base64 import b64decode
from collections.abc import Iterator
from datetime import timedelta
from typing import Any
from uuid import uuid4

import pytest
from cryptography.fernet import InvalidToken
from django.apps import apps
from django.conf import settings as django_settings
from django.contrib.sessions.models import Session
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import call_command
from django.db import connection
from django.test import Client
from django.utils import timezone
from psycopg import sql
from redis import Redis
from rest_framework.test import APIClient

from access.models import PersonRequest
from common import credentials
from common.fields import CiphertextField
from common.mail import sending
from common.webhooks import endpoints
from common.webhooks.outbox import outboxes
from config.celery import app
from delivery.actions import deliveries
from delivery.connections import drafts as of_deliveries
from delivery.drivers import web_push
from delivery.models import Delivery, Driver, DropoffOptions, IdempotencyRecord, ReceiverLink, WebhookAttempt
from delivery.receivers import actions as receivers
from integration.accounts import sellers
from integration.actions import orders
from integration.connections import drafts as of_orders
from integration.lifecycle import Status as OrderStatus
from integration.models import CarrierRule, Order
from integration.models import IdempotencyRecord as RecordOfSeller
from integration.models import WebhookAttempt as AttemptOfOrder
from integration.models import WebhookEndpoint as EndpointOfSeller
from tests.common.webhooks.conftest import Sink, _send_due, sink
from tests.config.test_log_contents import log
from tests.delivery.connections.shops import order as shop_order
from tests.delivery.connections.shops import post
from tests.delivery.connections.shops import shop as connected
from tests.delivery.drivers.phones import Phone, now
from tests.factories import BY, DeliveryFactory, DriverFactory, payload
from tests.integration.connections import shops as seller_shops
from tests.integration.factories import SellerFactory, assign, key_of, make_carrier, nfe_xml, order_body
from tests.overlapping import _transaction
from tests.photos import photo
from tests.scope.world import World

app.loader.import_default_modules()  # the tasks, as a worker does
__all__ = ["Sink", "log", "sink"]
RECEIVER, RECEIVERS_PHONE, RECEIVERS_EMAIL = "Zuleica Quintanilha", "+55 (11) 98877-6655", "Zuleica.Q@example.org"
DRIVER, DRIVERS_PHONE = "Waldemar Prudente", "+55 11 95544-3322"
NEW_NAME, NEW_PHONE = "Waldemar Outronome", "(11) 94433-2211"
CPF, COMPANY = "390.533.447-05", "11444777000161"
PIN = 7391
DOOR, WAY = (-23.5598761, -46.6512349), (-23.5612347, -46.6598763)
# In lower case, and numbers without what people write between their parts.
FORMS_OF_THE_RECEIVER = [
    "zuleica", "quintanilha", "8877-6655", "88776655", "zuleica.q@example.org", "jabuticabeira", "ximbica",
    "campainha quebrada", CPF, "39053344705", "23.5598761", "46.6512349",
]  # fmt: skip  # a list
FORMS_OF_THE_DRIVER = [
    "waldemar", "prudente", "outronome", "5544-3322", "55443322", "4433-2211", "44332211", "23.5612347", "46.6598763",
]  # fmt: skip  # a list
# Prices, log-ins of people who work here, and places that belong to no person or address.
NOT_FILLED = {
    "delivery.AddressCity", "delivery.AddressStreet", "delivery.LocatedAddress", "delivery.Streets",
    "delivery.ReportedTrouble",
    "delivery.StopChange",
    "integration.FreightPriceChange", "integration.FreightParametersChange", "delivery.DispatchRules",
    "delivery.DispatchRulesChange", "delivery.ServiceHours", "delivery.ServiceHoursChange", "pghistory.Context",
    "integration.Simulation", "integration.Manifest", "integration.Correction",
    "integration.ManifestEntry", "integration.ReceiverMailStop", "common.KeptUpload", "common.LatestMoment",
    "access.AccessLink",
    "access.EnrolmentCode", "access.InitialPassword", "account.EmailConfirmation", "auth.User_groups",
    "auth.User_user_permissions", "mfa.Authenticator", "usersessions.UserSession",
}  # fmt: skip  # a list
# Kept by law until its time, see docs/personal-data.md.
BY_LAW = {"integration_invoice.raw"}
# A call that is repeated within 24 hours is answered from these.
FOR_A_DAY = {"delivery_idempotencyrecord.body"}


def move(delivery: Delivery, trigger: str, **proof: Any) -> dict[str, Any]:
    made = {"id": str(uuid4()), "deliveryId": str(delivery.pk), "trigger": trigger, "madeAt": now()}
    return {"sentAt": now(), "moves": [{**made, **proof}]}


def delivery_body(**changes: Any) -> dict[str, Any]:
    """A request with two drop-offs: of the receiver and of somebody else."""
    body = payload(stops=2)
    place = {"street": "Travessa Jabuticabeira", "complement": "Bloco Ximbica", "latitude": DOOR[0]}
    body["dropoffs"][0] |= {
        "contacts": {"name": RECEIVER, "phoneNumber": RECEIVERS_PHONE, "email": RECEIVERS_EMAIL},
        "address": {**body["dropoffs"][0]["address"], **place, "longitude": DOOR[1]},
        "instructions": "Campainha quebrada",
        "proof": {"pin": True, "photo": True},
    }
    return {**body, **changes}


def by_dispatcher(client: Client, delivery: Delivery, name: str, **fields: str) -> None:
    address = f"/admin/delivery/delivery/{delivery.pk}/move/{name}/"
    answer = client.post(address, {**fields, "confirmed": "yes"}, follow=True)
    assert b"timeline" in answer.content


def deliver(api: APIClient, dispatcher: Client, driver: Driver) -> str:
    """A delivery that is accepted, released, given back, renamed under way, proven. The token of its link."""
    sent = api.post("/api/request-delivery", delivery_body(), headers={"Idempotency-Key": "k-1"})
    assert sent.status_code == 201
    delivery, phone = Delivery.objects.get(pk=sent.json()["deliveryId"]), Phone(driver)
    other = DriverFactory.create(name="Somebody", phone="+55 11 90000-1111")
    phone.post("duty/", {"onDuty": True})
    offer = DeliveryFactory.create(stops=1)
    assert phone.post(f"offers/{offer.pk}/decline/").status_code == 200
    assert phone.post(f"offers/{delivery.pk}/accept/").status_code == 200
    position = {"latitude": WAY[0], "longitude": WAY[1], "accuracy": 5, "at": now()}
    assert phone.post("positions/", {"sentAt": now(), "positions": [position]}).json()["kept"] == 1
    by_dispatcher(dispatcher, delivery, "release")
    assert phone.post(f"offers/{delivery.pk}/accept/").status_code == 200
    by_dispatcher(dispatcher, delivery, "reassign", driver=str(other.pk))
    assert phone.post("moves/", move(delivery, "collect")).json()["outcomes"][0]["code"] == "goods_in_hand"
    by_dispatcher(dispatcher, delivery, "reassign", driver=str(driver.pk))
    Driver.objects.filter(pk=driver.pk).update(name=NEW_NAME, phone=NEW_PHONE)
    assert phone.post("moves/", move(delivery, "collect")).json()["outcomes"][0]["done"]
    stop = delivery.stops.get(index=0)
    receivers.note(stop=stop, receives=RECEIVER, hint=f"Ring at {RECEIVER}", at=timezone.now())
    by_dispatcher(dispatcher, delivery, "position", position=f"{WAY[0]},{WAY[1]}")
    upload = uuid4()
    assert phone.upload(photo(), delivery, upload=upload).status_code == 201
    proof = {"receivedBy": RECEIVER, "pin": f"{PIN}", "photos": [str(upload)]}
    assert phone.post("moves/", move(delivery, "deliver", point="B", **proof)).json()["outcomes"][0]["done"]
    assert phone.post("moves/", move(delivery, "deliver", point="C")).json()["outcomes"][0]["done"]
    link = ReceiverLink.objects.get(stop__delivery=delivery, stop__index=0).token
    assert Client().get(f"/t/{link}").status_code == 200
    return link


def fail(api: APIClient, driver: Driver) -> None:
    """A delivery to the receiver that somebody gives up."""
    sent = api.post("/api/request-delivery", delivery_body(), headers={"Idempotency-Key": "k-2"})
    delivery = Delivery.objects.get(pk=sent.json()["deliveryId"])
    at = timezone.now()
    deliveries.accept(delivery=delivery, driver=driver, by=f"driver {NEW_NAME}", at=at)
    deliveries.collect(delivery=delivery, by=f"driver {NEW_NAME}", at=at)
    for point, reason in (("B", "Zuleica viajou"), ("C", "Closed")):
        deliveries.fail(delivery=delivery, point=point, reason=reason, by=f"driver {NEW_NAME}", at=at)
    deliveries.return_(delivery=delivery, by=f"driver {NEW_NAME}", at=at)


def order(url: str) -> None:
    """An order to the receiver with its invoice, which the seller sends twice and wrongly too; told to `url`."""
    seller = SellerFactory.create(documents=(COMPANY,))
    endpoints.first(EndpointOfSeller, owner=seller.pk, environment="live")
    EndpointOfSeller.objects.update(url=url)
    sellers.set_receiver_mails(seller=seller, are_on=True, by=BY, at=timezone.now())
    client = APIClient(HTTP_AUTHORIZATION=f"Basic {key_of(seller)}")
    receiver = order_body()["receiver"]
    receiver |= {"name": RECEIVER, "phone": "1188776655", "cellphone": RECEIVERS_PHONE, "email": RECEIVERS_EMAIL}
    address = {**receiver["address"], "street": "Travessa Jabuticabeira", "complement": "Bloco Ximbica"}
    body = order_body(company_document=COMPANY, receiver={**receiver, "document": CPF, "address": address})
    invoice = SimpleUploadedFile("nfe.xml", nfe_xml().replace("Peça nº 1", f"Peça de {RECEIVER}").encode())
    bad = {**body, "receiver": {**body["receiver"], "address": RECEIVER}}

    answers = [
        client.post("/api/integration/orders", body, format="json", headers={"Idempotency-Key": "k-1"}),
        client.post("/api/integration/orders", body, format="json"),
        client.post("/api/integration/orders", bad, format="json"),
        client.post("/api/integration/invoices/marketplace", {"nfe": invoice}, format="multipart"),
    ]

    assert [answer.status_code for answer in answers] == [201, 400, 422, 200]
    carry(Order.objects.get(seller=seller))
    orders.move(order=Order.objects.get(seller=seller), to=OrderStatus.DELIVERED, by=BY, at=timezone.now())


def carry(order: Order) -> None:
    """A carrier by a rule fails to deliver the order, and says so wrongly too."""
    carrier, key = make_carrier()
    CarrierRule.objects.create(carrier=carrier)
    assign(carrier, order)
    reason = f"{RECEIVER} não estava"
    event = {"eventId": "1", "trackingCode": order.tracking_code, "status": "collected"}
    failed = {**event, "eventId": "2", "status": "delivery_failed", "code": "OTHER", "reason": reason}
    client = APIClient(HTTP_AUTHORIZATION=f"Basic {key}")

    answers = [
        client.post("/api/integration/carrier/events", {"events": sent}, format="json")
        for sent in ([event, failed], [failed] * 101)
    ]

    assert [answer.status_code for answer in answers] == [200, 422]
    assert all(each["success"] for each in answers[0].json()["data"])


def found(forms: list[str]) -> set[str]:
    """The columns, of all tables of the database, in which a value has one of these forms."""
    encrypted = {
        (model._meta.db_table, field.column)
        for model in apps.get_models()
        for field in model._meta.concrete_fields
        if isinstance(field, CiphertextField)
    }
    places = set()
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT table_name, column_name FROM information_schema.columns JOIN information_schema.tables"
            " USING (table_schema, table_name) WHERE table_schema = 'public' AND table_type = 'BASE TABLE'"
        )
        columns = cursor.fetchall()
        assert len(columns) > 500
        for table, column in columns:
            cursor.execute(sql.SQL("SELECT {} FROM {}").format(sql.Identifier(column), sql.Identifier(table)))
            texts = (text for (value,) in cursor.fetchall() for text in _texts(value, (table, column) in encrypted))
            if any(form in text for text in texts for form in forms):
                places.add(f"{table}.{column}")
    if any(form in str(each.get_decoded()).casefold() for each in Session.objects.all() for form in forms):
        places.add("django_session.session_data")
    return places


def empty_tables() -> set[str]:
    stored = [model for model in apps.get_models(include_auto_created=True) if model._meta.managed]
    return {model._meta.label for model in stored if not model._meta.proxy and not model._base_manager.exists()}


def _texts(value: Any, is_encrypted: bool) -> Iterator[str]:
    if isinstance(value, bytes | memoryview):
        yield bytes(value).decode(errors="replace").casefold()
    elif isinstance(value, dict | list):
        yield json.dumps(value, ensure_ascii=False).casefold()
    elif value is not None:
        yield str(value).casefold()
    if is_encrypted and value:
        try:
            yield credentials.decrypt(value).casefold()
        except InvalidToken:  # an invented one of the other rows
            return


def queued() -> str:
    """Everything in Redis, with what tasks are given."""
    with Redis.from_url(django_settings.REDIS_URL, decode_responses=True, encoding_errors="replace") as redis:
        readers = {
            "none": lambda _key: "",  # it has expired meanwhile
            "string": redis.get,
            "hash": redis.hgetall,
            "set": redis.smembers,
            "list": lambda key: redis.lrange(key, 0, -1),
            "zset": lambda key: redis.zrange(key, 0, -1),
        }
        texts = [f"{key} {readers[redis.type(key)](key)}" for key in redis.scan_iter()]
        tasks = [b64decode(json.loads(task)["body"]).decode() for task in redis.lrange("celery", 0, -1)]
    assert tasks
    return " ".join([*texts, *tasks]).casefold()


def order_in_shop() -> None:
    """An order of two connected shops, which people drop."""
    person = {"first_name": RECEIVER, "last_name": "", "phone": RECEIVERS_PHONE, "email": RECEIVERS_EMAIL}
    place = {**person, "address_1": "Travessa Jabuticabeira", "address_2": "Bloco Ximbica", "number": ""}
    for shop, drafts in ((connected(), of_deliveries), (seller_shops.shop(), of_orders)):
        post(shop, shop_order(1, billing=place, shipping=place))
        drafts.drop(draft=drafts.DRAFTS.model.objects.get(), by="user ana", at=timezone.now())


@pytest.fixture
def day(
    token: Any,
    api: APIClient,
    admin_client: Client,
    sink: Any,
    mailbox: Any,
    photo_folder: Any,
    settings: Any,
    monkeypatch: Any,
) -> list[str]:
    """The busy day. Returns the forms of the receiver with the secrets that were made for them."""
    monkeypatch.setattr("delivery.actions.deliveries.secrets.randbelow", lambda _most: PIN)
    settings.VAPID_PRIVATE_KEY = web_push.new_key()  # a task for each offer
    sink.answers = [(200, {}, f"Thanks, {RECEIVER} and {DRIVER} and {NEW_NAME}".encode())]
    token.integrator.endpoints.update(url=sink.url)
    driver = DriverFactory.create(name=DRIVER, phone=DRIVERS_PHONE, on_duty=False)
    assert api.post("/api/quotation-delivery", delivery_body(vehicleType=RECEIVER)).status_code == 422
    link = deliver(api, admin_client, driver)
    fail(api, driver)
    order(sink.url)
    order_in_shop()
    sending.send_due()
    for outbox in outboxes():
        asyncio.run(_send_due(outbox))
    assert {DRIVER, NEW_NAME} <= {name for name in (DRIVER, NEW_NAME) if found([name.casefold()])}
    assert WebhookAttempt.objects.filter(response_start__contains=RECEIVER).exists()
    assert AttemptOfOrder.objects.filter(response_start__contains=RECEIVER).exists()
    assert DropoffOptions.objects.filter(contact_email=RECEIVERS_EMAIL.lower()).count() == 2
    assert [str(message["To"]) for message in mailbox.messages] == [RECEIVERS_EMAIL.lower()] * 3
    monkeypatch.undo()
    with _transaction():
        World()
    return [*FORMS_OF_THE_RECEIVER, link.casefold()]


@pytest.mark.django_db(transaction=True)
def test_a_receiver_and_a_driver_of_a_busy_day_are_forgotten(log, day, photo_folder):
    Driver.objects.filter(name=NEW_NAME).update(active=False)
    assert empty_tables() <= NOT_FILLED
    assert len(found(day)) > 10
    assert len(found(FORMS_OF_THE_DRIVER)) > 5

    call_command("forget", "--phone", RECEIVERS_PHONE)
    call_command("forget", "--phone", NEW_PHONE)

    asked = PersonRequest.objects.filter(requested_by="command forget").order_by("pk")
    assert [(each.stops, each.orders, each.drivers, each.drafts, each.ciphertext) for each in asked] == [
        (2, 1, 0, 2, ""),
        (0, 0, 1, 0, ""),
    ]
    assert found(day) == BY_LAW | FOR_A_DAY
    assert found(FORMS_OF_THE_DRIVER) == set()
    for model in (IdempotencyRecord, RecordOfSeller):
        model.objects.update(created_at=timezone.now() - timedelta(hours=25))
    for task in ("delivery.prune_idempotency_records", "integration.prune_idempotency_records"):
        app.tasks[task]()
    assert found(day) == BY_LAW
    everyone = [*day, *FORMS_OF_THE_DRIVER]
    assert [form for form in everyone if form in log().casefold()] == []
    assert [form for form in everyone if form in queued()] == []
    assert [path for path in photo_folder.rglob("*") if path.is_file()] == []
