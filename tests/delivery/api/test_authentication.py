from datetime import timedelta

import pytest
from django.utils import timezone
from rest_framework.test import APIClient

from delivery.actions import integrators, tokens
from delivery.models import Delivery, Environment, Token
from tests.delivery.api.calls import (
    CANCEL,
    ENDPOINTS,
    INFO,
    LOCATION,
    REQUEST,
    UNKNOWN,
    assert_nothing_written,
    assert_problem,
)
from tests.factories import BY, DeliveryFactory, TokenFactory, payload

ON_AN_ID = [endpoint for endpoint in ENDPOINTS if "{}" in endpoint[1]]


def call(client, method, path, key=UNKNOWN, **headers):
    body = payload() if method == "post" else None
    return getattr(client, method)(path.format(key), body, **headers)


def with_header(value):
    return {"HTTP_AUTHORIZATION": value}


def assert_unauthorized(response):
    problem = assert_problem(response, 401, "invalid_token")
    assert response["WWW-Authenticate"].startswith("Bearer")
    assert "errors" not in problem


@pytest.mark.django_db
@pytest.mark.parametrize(("method", "path"), ENDPOINTS)
class TestEveryEndpoint:
    def test_refuses_a_call_without_a_token(self, token, method, path):
        assert_unauthorized(call(APIClient(), method, path))
        assert_nothing_written()

    @pytest.mark.parametrize(
        "header",
        [
            "",
            "Bearer",
            "Bearer ",
            "Bearer unknown",
            "Bearer rota_live_unknown",
            "Bearer rota_live_\N{LATIN SMALL LETTER E WITH ACUTE}",
            "Bearer \x00",
            "Bearer " + "x" * 10_000,
            "Bearer {token} {token}",
            "Bearer {token}x",
            "Bearer,{token}",
            "Basic {token}",
            "Token {token}",
            "{token}",
        ],
    )
    def test_refuses_a_malformed_or_unknown_token(self, token, method, path, header):
        header = header.replace("{token}", token.clear_text)

        assert_unauthorized(call(APIClient(), method, path, **with_header(header)))
        assert_nothing_written()

    def test_refuses_a_revoked_token_at_once(self, api, token, method, path):
        delivery = DeliveryFactory.create(token=token)
        assert api.get(INFO.format(delivery.pk)).status_code == 200

        tokens.revoke(token=token, by=BY, at=timezone.now())

        assert_unauthorized(call(api, method, path, delivery.pk))
        assert Delivery.objects.get().status == "PENDING"

    def test_refuses_a_suspended_account_with_a_code_of_its_own(self, api, token, method, path):
        delivery = DeliveryFactory.create(token=token)
        integrators.suspend(integrator=token.integrator, reason="unpaid", by=BY, at=timezone.now())

        response = call(api, method, path, delivery.pk)

        problem = assert_problem(response, 401, "account_suspended")
        assert (problem["retryable"], response["WWW-Authenticate"]) == (False, 'Bearer realm="rota"')
        assert Delivery.objects.get().status == "PENDING"
        assert Token.objects.get().last_used_at is None

    def test_refuses_an_expired_token(self, api, token, clock, method, path):
        tokens.rotate(token=token, by=BY, at=clock.now, overlap=timedelta(hours=1))

        clock.forward(3600)

        assert_unauthorized(call(api, method, path))

    def test_refuses_the_token_before_it_reads_the_body(self, token, method, path):
        response = APIClient().generic(method.upper(), path.format("no-id"), "{", content_type="text/plain")

        assert_unauthorized(response)


@pytest.mark.django_db
class TestScheme:
    @pytest.mark.parametrize("scheme", ["Bearer", "bearer", "BEARER"])
    def test_is_read_in_any_case(self, token, scheme):
        header = with_header(f"{scheme} {token.clear_text}")

        assert_problem(APIClient().get(INFO.format(UNKNOWN), **header), 404, "delivery_not_found")


@pytest.mark.django_db
class TestLastUse:
    def test_is_recorded_at_most_once_a_minute(self, api, token, clock):
        seen = []

        for seconds in (0, 59, 1, 59, 1):
            clock.forward(seconds)
            api.get(INFO.format(UNKNOWN))
            seen.append((clock.now - Token.objects.get(pk=token.pk).last_used_at).total_seconds())

        assert seen == [0, 59, 0, 59, 0]

    def test_is_not_written_again_within_the_minute(self, api, token, django_assert_num_queries):
        url = INFO.format(DeliveryFactory.create(token=token).pk)
        api.get(url)

        with django_assert_num_queries(3):  # the token, the delivery and its stops
            api.get(url)

    def test_of_a_refused_token_is_not_recorded(self, api, token):
        tokens.revoke(token=token, by=BY, at=timezone.now())

        api.get(INFO.format(UNKNOWN))

        assert Token.objects.get().last_used_at is None


@pytest.mark.django_db
class TestARotatedToken:
    def test_sees_the_deliveries_of_its_integrator(self, token, client_of):
        delivery = DeliveryFactory.create(token=token)

        new = client_of(tokens.rotate(token=token, by=BY, at=timezone.now()))

        assert new.get(INFO.format(delivery.pk)).status_code == 200
        assert new.get(LOCATION.format(delivery.pk)).status_code == 200
        assert new.post(CANCEL.format(delivery.pk)).status_code == 200

    def test_leaves_the_old_one_valid_for_a_day(self, api, token, clock):
        tokens.rotate(token=token, by=BY, at=clock.now)

        clock.forward(24 * 3600 - 1)
        assert_problem(api.get(INFO.format(UNKNOWN)), 404, "delivery_not_found")

        clock.forward(1)
        assert_unauthorized(api.get(INFO.format(UNKNOWN)))

    def test_and_the_old_one_share_what_either_requests(self, api, token, client_of):
        new = client_of(tokens.rotate(token=token, by=BY, at=timezone.now()))

        requested = new.post(REQUEST, payload()).json()["deliveryId"]

        assert api.get(INFO.format(requested)).status_code == 200


@pytest.mark.django_db
@pytest.mark.parametrize(("method", "path"), ON_AN_ID)
class TestIsolation:
    @pytest.mark.parametrize("sandbox", [True, False])
    def test_keeps_the_environments_apart(self, client_of, method, path, sandbox):
        owner = TokenFactory.create(sandbox=sandbox)
        other = TokenFactory.create(integrator=owner.integrator, sandbox=not sandbox)
        delivery = DeliveryFactory.create(token=owner)

        response = getattr(client_of(other), method)(path.format(delivery.pk))

        assert_problem(response, 404, "delivery_not_found")
        assert Delivery.objects.get().status == "PENDING"
        assert Delivery.objects.get().environment == (Environment.SANDBOX if sandbox else Environment.LIVE)

    def test_answers_a_foreign_id_exactly_like_an_unknown_one(self, api, method, path):
        foreign = DeliveryFactory.create(token=TokenFactory.create())

        answers = [getattr(api, method)(path.format(key)) for key in (foreign.pk, UNKNOWN)]

        bodies = [answer.json() for answer in answers]
        assert [body.pop("instance") for body in bodies] == [path.format(foreign.pk), path.format(UNKNOWN)]
        assert bodies[0] == bodies[1]
        assert [answer.status_code for answer in answers] == [404, 404]
        assert set(answers[0].headers) == set(answers[1].headers)
        assert Delivery.objects.get().status == "PENDING"
