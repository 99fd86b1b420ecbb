"""How many statements a call of the APIs executes, beside those that begin and end transactions."""

from datetime import timedelta
from unittest.mock import patch

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import connection
from django.db.models.sql import Query
from django.test.utils import CaptureQueriesContext
from django.utils import timezone
from rest_framework.test import APIClient

from common.shops.platforms import Platform
from common.webhooks import endpoints
from integration.models import WebhookEndpoint
from tests.delivery.connections.shops import post
from tests.delivery.connections.shops import shop as connected
from tests.delivery.connections.test_recorded_orders import RECORDED, sent
from tests.factories import DeliveryFactory, add_endpoint, payload
from tests.integration.connections.shops import shop as connected_to_seller
from tests.integration.factories import (
    SellerFactory,
    create_order,
    key_of,
    load_tariff,
    nfe_xml,
    order_body,
    send_invoice,
)

_FREIGHT = {"origin": "01310100", "destination": "40020000"}
_TRACKED = {"type": "order_number", "value": "A-1"}
_TOMORROW = timezone.now() + timedelta(days=1)
AREA_A = {
    "quote": ("post", "/api/quotation-delivery", payload(stops=3), 2),  # token, tariff with pickup points
    # Token, tariff with pickup points, repeated externalIds, endpoint, one insert of all rows.
    "request": ("post", "/api/request-delivery", payload(stops=3), 5),
    "request for later": ("post", "/api/request-delivery", payload(pickupReadyAt=_TOMORROW.isoformat()), 5),
    "info": ("get", "/api/info-delivery/{id}", {}, 2),  # token; delivery with driver, stops and position
    "location": ("get", "/api/location-delivery/{id}", {}, 2),  # the same
    # Token, id; under the lock delivery, driver, stops, endpoint, position; stops, delivery, transition, event.
    "cancel": ("post", "/api/cancel-delivery/{id}", {}, 11),
    "list": ("get", "/api/deliveries", {}, 3),  # token, deliveries, stops
    "list by statuses": ("get", "/api/deliveries?status=PENDING,ACCEPT", {}, 3),  # the same
    "drafts": ("get", "/api/drafts", {}, 2),  # token, drafts
    "account": ("get", "/api/account", {}, 3),  # token, account, pickup points
    "detail": (
        "get",
        "/api/deliveries/{id}",
        {},
        11,
    ),  # as info; transitions, events, details, photos, links (made and read)
}
AREA_B = {
    "quote": ("post", "shipping/quote", _FREIGHT, 2),  # key, parameters with rates
    "services": ("post", "shipping/services", _FREIGHT, 2),  # the same
    # Key with the maximum weight; company with the seller's lock, duplicates and invoices, one insert of all rows.
    "order": ("post", "orders", order_body(orderId="B-1", trackingCode="B-1"), 4),
    "order with a freight": ("post", "orders", order_body(orderId="B-1", trackingCode="B-1"), 5),  # and its rates
    # And links, their history, codes, the links of orders that are only alike.
    "order linked to an invoice": ("post", "orders", order_body(orderId="B-2", trackingCode=None), 8),
    # Key, order; order locked, log entry, endpoints, status, manifest.
    "cancel": ("post", "orders/cancel", {"orderId": "A-1"}, 7),
    "tracking": ("get", "orders/tracking", _TRACKED, 2),  # key, orders with status logs
    "list": ("get", "orders", {}, 3),  # key, orders, companies
    "account": ("get", "account", {}, 3),  # key, seller, companies
    "detail": ("get", "orders/A-1", {}, 4),  # key, order with company, status log, invoices
    "label": ("get", "orders/A-1/label", {}, 3),  # key, order with company, invoices
    # Key, order; orders locked, those in open ones, manifest, entries; manifest, its orders.
    "manifest": ("post", "manifests", {"orderIds": ["A-1"]}, 8),
    "list of manifests": ("get", "manifests", {}, 2),  # key, manifests with their orders
    # Key; seller's lock, stored invoice, quota, invoice, references, orders, links, their history, codes, the issuer's
    # company.
    "invoice": ("post", "invoices/marketplace", None, 11),
    "list of invoices": ("get", "invoices", {}, 2),  # key, invoices with their orders
    # Key; endpoint looked for and made, events; lock, orders without events with their entries, events, invoices and
    # endpoints, their events, orders; positions, events. A later call has six.
    "events": ("get", "events", {}, 14),
}


def statements_of(call):
    with CaptureQueriesContext(connection) as queries:
        response = call()
    assert response.status_code < 300, response.content
    return [query["sql"] for query in queries if "SAVEPOINT" not in query["sql"]]


def compiled_by_second(first, second):
    """The queries that Django compiles for the second of two calls."""
    assert first().status_code < 300
    with patch.object(Query, "get_compiler", autospec=True, side_effect=Query.get_compiler) as get_compiler:
        assert second().status_code < 300
    return [str(call.args[0].model) for call in get_compiler.mock_calls]


@pytest.mark.django_db
class TestStatements:
    @pytest.mark.parametrize("name", AREA_A)
    def test_of_immediate_delivery(self, api, token, name):
        method, path, body, most = AREA_A[name]
        delivery = DeliveryFactory.create(token=token, accepted=True, stops=3)
        api.get("/api/deliveries")  # records the use of the token

        found = statements_of(lambda: getattr(api, method)(path.format(id=delivery.pk), body))

        assert len(found) == most, "\n".join(found)

    @pytest.mark.parametrize(("name", "most"), [("request", 5), ("cancel", 12)])  # cancel: one to queue the event
    def test_of_a_change_does_not_grow_with_the_endpoints(self, api, token, name, most):
        method, path, body, _most = AREA_A[name]
        for _number in range(4):
            add_endpoint(token)
        delivery = DeliveryFactory.create(token=token, accepted=True, stops=3)
        api.get("/api/deliveries")  # records the use of the token

        found = statements_of(lambda: getattr(api, method)(path.format(id=delivery.pk), body))

        assert len(found) == most, "\n".join(found)

    @pytest.mark.parametrize("name", AREA_B)
    def test_of_order_integration(self, name):
        method, path, body, most = AREA_B[name]
        load_tariff()
        seller = SellerFactory.create()
        create_order(seller)
        client = APIClient(HTTP_AUTHORIZATION=f"Basic {key_of(seller)}")
        if name == "order with a freight":
            seller.companies.update(postcode="01310100")
        if name == "order linked to an invoice":
            send_invoice(seller, nfe_xml(items=["B-2"]).encode())
        sent = {"nfe": SimpleUploadedFile("nfe.xml", nfe_xml().encode())} if body is None else body
        client.get("/api/integration/orders")  # records the use of the key
        options = {"format": "multipart"} if body is None else {}

        found = statements_of(lambda: getattr(client, method)(f"/api/integration/{path}", sent, **options))

        assert len(found) == most, "\n".join(found)

    @pytest.mark.parametrize("platform", Platform)
    @pytest.mark.parametrize(
        ("connect", "first", "again"),
        [
            # Connection; draft, which is inserted or updated; reception, and what is too old of them.
            (connected, 5, 5),
            # And the order: company with the seller's lock, duplicates and invoices, rates, one insert of all rows; the
            # draft once more.
            (connected_to_seller, 10, 5),
        ],
    )
    def test_of_an_order_of_a_shop(self, platform, connect, first, again):
        load_tariff()
        SellerFactory.create(origin="01310100")
        connection = connect(platform=platform)

        found = [statements_of(lambda: post(connection, sent(RECORDED[platform]))) for _time in range(2)]

        assert [len(each) for each in found] == [first, again], found


@pytest.mark.django_db
class TestCompilation:
    """Statements of these calls are compiled once, because that takes several times as long as to execute them."""

    @pytest.mark.parametrize("name", ["quote", "request", "info", "location"])
    def test_of_immediate_delivery(self, api, token, name):
        method, path, body, _most = AREA_A[name]
        delivery = DeliveryFactory.create(token=token, accepted=True, stops=3)

        def call():
            return getattr(api, method)(path.format(id=delivery.pk), body)

        assert compiled_by_second(call, call) == []

    @pytest.mark.parametrize("name", ["quote", "services", "tracking"])
    def test_of_order_integration(self, name):
        method, path, body, _most = AREA_B[name]
        load_tariff()
        seller = SellerFactory.create()
        create_order(seller)
        client = APIClient(HTTP_AUTHORIZATION=f"Basic {key_of(seller)}")

        def call():
            return getattr(client, method)(f"/api/integration/{path}", body)

        assert compiled_by_second(call, call) == []

    @pytest.mark.parametrize("url", ["", "https://shop.example/hook"])
    def test_of_a_new_order(self, url):
        load_tariff()
        seller = SellerFactory.create()
        seller.companies.update(postcode="01310100")
        endpoints.first(WebhookEndpoint, owner=seller.pk, environment="live")
        WebhookEndpoint.objects.update(url=url)
        client = APIClient(HTTP_AUTHORIZATION=f"Basic {key_of(seller)}")

        def create(code):
            return client.post("/api/integration/orders", order_body(orderId=code, trackingCode=code))

        assert compiled_by_second(lambda: create("B-1"), lambda: create("B-2")) == []
