from itertools import product
from uuid import UUID

import pytest
from django.utils import timezone
from rest_framework.test import APIClient

from delivery.accounts import integrators, tokens
from delivery.actions import deliveries
from tests.cases import in_turn
from tests.delivery.api.calls import (
    ENDPOINTS,
    INFO,
    LOCATION,
    QUOTE,
    REQUEST,
    UNKNOWN,
    assert_nothing_written,
    assert_problem,
    changed,
)
from tests.factories import BY, DeliveryFactory, payload

pytestmark = pytest.mark.django_db
NO_PATHS = [
    "/api/unknown",
    "/api/quotation-delivery/",
    "/api/request-delivery/",
    "/api/info-delivery",
    "/api/info-delivery/",
    f"/api/info-delivery/{UNKNOWN}/",
    f"/api/cancel-delivery/{UNKNOWN}/",
    f"/api/info-delivery/{UNKNOWN}/more",
    "/api/Quotation-Delivery",
    "/api/%00",
]


class TestAProblem:
    def test_has_the_members_of_the_rfc_and_ours(self, api):
        path = INFO.format(UNKNOWN)

        response = api.get(path)

        assert assert_problem(response, 404, "delivery_not_found") == {
            "type": "/docs/errors/delivery_not_found",
            "title": "Delivery not found",
            "status": 404,
            "detail": (
                "No delivery of this account and environment has this deliveryId, the UUID that reques"
                "t-delivery answered with."
            ),
            "instance": path,
            "code": "delivery_not_found",
            "retryable": False,
        }
        assert UUID(response["X-Request-Id"])
        assert response["Link"] == '</docs/errors/delivery_not_found>; rel="help"; type="text/html"'

    def test_has_an_absolute_type_where_the_address_of_the_service_is_set(self, api, settings):
        settings.PROBLEM_TYPES = "https://rota.example.com/docs/errors/"

        problem = assert_problem(api.get(INFO.format(UNKNOWN)), 404, "delivery_not_found")

        assert problem["type"] == "https://rota.example.com/docs/errors/delivery_not_found"

    @pytest.mark.parametrize(
        ("body", "end"),
        [
            ("", "The body is empty: send a JSON object."),
            ('{"delivery": {}}', "Unknown keys, without effect: #/delivery."),
            (
                '{"vehicle_type": "CAR", "a": 1, "b": 1, "c": 1, "d": 1}',
                "Unknown keys, without effect: #/vehicle_type (vehicleType?), #/a, #/b and 2 more.",
            ),
        ],
    )
    def test_of_a_body_without_its_keys_says_what_was_sent_instead(self, api, body, end):
        answer = api.generic("POST", REQUEST, body, content_type="application/json")

        problem = assert_problem(answer, 422, "invalid_payload")
        assert problem["detail"] == f"#/vehicleType: This field is required. 'errors' has 2 more. {end}"

    def test_of_a_deletion_says_how_to_cancel(self, api):
        problem = assert_problem(api.delete(INFO.format(UNKNOWN)), 405, "method_not_allowed")

        assert problem["detail"].endswith("To cancel a delivery, send POST /api/cancel-delivery/{deliveryId}.")

    def test_of_invalid_fields_lists_them(self, api):
        body = changed("#/dropoffs/0/address/latitude", 91)
        del body["vehicleType"]

        problem = assert_problem(api.post(REQUEST, body), 422, "invalid_payload")

        assert {(error["pointer"], error["code"]) for error in problem["errors"]} == {
            ("#/vehicleType", "required"),
            ("#/dropoffs/0/address/latitude", "max_value"),
        }
        assert_nothing_written()

    @pytest.mark.parametrize("method", ["get", "post"])
    def test_of_ours_is_a_500_without_its_cause(self, api, monkeypatch, method):
        """After a POST it claims neither that nothing was changed nor that the call can be repeated."""

        def broken(*_args, **_options):
            raise RuntimeError("secret")

        monkeypatch.setattr(deliveries, "request", broken)
        monkeypatch.setattr("delivery.api.views.parse_id", broken)
        api.raise_request_exception = False

        response = api.post(REQUEST, payload()) if method == "post" else api.get(INFO.format(UNKNOWN))

        problem = assert_problem(response, 500, "server_error")
        is_read = method == "get"
        assert problem["retryable"] is is_read
        assert ("may have taken effect: query" in problem["detail"]) is not is_read
        assert "X-Request-Id" in problem["detail"]
        assert "changed" not in problem["detail"]
        assert b"secret" not in response.content
        assert response["X-Request-Id"]


def test_a_path_that_no_endpoint_has_is_404(api):
    for method, path in product(("get", "post"), NO_PATHS):
        response = getattr(api, method)(path)

        assert_problem(response, 404, "no_such_path")
        assert response["X-Request-Id"]


@pytest.mark.parametrize("is_suspended", [True, False], ids=["of a suspended account", "invalid"])
def test_a_path_that_no_endpoint_has_is_not_found_whatever_the_token(token, client_of, is_suspended):
    if is_suspended:
        integrators.suspend(integrator=token.integrator, reason="unpaid", by=BY, at=timezone.now())
    else:
        tokens.revoke(token=token, by=BY, at=timezone.now())

    answers = [client_of(token).get(path) for path in ("/api/unknown", INFO.format(UNKNOWN))]

    assert_problem(answers[0], 404, "no_such_path")
    assert answers[1].status_code in {401, 403}


class TestTheAcceptHeader:
    @in_turn("accept", ["text/html", "application/xml", "application/json;version=2", "none", ""])
    def test_is_ignored(self, api, accept):
        good = api.post(QUOTE, payload(), HTTP_ACCEPT=accept)
        bad = api.post(QUOTE, {}, HTTP_ACCEPT=accept)

        assert (good.status_code, good["Content-Type"]) == (200, "application/json")
        assert_problem(bad, 422, "invalid_payload")

    def test_has_no_rival_in_the_query_string(self, api):
        assert api.post(f"{QUOTE}?format=xml", payload()).status_code == 200


class TestTheRequestId:
    def test_is_another_one_on_every_answer(self, api, token):
        delivery, ids = DeliveryFactory.create(token=token), []

        for method, path in ENDPOINTS:
            for client, key in ((api, delivery.pk), (api, UNKNOWN), (APIClient(), delivery.pk)):
                response = getattr(client, method)(path.format(key), payload() if method == "post" else None)
                ids.append(UUID(response["X-Request-Id"]))

        assert len(set(ids)) == len(ENDPOINTS) * 3

    @pytest.mark.parametrize("sent", ["order-4711.retry_2", "a" * 8, "a" * 128])
    def test_is_the_callers_own_when_well_formed(self, api, sent):
        assert api.get(LOCATION.format(UNKNOWN), HTTP_X_REQUEST_ID=sent)["X-Request-Id"] == sent

    @in_turn("sent", ["a" * 7, "x" * 129, "with space in it", "line\nbreak-in-it", "<script>alert"])
    def test_is_ours_when_the_callers_is_not(self, api, sent):
        assert UUID(api.get(LOCATION.format(UNKNOWN), HTTP_X_REQUEST_ID=sent)["X-Request-Id"])
