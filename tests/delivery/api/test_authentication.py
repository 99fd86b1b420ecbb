import pytest
from django.utils import timezone
from rest_framework.test import APIClient

from delivery.accounts import integrators, tokens
from delivery.models import Delivery, Token
from tests import endpoints
from tests.cases import in_turn
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

BODIES = {each.path: each.body for each in endpoints.ENDPOINTS}
ON_AN_ID = [endpoint for endpoint in ENDPOINTS if "{}" in endpoint[1]]
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


def call(client, method, path, key):
    return getattr(client, method)(path.format(key), BODIES[path])


def assert_unauthorized(response, code="invalid_token"):
    problem = assert_problem(response, 401, code)
    assert (problem["retryable"], response["WWW-Authenticate"]) == (False, 'Bearer realm="rota"')


@pytest.mark.django_db
class TestAToken:
    def test_that_is_missing_malformed_or_unknown_is_refused(self, token):
        for text in MALFORMED:
            headers = {} if text is None else {"authorization": text.replace("{token}", token.clear_text)}

            assert_unauthorized(APIClient().get(INFO.format(UNKNOWN), headers=headers))

    @in_turn(
        ("header", "detail"),
        [
            ("", "Send the header 'Authorization: Bearer <token>'."),
            ("Bearer rota_key_abc", "This is an API key, for order integration"),
            ("Basic rota_key_abc", "This is Basic authentication"),
            ("Bearer rota_live_abc", "No token is this one. Copy it whole"),
            ("Bearer abc", "This is no token."),
        ],
    )
    def test_that_is_none_is_told_what_it_is(self, db, header, detail):
        response = APIClient().get(INFO.format(UNKNOWN), headers={"authorization": header})

        assert_unauthorized(response)
        assert response.json()["detail"].startswith(detail)

    def test_is_told_what_became_of_it_to_who_has_all_of_it(self, token, client_of):
        rotated = TokenFactory.create(integrator=token.integrator)
        Token.objects.filter(pk=rotated.pk).update(expires_at=timezone.now())
        tokens.revoke(token=token, by=BY, at=timezone.now())
        integrators.suspend(integrator=token.integrator, reason="unpaid", by=BY, at=timezone.now())
        part = APIClient()
        part.credentials(HTTP_AUTHORIZATION=f"Bearer {token.clear_text[:-1]}")

        answers = [client.get(INFO.format(UNKNOWN)) for client in (client_of(token), client_of(rotated), part)]

        details = [assert_problem(answer, 401, "invalid_token")["detail"] for answer in answers]
        assert [detail.partition(".")[0] for detail in details] == [
            "This token was revoked", "This token has expired", "No token is this one",
        ]  # fmt: skip  # a list

    def test_is_checked_before_the_body_is_read(self):
        assert_unauthorized(APIClient().post(REQUEST, "{", content_type="text/plain"))

    def test_of_a_suspended_account_is_refused_with_a_code_of_its_own(self, api, token):
        integrators.suspend(integrator=token.integrator, reason="unpaid", by=BY, at=timezone.now())

        assert_unauthorized(api.post(REQUEST, payload()), "account_suspended")

        assert_nothing_written()
        assert Token.objects.get().last_used_at is None

    def test_that_is_revoked_leaves_its_last_use(self, api, token):
        tokens.revoke(token=token, by=BY, at=timezone.now())

        assert_unauthorized(api.get(INFO.format(UNKNOWN)))

        assert Token.objects.get().last_used_at is None

    def test_follows_a_scheme_in_any_case(self, token):
        for scheme in ("Bearer", "bearer", "BEARER"):
            response = APIClient().get(INFO.format(UNKNOWN), HTTP_AUTHORIZATION=f"{scheme} {token.clear_text}")

            assert_problem(response, 404, "delivery_not_found")


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
            code = "sandbox_only" if sandbox and "/sandbox/" in path else "delivery_not_found"
            assert_problem(call(other, method, path, delivery.pk), 404, code)

        assert Delivery.objects.get().status == "PENDING"

    @in_turn(("method", "path"), ON_AN_ID)
    def test_answers_a_foreign_id_exactly_like_an_unknown_one(self, api, method, path):
        foreign = DeliveryFactory.create(token=TokenFactory.create())

        answers = [call(api, method, path, key) for key in (foreign.pk, UNKNOWN)]

        bodies = [answer.json() for answer in answers]
        assert [body.pop("instance") for body in bodies] == [path.format(foreign.pk), path.format(UNKNOWN)]
        assert bodies[0] == bodies[1]
        assert [answer.status_code for answer in answers] == [404, 404]
        assert set(answers[0].headers) == set(answers[1].headers)
        assert Delivery.objects.get().status == "PENDING"
