"""A test key and a live key of one seller see different worlds."""

import pytest
from rest_framework.test import APIClient

from common.accounts import Environment
from integration.errors import OrderNotFound
from integration.invoices import actions as invoices
from integration.invoices.models import Invoice
from integration.models import Order
from tests.integration.factories import ACCESS_KEY, create_order, key_of, nfe_xml, order_body, send_invoice, upload

ORDERS = "/api/integration/orders"


@pytest.fixture
def clients(seller):
    """A caller with a live key and one with a test key."""
    made = {environment: APIClient() for environment in Environment}
    for environment, client in made.items():
        client.default_format = "json"
        client.credentials(HTTP_AUTHORIZATION=f"Basic {key_of(seller, environment)}")
    return made


@pytest.fixture
def live(clients):
    return clients[Environment.LIVE]


@pytest.fixture
def test(clients):
    return clients[Environment.SANDBOX]


class TestOrders:
    def test_may_have_one_order_id_and_tracking_code_in_each(self, live, test):
        statuses = [client.post(ORDERS, order_body(), format="json").status_code for client in (live, test, live, test)]

        assert statuses == [201, 201, 400, 400]
        assert sorted(Order.objects.values_list("environment", flat=True)) == ["live", "sandbox"]

    @pytest.mark.parametrize("there", ["live", "sandbox"])
    def test_of_the_other_environment_are_not_found(self, seller, live, test, there):
        order = create_order(seller, there, trackingCode="T-1")
        own, other = (live, test) if there == "live" else (test, live)

        def seen(client):
            tracked = [
                client.get(f"{ORDERS}/tracking", {"type": kind, "value": value}).json()["success"]
                for kind, value in (
                    ("order_number", "T-1"), ("order_number", "t 1"), ("document", order.receiver_document),
                )
            ]  # fmt: skip  # a list
            listed = client.get(ORDERS).json()["data"]
            return [bool(listed), client.get(f"{ORDERS}/A-1").status_code == 200, *tracked]

        assert seen(own) == [True] * 5
        assert seen(other) == [False] * 5
        assert other.post(f"{ORDERS}/cancel", {"orderId": "A-1"}, format="json").status_code == 404
        assert Order.objects.get().status == "pending"

    def test_answer_an_idempotency_key_of_their_own(self, live, test):
        answers = [
            client.post(ORDERS, order_body(), format="json", HTTP_IDEMPOTENCY_KEY="one") for client in (live, test)
        ]

        assert [answer.status_code for answer in answers] == [201, 201]
        assert not any("Idempotency-Replayed" in answer for answer in answers)


class TestInvoices:
    @pytest.mark.parametrize("first", ["order", "invoice"])
    def test_are_linked_to_orders_of_their_environment_only(self, seller, first):
        def make_orders():
            for environment in Environment:
                create_order(seller, environment, invoice={"key": ACCESS_KEY})

        if first == "order":
            make_orders()
        invoice = send_invoice(seller, nfe_xml().encode(), environment=Environment.SANDBOX)
        if first == "invoice":
            make_orders()

        assert [order.environment for order in invoice.orders.all()] == ["sandbox"]

    def test_are_kept_once_in_each(self, live, test):
        for client in (live, test, live, test):
            assert upload(client, nfe_xml().encode()).status_code == 200

        assert sorted(Invoice.objects.values_list("environment", flat=True)) == ["live", "sandbox"]
        keys = [client.get("/api/integration/invoices").json()["data"][0]["key"] for client in (live, test)]
        assert keys == [ACCESS_KEY] * 2

    def test_are_not_linked_across_by_hand(self, seller):
        order = create_order(seller, Environment.SANDBOX)
        invoice = send_invoice(seller, nfe_xml(items=("B-1",)).encode())

        with pytest.raises(OrderNotFound):
            invoices.link_by_hand(invoice=invoice, order=order, by="x", at=order.created_at)
        assert not invoice.links.exists()


class TestKeys:
    def test_begin_with_their_environment(self, seller):
        assert key_of(seller, Environment.LIVE).startswith("rota_key_")
        assert key_of(seller, Environment.SANDBOX).startswith("rota_testkey_")
