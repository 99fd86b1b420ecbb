"""No secret and no personal data in the log, after runs through both areas, the driver's app and the log-in."""

import asyncio
import io
import json
import logging

import pytest
from django.contrib.auth.models import User
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.utils import timezone
from rest_framework.test import APIClient

from common.webhooks import endpoints
from config.monitoring.logs import JsonFormatter, LineFormatter
from delivery.drivers import devices as driver_devices
from delivery.models import Delivery, DropoffOptions, WebhookAttempt
from tests.common.webhooks.conftest import _send_due
from tests.delivery.drivers.phones import Phone
from tests.factories import BY, PICKUP, DriverFactory, payload
from tests.integration.factories import SellerFactory, key_of, load_tariff, nfe_xml, order_body

# What the runs send, in words that occur nowhere else.
PERSON = {
    "name": "Zuleica Quintanilha",
    "phone": "11988776655",
    "document": "52998224725",
    "masked": "529.982.247-25",
    "email": "zuleica.q@example.org",
    "street": "Travessa Jabuticabeira",
    "complement": "Bloco Ximbica",
    "instructions": "Campainha quebrada, gritar",
    "shop": "Loja Xandoquinha",
    "shop phone": "1133221144",
    "driver": "Waldemar Prudente",
    "driver phone": "11955443322",
    "issuer": "Comercial Itapoã Ltda",
    "password": "correct-horse-battery-9",  # pragma: allowlist secret
    "wrong password": "typed-in-the-wrong-field-7",  # pragma: allowlist secret
}


@pytest.fixture
def log():
    """What both formats have written since, of every logger and level."""
    stream = io.StringIO()
    handlers = []
    for formatter in (JsonFormatter(), LineFormatter()):
        handler = logging.StreamHandler(stream)
        handler.setFormatter(formatter)
        handler.addFilter(lambda record: not record.name.startswith("factory"))  # of the tests
        handlers.append(handler)
    root = logging.getLogger()
    level = root.level
    root.setLevel(logging.DEBUG)
    for handler in handlers:
        root.addHandler(handler)
    yield stream.getvalue
    root.setLevel(level)
    for handler in handlers:
        root.removeHandler(handler)


@pytest.fixture
def secrets():
    """Secrets that the runs use, beside PERSON."""
    return set()


def check(log, secrets):
    text = log()
    assert text.count("rota.access") >= 2
    values = {value for value in {*PERSON.values(), *secrets} if value}
    assert [line for line in text.splitlines() if any(value in line for value in values)] == []


def delivery_body(**changes):
    contacts = {"name": PERSON["name"], "phoneNumber": PERSON["phone"], "email": PERSON["email"]}
    address = {"street": PERSON["street"], "complement": PERSON["complement"], "latitude": -23.56, "longitude": -46.65}
    body = payload(stops=1)
    body["pickup"]["contacts"] = {"name": PERSON["shop"], "phoneNumber": PERSON["shop phone"]}
    body["dropoffs"][0] |= {
        "contacts": contacts,
        "address": {**body["dropoffs"][0]["address"], **address},
        "instructions": PERSON["instructions"],
        "proof": {"pin": True},
    }
    return {**body, **changes}


@pytest.mark.django_db
class TestLog:
    @pytest.mark.django_db(transaction=True)  # webhooks are sent by connections of their own
    def test_of_a_delivery_with_its_driver_its_receiver_and_its_webhooks(self, api, token, log, secrets):
        endpoint = token.integrator.endpoints.get(environment=token.environment)
        endpoints.set_url(endpoint=endpoint, url="http://127.0.0.1:9/hook", by=BY, at=timezone.now())
        secrets |= {token.clear_text, endpoint.secret.removeprefix("whsec_")}

        assert api.post("/api/quotation-delivery", delivery_body()).status_code == 200
        created = api.post("/api/request-delivery", delivery_body(), headers={"Idempotency-Key": "k-1"})
        assert created.status_code == 201, created.content
        delivery = Delivery.objects.get()
        driver = DriverFactory.create(
            name=PERSON["driver"], phone=PERSON["driver phone"], on_duty=False, at_point=PICKUP
        )
        link = driver_devices.issue_link(driver=driver, by=BY, at=timezone.now())
        secrets |= {link}
        Client().get(f"/driver/in/{link}/")
        phone = Phone(driver)
        secrets |= {morsel.value for morsel in phone.client.cookies.values()}
        phone.post("duty/", {"onDuty": True})
        assert phone.post(f"offers/{delivery.pk}/accept/").status_code == 200
        detail = api.get(f"/api/deliveries/{delivery.pk}").json()
        tracking = detail["orders"][0]["trackingUrl"].rpartition("/t/")[2].strip("/")
        pin = DropoffOptions.objects.get().pin
        assert len(pin) == 4
        secrets |= {tracking}
        assert Client().get(f"/t/{tracking}").status_code == 200
        for path in (f"/t/{tracking}x", f"/t/{tracking}/map/x.pmtiles", f"/T/{tracking}", f"/driver/in/{tracking}"):
            Client().get(path)
        asyncio.run(_send_due())

        assert WebhookAttempt.objects.exists()
        check(log, secrets)
        assert f'"account": "{token.integrator_id}"' in log()
        assert f'"delivery": "{delivery.pk}"' in log()

    def test_of_refused_calls(self, api, token, log, secrets):
        secrets |= {token.clear_text, f"rota_live_{'Wq7' * 12}", "Zm9vYmFyOnNlY3JldA"}
        wrong = [f"Bearer rota_live_{'Wq7' * 12}", "Bearer Zm9vYmFyOnNlY3JldA", f"Token {token.clear_text}"]
        for header in wrong:
            client = APIClient()
            client.credentials(HTTP_AUTHORIZATION=header)
            assert client.post("/api/request-delivery", delivery_body()).status_code == 401
        bad = delivery_body(vehicleType=PERSON["name"])
        bad["dropoffs"][0]["address"]["latitude"] = PERSON["street"]

        statuses = {
            api.post("/api/request-delivery", bad).status_code,
            api.post("/api/request-delivery", json.dumps(bad)[:-9], content_type="application/json").status_code,
            api.get("/api/deliveries", {"externalId": PERSON["email"], "status": PERSON["name"]}).status_code,
            api.post(f"/api/cancel-delivery/{token.clear_text}", {"reason": PERSON["instructions"] * 20}).status_code,
            api.get(f"/api/nowhere/{token.clear_text}/{PERSON['email']}").status_code,
        }

        assert min(statuses) >= 400
        assert max(statuses) < 500
        check(log, secrets)

    def test_of_a_sellers_orders_and_invoices(self, log, secrets):
        load_tariff()
        seller = SellerFactory.create()
        key = key_of(seller)
        secrets |= {key, "11144477735"}
        client = APIClient(HTTP_AUTHORIZATION=f"Basic {key}")
        order = order_body()
        order["receiver"] |= {name: PERSON[name] for name in ("name", "phone", "email", "document")}
        order["receiver"]["address"] |= {name: PERSON[name] for name in ("street", "complement")}
        xml = nfe_xml().replace("São João Comércio", PERSON["issuer"])
        tracked = "/api/integration/orders/tracking"
        bad = {**order, "receiver": {**order["receiver"], "address": PERSON["street"], "email": [PERSON["email"]]}}

        statuses = [
            client.post("/api/integration/orders", order, format="json").status_code,
            client.post("/api/integration/orders", order, format="json").status_code,
            client.post("/api/integration/orders", bad, format="json").status_code,
            client.get(tracked, {"type": "document", "value": PERSON["masked"]}).status_code,
            client.get(tracked, {"type": PERSON["name"], "value": PERSON["document"]}).status_code,
            _upload(client, xml).status_code,
            _upload(client, xml[:-40]).status_code,
            _upload(client, f"<!DOCTYPE a>{xml}").status_code,
            APIClient(HTTP_AUTHORIZATION=f"Basic {key}x").get(tracked).status_code,
        ]

        assert statuses == [201, 400, 422, 200, 422, 200, 422, 422, 401]
        check(log, secrets)
        assert f'"account": "{seller.reference}"' in log()

    def test_of_log_ins(self, log, secrets, mailbox):
        User.objects.create_user(PERSON["email"], email=PERSON["email"], password=PERSON["password"])
        client = Client()

        client.post("/account/login/", {"login": PERSON["email"], "password": PERSON["wrong password"]})
        client.post("/account/login/", {"login": PERSON["wrong password"], "password": PERSON["email"]})
        client.post("/account/login/", {"login": PERSON["email"], "password": PERSON["password"]})
        secrets |= {client.session.session_key}
        client.get("/panel/board/")
        client.get(f"/account/password/reset/1/{'c8x2' * 10}/")
        client.get(f"/account/nowhere/{PERSON['email']}")
        secrets |= {"c8x2" * 10}

        assert "logged in" in log()
        check(log, secrets)

    def test_of_a_view_that_fails(self, api, token, log, secrets, monkeypatch):
        secrets |= {token.clear_text}
        api.raise_request_exception = False

        def fail(**arguments):
            raise ValueError(f"of {PERSON['email']} with Bearer {token.clear_text}")

        monkeypatch.setattr("delivery.actions.deliveries.request", fail)

        assert api.post("/api/request-delivery", delivery_body()).status_code == 500
        assert "ValueError" in log()
        check(log, secrets)


def _upload(client, xml):
    file = SimpleUploadedFile("nfe.xml", xml.encode())
    return client.post("/api/integration/invoices/marketplace", {"nfe": file}, format="multipart")
