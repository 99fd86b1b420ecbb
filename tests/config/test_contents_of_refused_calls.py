"""What the stored record of a refused call contains: no personal data, no credential."""

import json

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile as File
from rest_framework.test import APIClient

from delivery.api.filters import DeliveryFilter, FeedQuery
from delivery.models import RefusedDeliveryCall
from integration.api.filters import OrderFilter
from integration.models import RefusedSellerCall
from tests.cases import in_turn
from tests.delivery.api.calls import changed
from tests.factories import payload
from tests.integration.factories import SellerFactory, key_of, order_body

REQUEST, ORDERS = "/api/request-delivery", "/api/integration/orders"
TRACKING, INVOICES = "/api/integration/orders/tracking", "/api/integration/invoices/marketplace"
PERSON = {
    "name": "Joana Prado",
    "phoneNumber": "+55 11 98765-4321",
    "email": "joana@example.com",
    "document": "529.982.247-25",
    "street": "Rua Augusta",
    "number": "1508X",  # four digits alone may be those of an id or of a moment
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


class TestWhatIsStored:
    @in_turn(
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

    @in_turn("name", PERSON)
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
        packages = [{f"ç{'x' * 30}{number}": "é" * 50, "weight": -1} for number in range(200)]
        answer = api.post(REQUEST, {**payload(), "dropoffs": "ç", "orderPackages": packages}, format="json")

        row = RefusedDeliveryCall.objects.get()
        assert 4000 < len(row.body.encode()) <= 4096
        assert len(answer.content) > 4096 >= len(row.answer.encode())

    def test_survives_hostile_text(self, api):
        api.post("/api/info-delivery/%00%ff", b'{"\\u0000": "\\ud800", "vehicleType": "\\ud800\\u0000"}')
        body = b'{"\\u0000\\ud800": "\\ud800", "vehicleType": "\\ud800\\u0000"}'
        api.generic("POST", REQUEST, body, content_type="application/json")

        assert RefusedDeliveryCall.objects.count() == 2

    @pytest.mark.parametrize(("path", "filters"), [("/api/deliveries", DeliveryFilter), ("/api/events", FeedQuery)])
    def test_has_the_query_of_a_list_of_area_a(self, api, path, filters):
        query = dict.fromkeys(filters.base_filters, "A-1")

        assert api.get(path, query).status_code == 422

        assert json.loads(RefusedDeliveryCall.objects.get().query) == query

    def test_has_the_query_of_a_list_of_area_b(self, buyer):
        query = dict.fromkeys(OrderFilter.base_filters, "A-1")

        assert buyer.get(ORDERS, query).status_code == 422

        assert json.loads(RefusedSellerCall.objects.get().query) == {**query, "company": "<text, 3>"}  # a person's too
