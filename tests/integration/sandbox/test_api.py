"""The sandbox of area B by its API: the speed of the simulated carrier, and moves by hand."""

import pytest
from django.utils import timezone
from rest_framework.test import APIClient

from common.accounts import Environment
from integration.models import Order, Simulation, StatusLog
from tests.cases import in_turn
from tests.integration.factories import create_order, key_of, order_body

ORDERS = "/api/integration/orders"
MOVES = "/api/integration/sandbox/orders"


def client_of(seller, environment):
    made = APIClient()
    made.default_format = "json"
    made.credentials(HTTP_AUTHORIZATION=f"Basic {key_of(seller, environment)}")
    return made


@pytest.fixture
def test(seller):
    return client_of(seller, Environment.SANDBOX)


@pytest.fixture
def order(seller):
    return create_order(seller, Environment.SANDBOX, orderId="sim-manual-1")


def move(client, status, body=None, code="sim-manual-1"):
    return client.post(f"{MOVES}/{code}/{status}", body)


class TestCreation:
    @pytest.mark.parametrize(("header", "speed"), [({}, 1), ({"HTTP_SANDBOX_SPEED": "60"}, 60)])
    def test_starts_the_simulated_carrier(self, test, header, speed):
        assert test.post(ORDERS, order_body(), **header).status_code == 201

        assert Simulation.objects.get().speed == speed

    @in_turn("value", ["0", "121", "NaN", "fast", "", "1_0", "1" * 5000])
    def test_refuses_another_speed(self, test, value):
        answer = test.post(ORDERS, order_body(), HTTP_SANDBOX_SPEED=value)

        assert (answer.status_code, answer.json()["code"]) == (422, "invalid_sandbox_speed")
        assert not Order.objects.exists()

    def test_with_a_live_key_ignores_the_speed(self, seller):
        answer = client_of(seller, Environment.LIVE).post(ORDERS, order_body(), HTTP_SANDBOX_SPEED="fast")

        assert answer.status_code == 201
        assert not Simulation.objects.exists()

    @pytest.mark.parametrize(("environment", "codes"), [("sandbox", ["unknown_outcome"]), ("live", [])])
    def test_warns_of_a_misspelt_prefix_in_the_sandbox(self, seller, environment, codes):
        answer = client_of(seller, Environment(environment)).post(ORDERS, order_body(orderId="sim-fial-1"))

        assert [each["code"] for each in answer.json().get("warnings", [])] == codes

    def test_is_refused_while_as_many_move_as_may(self, test, seller, monkeypatch):
        monkeypatch.setattr("common.simulation.rows.MOST", 1)
        test.post(ORDERS, order_body())

        answer = test.post(ORDERS, order_body(orderId="A-2", trackingCode="T-2"))

        assert (answer.status_code, answer.json()["code"]) == (429, "too_many_simulations")
        assert answer["Retry-After"] == "60"
        assert Order.objects.count() == 1


class TestMove:
    def test_answers_with_the_order(self, test, order):
        assert move(test, "collected").status_code == 200
        body = {"code": "REFUSED", "reason": "Não quis", "place": "Salvador/BA"}
        answer = move(test, "delivery_failed", {**body, "occurredAt": timezone.now().isoformat()})

        data = answer.json()["data"]
        assert (answer.status_code, data["status"]) == (200, "delivery_failed")
        entry = data["status_log"][-1]
        assert {name: entry[name] for name in body} == body
        assert entry["via_api"] is False

    @pytest.mark.parametrize(
        ("body", "code", "reason", "place"),
        [
            (None, "ABSENT", "Falha simulada: ninguém recebeu o pedido.", None),
            ({"place": "Salvador/BA"}, "ABSENT", "Falha simulada: ninguém recebeu o pedido.", "Salvador/BA"),
            ({"reason": "Chuva"}, "OTHER", "Chuva", None),
        ],
    )
    def test_without_a_code_has_a_reason_all_the_same(self, test, order, body, code, reason, place):
        move(test, "collected")

        entry = move(test, "delivery_failed", body).json()["data"]["status_log"][-1]

        assert (entry["code"], entry["reason"], entry["place"]) == (code, reason, place)

    def test_ends_the_simulation(self, test):
        test.post(ORDERS, order_body(orderId="A/1"))

        assert move(test, "collected", code="A/1").status_code == 200
        assert not Simulation.objects.exists()

    @in_turn(
        ("status", "body", "http", "code", "field"),
        [
            ("returned", {}, 422, "move_refused", None),
            ("pending", {}, 422, "invalid_payload", "status"),
            ("lost", {}, 422, "invalid_payload", "status"),
            ("collected", {"code": "ABSENT"}, 422, "invalid_status_report", "code"),
            ("collected", {"code": 7}, 422, "invalid_payload", "code"),
            ("collected", {"place": "x" * 121}, 422, "invalid_payload", "place"),
            ("collected", {"occurredAt": "soon"}, 422, "invalid_payload", "occurredAt"),
            ("collected", {"occurredAt": "1" * 5000}, 422, "invalid_payload", "occurredAt"),
            ("collected", {"occurredAt": "2020-01-01T00:00:00Z"}, 422, "invalid_status_report", "occurredAt"),
            ("collected", [], 422, "malformed_body", None),
        ],
    )
    def test_that_is_wrong_is_refused(self, test, order, status, body, http, code, field):
        answer = move(test, status, body)

        assert (answer.status_code, answer.json()["code"]) == (http, code)
        if field:
            assert list(answer.json()["errors"]) == [field]
        assert StatusLog.objects.count() == 1

    @pytest.mark.parametrize(
        ("status", "code"), [("delivered", "already_delivered"), ("cancelled", "already_cancelled")]
    )
    def test_to_cancelled_is_refused_as_a_cancellation_is(self, test, order, status, code):
        move(test, status)

        answer = move(test, "cancelled")

        assert (answer.status_code, answer.json()["code"]) == (400, code)

    def test_with_a_live_key_is_not_found(self, seller, order):
        live = client_of(seller, Environment.LIVE)
        create_order(seller, Environment.LIVE, orderId="sim-manual-1")

        answer = move(live, "collected")

        assert (answer.status_code, answer.json()["code"]) == (404, "sandbox_only")
        assert set(Order.objects.values_list("status", flat=True)) == {"pending"}

    def test_of_another_sellers_order_is_not_found(self, other_seller, order):
        answer = move(client_of(other_seller, Environment.SANDBOX), "collected")

        assert (answer.status_code, answer.json()["code"]) == (404, "order_not_found")
        assert Order.objects.get().status == "pending"
