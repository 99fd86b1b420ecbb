from itertools import product

import pytest
from django.utils import timezone
from rest_framework.test import APIClient

from delivery.actions import integrators, tokens
from delivery.models import Delivery, Environment, Token
from tests.delivery.api.calls import (
    CANCEL,
    ENDPOINTS,
    EXAMPLES,
    INFO,
    LOCATION,
    UNKNOWN,
    assert_nothing_written,
    assert_problem,
)
from tests.factories import BY, DeliveryFactory, TokenFactory

ON_AN_ID = [endpoint for endpoint in ENDPOINTS if "{}" in endpoint[1]]
UNAUTHORIZED = (401, "application/problem+json", "invalid_token", "Bearer", False)
MALFORMED = [
    None,
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
]


def call(client, method, path, key=UNKNOWN, **headers):
    return getattr(client, method)(path.format(key), EXAMPLES[path], **headers)


def refusal(response):
    body = response.json()
    challenge = response.get("WWW-Authenticate", "").partition(" ")[0]
    return response.status_code, response["Content-Type"], body["code"], challenge, "errors" in body


def assert_unauthorized(*responses):
    assert [refusal(response) for response in responses] == [UNAUTHORIZED] * len(responses)


@pytest.mark.django_db
class TestEveryEndpoint:
    def test_refuses_a_missing_malformed_or_unknown_token(self, token):
        headers = [None if text is None else text.replace("{token}", token.clear_text) for text in MALFORMED]

        cases = list(product(ENDPOINTS, headers))
        answers = [
            refusal(call(APIClient(), *endpoint, **({} if text is None else {"HTTP_AUTHORIZATION": text})))
            for endpoint, text in cases
        ]

        assert [(case, one) for case, one in zip(cases, answers, strict=True) if one != UNAUTHORIZED] == []
        assert_nothing_written()

    def test_refuses_a_suspended_account_with_a_code_of_its_own(self, api, token):
        delivery = DeliveryFactory.create(token=token)
        integrators.suspend(integrator=token.integrator, reason="unpaid", by=BY, at=timezone.now())

        for method, path in ENDPOINTS:
            response = call(api, method, path, delivery.pk)

            problem = assert_problem(response, 401, "account_suspended")
            assert (problem["retryable"], response["WWW-Authenticate"]) == (False, 'Bearer realm="rota"')
        assert Delivery.objects.get().status == "PENDING"
        assert Token.objects.get().last_used_at is None

    def test_refuses_the_token_before_it_reads_the_body(self):
        assert_unauthorized(
            *(
                APIClient().generic(method.upper(), path.format("no-id"), "{", content_type="text/plain")
                for method, path in ENDPOINTS
            )
        )


@pytest.mark.django_db
def test_the_scheme_is_read_in_any_case(token):
    for scheme in ("Bearer", "bearer", "BEARER"):
        response = APIClient().get(INFO.format(UNKNOWN), HTTP_AUTHORIZATION=f"{scheme} {token.clear_text}")

        assert_problem(response, 404, "delivery_not_found")


@pytest.mark.django_db
class TestLastUse:
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


@pytest.mark.django_db
class TestIsolation:
    @pytest.mark.parametrize("sandbox", [True, False])
    def test_keeps_the_environments_apart(self, client_of, sandbox):
        owner = TokenFactory.create(sandbox=sandbox)
        other = client_of(TokenFactory.create(integrator=owner.integrator, sandbox=not sandbox))
        delivery = DeliveryFactory.create(token=owner)

        for method, path in ON_AN_ID:
            assert_problem(call(other, method, path, delivery.pk), 404, "delivery_not_found")

        assert Delivery.objects.get().status == "PENDING"
        assert Delivery.objects.get().environment == (Environment.SANDBOX if sandbox else Environment.LIVE)

    @pytest.mark.parametrize(("method", "path"), ON_AN_ID)
    def test_answers_a_foreign_id_exactly_like_an_unknown_one(self, api, method, path):
        foreign = DeliveryFactory.create(token=TokenFactory.create())

        answers = [call(api, method, path, key) for key in (foreign.pk, UNKNOWN)]

        bodies = [answer.json() for answer in answers]
        assert [body.pop("instance") for body in bodies] == [path.format(foreign.pk), path.format(UNKNOWN)]
        assert bodies[0] == bodies[1]
        assert [answer.status_code for answer in answers] == [404, 404]
        assert set(answers[0].headers) == set(answers[1].headers)
        assert Delivery.objects.get().status == "PENDING"
