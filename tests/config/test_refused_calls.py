"""Refused calls of both APIs as they are stored."""

import json
from datetime import timedelta

import pytest
from django.db import connection
from django.utils import timezone
from rest_framework.test import APIClient

from common.postgresql import batches
from delivery.accounts import integrators
from delivery.models import Integrator, RefusedDeliveryCall, RefusedDeliveryCallCount
from delivery.tasks import prune_refused_calls
from integration.accounts import sellers
from integration.models import RefusedSellerCall, RefusedSellerCallCount
from integration.tasks import prune_refused_calls as prune_of_sellers
from tests.cases import in_turn
from tests.delivery.api.calls import UNKNOWN, changed
from tests.factories import BY, IntegratorFactory, TokenFactory, payload
from tests.integration.factories import SellerFactory, key_of, order_body

REQUEST, ORDERS = "/api/request-delivery", "/api/integration/orders"
TRACKING = "/api/integration/orders/tracking"


def no_call_is_stored():
    return not RefusedDeliveryCall.objects.exists() and not RefusedSellerCall.objects.exists()


class TestACall:
    def test_is_recorded_with_all_that_support_would_ask_for(self, api, token):
        answer = api.post(REQUEST, changed("#/vehicleType", "TRUCK"), format="json", HTTP_X_REQUEST_ID="my-call-0001")

        row = RefusedDeliveryCall.objects.get()
        assert (row.integrator_id, row.environment, row.credential) == (token.integrator_id, "live", token.hint)
        assert (row.method, row.path, row.status, row.code) == ("POST", REQUEST, 422, "invalid_payload")
        assert row.request_id == "my-call-0001"
        assert (row.content_type, row.size) == ("application/json", int(answer.wsgi_request.META["CONTENT_LENGTH"]))
        assert json.loads(row.body)["vehicleType"] == "TRUCK"
        errors = answer.json()["errors"]
        assert json.loads(row.answer)["errors"] == errors
        message = errors[0]["detail"]
        assert row.reasons == [{"field": "vehicleType", "code": "invalid_choice", "message": message, "values": {}}]

    @pytest.mark.parametrize(
        ("method", "path", "body", "status", "code"),
        [
            ("post", REQUEST, {}, 422, "invalid_payload"),
            ("post", REQUEST, changed("#/vehicleType", "CAR"), 400, "price_unavailable"),
            ("get", f"/api/info-delivery/{UNKNOWN}", None, 404, "delivery_not_found"),
            ("get", REQUEST, None, 405, "method_not_allowed"),
        ],
    )
    def test_of_area_a_is_recorded_with_its_code(self, api, method, path, body, status, code):
        answer = getattr(api, method)(path, body, format="json")

        row = RefusedDeliveryCall.objects.get()
        assert answer.status_code == status
        assert (row.path, row.status, row.code, row.request_id) == (path, status, code, answer["X-Request-Id"])

    @in_turn(
        ("method", "path", "body", "status"),
        [
            ("post", ORDERS, {}, 422),
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
        body = answer.json()
        assert json.loads(row.answer) == body
        if errors := body.get("errors"):
            assert [(each["field"], [each["message"]]) for each in row.reasons or ()] == list(errors.items())[:10]
        else:
            assert [(each["field"], each["message"]) for each in row.reasons or ()] == [("", body["message"])]

    @in_turn("method", ["get", "options"])
    @in_turn(
        ("path", "stored"),
        [
            ("/api/nope", "/api/nope"),
            (f"/api/info-delivery/{UNKNOWN}/x", f"/api/info-delivery/{UNKNOWN}/x"),
            ("/api/phone/11977770001/Maria Souza", "/api/phone/<text, 11>/<text, 11>"),
        ],
    )
    def test_to_a_path_that_no_endpoint_has_is_recorded(self, api, token, method, path, stored):
        answer = getattr(api, method)(path, format="json")

        row = RefusedDeliveryCall.objects.get()
        assert (answer.status_code, answer.json()["code"]) == (404, "no_such_path")
        assert (row.integrator_id, row.path, row.status, row.code) == (token.integrator_id, stored, 404, "no_such_path")
        assert "11977770001" not in row.answer

    def test_of_area_b_to_a_path_that_no_endpoint_has_is_recorded(self, buyer):
        answer = buyer.post(f"{ORDERS}/", {"orderId": "A-1"}, format="json")

        row = RefusedSellerCall.objects.get()
        assert (answer.status_code, row.path, row.status, row.code) == (404, f"{ORDERS}/", 404, "no_such_path")

    def test_to_a_path_that_no_endpoint_has_counts_towards_the_limit(self, api):
        Integrator.objects.update(rate_limit_per_hour=1)

        answers = [api.get("/api/nope") for _call in range(2)]

        assert [answer.status_code for answer in answers] == [404, 429]
        assert [answer["RateLimit"].split(";")[1] for answer in answers] == ["r=0", "r=0"]
        assert [answer.json()["code"] for answer in answers] == ["no_such_path", "rate_limited"]

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
        unknown = [APIClient(HTTP_AUTHORIZATION=header).get(path) for path in ("/api/nope", "/api/integration/x y")]

        assert [answer.status_code for answer in unknown] == [404, 404]
        assert no_call_is_stored()

    def test_that_succeeds_is_not_recorded(self, api):
        assert api.post(REQUEST, payload(), format="json").status_code == 201

        assert no_call_is_stored()
        assert not RefusedDeliveryCallCount.objects.exists()


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
    monkeypatch.setattr(batches, "_BATCH", 2)
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


def test_calls_with_two_tokens_of_an_account_are_distinguished(db):
    first = TokenFactory.create()
    second = TokenFactory.create(integrator=first.integrator, sandbox=True)

    for token in (first, second):
        APIClient(HTTP_AUTHORIZATION=f"Bearer {token.clear_text}").get(f"/api/info-delivery/{UNKNOWN}")

    rows = RefusedDeliveryCall.objects.values_list("environment", "credential")
    assert set(rows) == {("live", first.hint), ("sandbox", second.hint)}
