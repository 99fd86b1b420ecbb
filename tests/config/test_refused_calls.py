"""Refused calls of both APIs as they are stored."""

import json
from datetime import timedelta

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile as File
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone
from rest_framework.test import APIClient

from common import pruning, refused_calls
from delivery.actions import integrators
from delivery.models import Integrator, RefusedDeliveryCall, RefusedDeliveryCallCount
from delivery.tasks import prune_refused_calls
from integration.actions import sellers
from integration.models import RefusedSellerCall, RefusedSellerCallCount, Seller
from integration.tasks import prune_refused_calls as prune_of_sellers
from tests.delivery.api.calls import UNKNOWN, changed
from tests.factories import BY, IntegratorFactory, TokenFactory, payload
from tests.integration.factories import SellerFactory, key_of, order_body

REQUEST, ORDERS = "/api/request-delivery", "/api/integration/orders"
TRACKING, INVOICES = "/api/integration/orders/tracking", "/api/integration/invoices/marketplace"
PERSON = {
    "name": "Joana Prado",
    "phoneNumber": "+55 11 98765-4321",
    "email": "joana@example.com",
    "document": "529.982.247-25",
    "street": "Rua Augusta",
    "number": "1508",
    "complement": "apto 71 fundos",
    "district": "Consolação",
    "latitude": -23.5538127,
    "longitude": -46.6541293,
    "password": "rota_live_" + "A" * 43,  # pragma: allowlist secret
}


def stored():
    """Every text of the stored calls, as one."""
    rows = [*RefusedDeliveryCall.objects.values(), *RefusedSellerCall.objects.values()]
    return json.dumps(rows, default=str, ensure_ascii=False)


@pytest.fixture
def buyer(db):
    """A client that calls area B with a seller's key."""
    return APIClient(HTTP_AUTHORIZATION=f"Basic {key_of(SellerFactory.create())}")


class TestACall:
    def test_is_recorded_with_all_that_support_would_ask_for(self, api, token):
        answer = api.post(REQUEST, changed("#/vehicleType", "TRUCK"), format="json", HTTP_X_REQUEST_ID="my-call-0001")

        row = RefusedDeliveryCall.objects.get()
        assert (row.integrator_id, row.environment, row.credential) == (token.integrator_id, "live", token.hint)
        assert (row.method, row.path, row.status, row.code) == ("POST", REQUEST, 422, "invalid_payload")
        assert row.request_id == "my-call-0001"
        assert (row.content_type, row.size) == ("application/json", int(answer.wsgi_request.META["CONTENT_LENGTH"]))
        assert json.loads(row.body)["vehicleType"] == "TRUCK"
        assert json.loads(row.answer)["errors"] == answer.json()["errors"]

    @pytest.mark.parametrize(
        ("method", "path", "body", "status", "code"),
        [
            ("post", REQUEST, {}, 422, "invalid_payload"),
            ("post", REQUEST, changed("#/pickup/address/latitude", -20), 404, "pickup_not_linked"),
            ("post", REQUEST, changed("#/vehicleType", "CAR"), 400, "price_unavailable"),
            ("get", f"/api/info-delivery/{UNKNOWN}", None, 404, "delivery_not_found"),
            ("get", f"/api/location-delivery/{UNKNOWN}", None, 404, "delivery_not_found"),
            ("post", f"/api/cancel-delivery/{UNKNOWN}", {}, 404, "delivery_not_found"),
            ("get", REQUEST, None, 405, "method_not_allowed"),
        ],
    )
    def test_of_area_a_is_recorded_with_its_code(self, api, method, path, body, status, code):
        answer = getattr(api, method)(path, body, format="json")

        row = RefusedDeliveryCall.objects.get()
        assert answer.status_code == status
        assert (row.path, row.status, row.code, row.request_id) == (path, status, code, answer["X-Request-Id"])

    @pytest.mark.parametrize(
        ("method", "path", "body", "status"),
        [
            ("post", ORDERS, {}, 422),
            ("post", ORDERS, order_body(company_document="12ABC34501DE35"), 404),  # pragma: allowlist secret
            ("post", f"{ORDERS}/cancel", {"orderId": "A-9"}, 404),
            ("post", "/api/integration/shipping/quote", {"origin": "1"}, 400),
            ("get", TRACKING, None, 403),
            ("put", ORDERS, {}, 405),
        ],
    )
    def test_of_area_b_is_recorded_with_its_message(self, buyer, method, path, body, status):
        answer = getattr(buyer, method)(path, body, format="json")

        row = RefusedSellerCall.objects.get()
        assert (row.path, row.status, row.request_id) == (path, status, answer["X-Request-Id"])
        assert answer.status_code == status
        assert json.loads(row.answer) == answer.json()

    def test_of_a_suspended_account_is_recorded(self, api, token, buyer):
        integrators.suspend(integrator=token.integrator, reason="unpaid", by=BY, at=timezone.now())
        seller = SellerFactory.create(documents=())
        key = key_of(seller)
        sellers.suspend(seller=seller, reason="unpaid", by=BY, at=timezone.now())

        api.post(REQUEST, payload(), format="json")
        APIClient(HTTP_AUTHORIZATION=f"Basic {key}").post(ORDERS, order_body(), format="json")

        of_token, of_key = RefusedDeliveryCall.objects.get(), RefusedSellerCall.objects.get()
        assert (of_token.status, of_token.code, of_key.status) == (401, "account_suspended", 401)
        assert json.loads(of_token.body)["vehicleType"] == "MOTORCYCLE"
        assert json.loads(of_key.body)["orderId"] == "A-1"

    def test_that_failed_unexpectedly_is_recorded(self, api, monkeypatch):
        api.raise_request_exception = False
        monkeypatch.setattr("delivery.actions.deliveries.request", None)

        answer = api.post(REQUEST, payload(), format="json")

        row = RefusedDeliveryCall.objects.get()
        assert (answer.status_code, row.status, row.code) == (500, 500, "server_error")
        assert json.loads(row.body)["vehicleType"] == "MOTORCYCLE"

    @pytest.mark.parametrize("header", ["", "Bearer rota_live_unknown", "Basic rota_key_unknown"])
    def test_without_a_known_account_is_not_recorded(self, db, header):
        APIClient(HTTP_AUTHORIZATION=header).get(f"/api/info-delivery/{UNKNOWN}")
        APIClient(HTTP_AUTHORIZATION=header).get(TRACKING)

        assert stored() == "[]"

    def test_that_succeeds_is_not_recorded(self, api):
        assert api.post(REQUEST, payload(), format="json").status_code == 201

        assert stored() == "[]"
        assert not RefusedDeliveryCallCount.objects.exists()


class TestWhatIsStored:
    @pytest.mark.parametrize(
        "place", ["pickup/contacts", "pickup/address", "dropoffs/0/contacts", "dropoffs/0/address", "extra", "dropoffs"]
    )
    def test_of_area_a_has_nothing_of_a_person(self, api, place):
        api.post(REQUEST, {**changed(f"#/{place}", PERSON), "deliveryMode": "X"}, format="json")

        assert json.loads(RefusedDeliveryCall.objects.get().body)["deliveryMode"] == "X"
        assert [value for value in PERSON.values() if str(value) in stored()] == []

    @pytest.mark.parametrize("changes", [{"receiver": PERSON}, {"receiver": {"address": PERSON}}, {"x": [PERSON]}])
    def test_of_area_b_has_nothing_of_a_person(self, buyer, changes):
        buyer.post(ORDERS, order_body(**changes, service="slow"), format="json")

        body = json.loads(RefusedSellerCall.objects.get().body)
        assert (body["service"], body["orderId"], body["orderCost"]) == ("slow", "A-1", 150.5)
        receiver = order_body()["receiver"]
        sent = [*PERSON.values(), *(receiver[name] for name in ("cellphone", "email", "document")), "11222333000181"]
        assert [value for value in sent if str(value) in stored()] == []

    @pytest.mark.parametrize("name", PERSON)
    def test_has_nothing_of_a_person_in_the_wrong_field(self, api, buyer, name):
        value = str(PERSON[name])
        for field in ("vehicleType", "deliveryMode", "dropoffs/0/externalId", "dropoffs/0/address/zipcode", value):
            if "/" not in value:
                api.post(REQUEST, {**changed(f"#/{field}", value), "dropoffs": [{"externalId": value}]}, format="json")
        for field in ("orderId", "trackingCode", "service", "company_document", value):
            buyer.post(ORDERS, {**order_body(**{field: value}), "items": []}, format="json")

        assert RefusedDeliveryCall.objects.count() == 5
        assert RefusedSellerCall.objects.count() == 5
        # A single word stays as a key, and a short number as a code too.
        assert (value in stored()) is (name in {"number", "district"})

    def test_has_no_personal_data_of_the_address(self, api, buyer):
        api.get("/api/info-delivery/joana@example.com?phone=11987654321")
        buyer.get(f"{TRACKING}?type=x&value=52998224725&document=joana")

        of_token, of_key = RefusedDeliveryCall.objects.get(), RefusedSellerCall.objects.get()
        assert of_token.path == "/api/info-delivery/<text, 17>"
        assert json.loads(of_token.query) == {"phone": "<text, 11>"}
        assert json.loads(of_key.query) == {"type": "x", "value": "<text, 11>", "document": "<text, 5>"}
        assert [text for text in ("joana", "52998224725", "11987654321") if text in stored()] == []

    def test_has_no_token_and_no_key(self, api, token, db):
        seller_key = key_of(SellerFactory.create())
        api.post(REQUEST, {"token": token.clear_text, token.clear_text: 1, "vehicleType": token.clear_text})
        APIClient(HTTP_AUTHORIZATION=f"Basic {seller_key}").post(ORDERS, {"orderId": seller_key}, format="json")

        assert RefusedDeliveryCall.objects.exists()
        assert RefusedSellerCall.objects.exists()
        assert token.clear_text not in stored()
        assert seller_key not in stored()

    @pytest.mark.parametrize(
        ("body", "content_type", "kind"),
        [
            ('{"name": "Joana Prado"', "application/json", "application/json"),
            ('["Joana Prado"]', "application/json", "application/json"),
            ("name=Joana Prado", "application/x-www-form-urlencoded", "application/x-www-form-urlencoded"),
            ("Joana Prado", "Joana Prado", ""),
        ],
    )
    def test_of_a_body_that_is_no_json_object_is_its_size_and_type(self, api, body, content_type, kind):
        answer = api.post(REQUEST, body, content_type=content_type)

        row = RefusedDeliveryCall.objects.get()
        assert answer.status_code in {415, 422}
        assert (row.body, row.size, row.content_type) == ("", len(body), kind)
        assert "Joana" not in stored()

    def test_of_an_invoice_is_its_size(self, buyer):
        buyer.post(INVOICES, {"nfe": File("joana.xml", b"<nfe>Joana Prado</nfe>")}, format="multipart")

        row = RefusedSellerCall.objects.get()
        assert (row.status, row.body, row.content_type) == (422, "", "multipart/form-data")
        assert row.size > 22
        assert "oana" not in stored()

    def test_has_at_most_4_kib_of_a_body_and_of_an_answer(self, api):
        packages = [{f"ç{'x' * 30}{number}": "é" * 50, "weight": -1} for number in range(300)]
        api.post(REQUEST, {**payload(), "dropoffs": "ç", "orderPackages": packages}, format="json")

        row = RefusedDeliveryCall.objects.get()
        assert 4000 < len(row.body.encode()) <= 4096
        assert len(row.answer.encode()) <= 4096

    def test_survives_hostile_text(self, api):
        api.post("/api/info-delivery/%00%ff", b'{"\\u0000": "\\ud800", "vehicleType": "\\ud800\\u0000"}')
        body = b'{"\\u0000\\ud800": "\\ud800", "vehicleType": "\\ud800\\u0000"}'
        api.generic("POST", REQUEST, body, content_type="application/json")

        assert RefusedDeliveryCall.objects.count() == 2


class TestBounds:
    def test_leave_calls_out_over_the_number_of_an_hour(self, api, token, monkeypatch):
        monkeypatch.setattr(refused_calls, "MOST_STORED", 3)

        for _call in range(5):
            api.get(f"/api/info-delivery/{UNKNOWN}")

        assert RefusedDeliveryCall.objects.count() == 3
        assert RefusedDeliveryCallCount.objects.get().refused == 5

    def test_count_calls_over_a_limit_and_store_none(self, api, token, buyer):
        Integrator.objects.update(rate_limit_per_hour=1)
        Seller.objects.update(rate_limit_per_hour=1)

        statuses = [client.get(TRACKING if client is buyer else f"/api/info-delivery/{UNKNOWN}").status_code
                    for client in (api, api, buyer, buyer)]  # fmt: skip

        assert statuses == [404, 429, 403, 429]
        assert RefusedDeliveryCallCount.objects.get().over_limit == 1
        assert RefusedSellerCallCount.objects.get().over_limit == 1
        assert (RefusedDeliveryCall.objects.count(), RefusedSellerCall.objects.count()) == (1, 1)

    def test_cost_a_successful_call_no_query(self, api):
        created = api.post(REQUEST, payload(), format="json").json()["deliveryId"]

        with CaptureQueriesContext(connection) as queries:
            assert api.get(f"/api/info-delivery/{created}").status_code == 200

        assert not [query for query in queries.captured_queries if "refused" in query["sql"]]


def test_a_failure_to_record_does_not_change_the_answer(api, caplog):
    with connection.cursor() as cursor:
        cursor.execute("ALTER TABLE delivery_refuseddeliverycall RENAME TO gone")

    answer = api.get(f"/api/info-delivery/{UNKNOWN}")

    assert (answer.status_code, answer.json()["code"]) == (404, "delivery_not_found")
    assert [record.message for record in caplog.records] == ["A refused call could not be recorded"]


@pytest.mark.parametrize(
    ("calls", "counts", "prune"),
    [
        (RefusedDeliveryCall, RefusedDeliveryCallCount, prune_refused_calls),
        (RefusedSellerCall, RefusedSellerCallCount, prune_of_sellers),
    ],
)
def test_pruning_deletes_what_is_older_than_seven_days(calls, counts, prune, db, monkeypatch):
    monkeypatch.setattr(pruning, "_BATCH", 2)
    owner = {"seller": SellerFactory.create()}
    if calls is RefusedDeliveryCall:
        owner = {"integrator": IntegratorFactory.create(), "environment": "live"}
    now = timezone.now()
    for hours in (0, 7 * 24 - 1, *range(7 * 24 + 1, 7 * 24 + 6)):
        moment = now - timedelta(hours=hours)
        calls.objects.create(**owner, created_at=moment, status=404, size=0)
        counts.objects.create(**owner, hour=moment, refused=1, over_limit=0)

    prune()

    assert calls.objects.count() == 2
    assert counts.objects.count() == 2


def test_two_tokens_of_an_account_are_told_apart(db):
    first = TokenFactory.create()
    second = TokenFactory.create(integrator=first.integrator, sandbox=True)

    for token in (first, second):
        APIClient(HTTP_AUTHORIZATION=f"Bearer {token.clear_text}").get(f"/api/info-delivery/{UNKNOWN}")

    rows = RefusedDeliveryCall.objects.values_list("environment", "credential")
    assert set(rows) == {("live", first.hint), ("sandbox", second.hint)}
