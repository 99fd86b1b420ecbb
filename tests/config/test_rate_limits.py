"""The limits of calls as the callers of both APIs see them."""

import re

import pytest
from django.utils import timezone
from rest_framework.test import APIClient

from common.api import rate_limit
from common.api.rate_limit import limiter
from delivery.accounts import integrators, tokens
from delivery.models import Delivery, Token
from integration.accounts import keys, sellers
from integration.models import ApiKey
from tests.factories import BY, TariffFactory, TokenFactory, payload
from tests.integration.factories import SellerFactory

POLICY = '"second";q=50;w=1, "hour";q=20000;w=3600'


class Caller:
    """An account of an area with a credential, and one GET that it may call."""

    def __init__(self, area):
        self.is_a = area == "A"
        if self.is_a:
            self.credential = TokenFactory.create()
            self.account, text, scheme = self.credential.integrator, self.credential.clear_text, "Bearer"
            self.path = "/api/info-delivery/0190b5a0-7c3e-7d5a-9f00-000000000001"
        else:
            self.account = SellerFactory.create()
            issued = keys.issue(seller=self.account, by=BY, at=timezone.now())
            self.credential, text, scheme = issued.key, issued.clear_text, "Basic"
            self.path = "/api/integration/orders/tracking?type=document&value=x"
        self.scheme, self.text = scheme, text
        self.client = self.client_with(text)

    def client_with(self, text):
        return APIClient(HTTP_AUTHORIZATION=f"{self.scheme} {text}")

    def call(self):
        return self.client.get(self.path)

    def second_client(self):
        """A client with another credential of the same account."""
        if self.is_a:
            return self.client_with(TokenFactory.create(integrator=self.account).clear_text)
        return self.client_with(keys.issue(seller=self.account, by=BY, at=timezone.now()).clear_text)

    def limit(self, **limits):
        type(self.account).objects.filter(pk=self.account.pk).update(**limits)

    def suspend(self):
        if self.is_a:
            integrators.suspend(integrator=self.account, reason="unpaid", by=BY, at=timezone.now())
        else:
            sellers.suspend(seller=self.account, reason="unpaid", by=BY, at=timezone.now())

    def revoke(self):
        if self.is_a:
            tokens.revoke(token=self.credential, by=BY, at=timezone.now())
        else:
            keys.revoke(key=self.credential, by=BY, at=timezone.now())


@pytest.fixture(autouse=True)
def _patient(monkeypatch):
    """Wait for a Redis on a busy machine."""
    monkeypatch.setattr(rate_limit, "_TIMEOUT_SECONDS", 10)


@pytest.fixture(params=["A", "B"])
def caller(request, db):
    return Caller(request.param)


class TestHeaders:
    def test_name_the_limits_and_what_is_left(self, caller, settings):
        settings.RATE_LIMIT_PER_SECOND, settings.RATE_LIMIT_PER_HOUR = 50, 20_000

        answer = caller.call()

        assert answer["RateLimit-Policy"] == POLICY
        assert re.fullmatch(r'"second";r=49;t=1, "hour";r=19999;t=\d{1,4}', answer["RateLimit"])
        assert "Retry-After" not in answer

    def test_are_absent_without_limits(self, caller):
        answer = caller.call()

        assert not {"RateLimit", "RateLimit-Policy", "Retry-After"} & set(answer.headers)

    def test_are_absent_while_redis_is_away(self, caller, settings):
        settings.RATE_LIMIT_PER_HOUR = 1
        settings.REDIS_URL = "redis://127.0.0.1:1"

        answers = [caller.call() for _call in range(3)]

        assert {answer.status_code for answer in answers} == {404 if caller.is_a else 200}
        assert not {"RateLimit", "RateLimit-Policy"} & set(answers[0].headers)

    def test_are_on_an_unexpected_error_too(self, caller, settings, monkeypatch):
        settings.RATE_LIMIT_PER_HOUR = 9
        caller.client.raise_request_exception = False
        monkeypatch.setattr("delivery.models.Delivery.find", None)
        monkeypatch.setattr("integration.actions.tracking.find", None)

        answer = caller.call()

        assert (answer.status_code, answer["RateLimit-Policy"]) == (500, '"hour";q=9;w=3600')


class TestLimits:
    def test_refuse_in_the_shape_of_the_area(self, caller):
        caller.limit(rate_limit_per_hour=1)
        caller.call()

        answer = caller.call()

        assert answer.status_code == 429
        assert 1 < int(answer["Retry-After"]) <= 7200
        assert re.fullmatch(r'"hour";r=0;t=\d+', answer["RateLimit"])
        body = answer.json()
        if caller.is_a:
            assert (body["code"], body["retryable"], body["status"]) == ("rate_limited", True, 429)
        else:
            assert body["success"] is False
            assert re.fullmatch(
                r"Esta chave passou do seu limite de chamadas. Tente novamente em \d+ s", body["message"]
            )

    def test_refuse_again_without_a_query(self, caller, django_assert_num_queries):
        caller.limit(rate_limit_per_hour=1)
        first, second = caller.call(), caller.call()
        limiter()._redis.delete(f"rota:rate-limit:{bytes(caller.credential.digest).hex()}")

        with django_assert_num_queries(0):
            third = caller.call()

        assert (first.status_code, second.status_code, third.status_code) == (404 if caller.is_a else 200, 429, 429)
        assert third["Retry-After"] == second["Retry-After"]

    @pytest.mark.parametrize(
        ("second", "hour", "policy"), [(0, 1000, '"hour";q=1000;w=3600'), (1000, 0, '"second";q=1000;w=1')]
    )
    def test_of_an_account_replace_those_of_the_installation(self, caller, settings, second, hour, policy):
        settings.RATE_LIMIT_PER_SECOND, settings.RATE_LIMIT_PER_HOUR = 1, 1
        caller.limit(rate_limit_per_second=second, rate_limit_per_hour=hour)

        answers = [caller.call() for _call in range(5)]

        assert {answer.status_code for answer in answers} == {404 if caller.is_a else 200}
        assert answers[0]["RateLimit-Policy"] == policy

    def test_count_each_credential_by_itself(self, caller):
        caller.limit(rate_limit_per_hour=1)
        caller.call()

        answer = caller.second_client().get(caller.path)

        assert answer.status_code == (404 if caller.is_a else 200)
        assert caller.call().status_code == 429

    def test_leave_an_unknown_credential_401(self, caller, settings):
        settings.RATE_LIMIT_PER_HOUR = 1
        caller.revoke()

        answers = [caller.call() for _call in range(3)]

        assert {answer.status_code for answer in answers} == {401}
        assert "RateLimit" not in answers[0]

    def test_hold_for_a_suspended_account(self, caller):
        caller.limit(rate_limit_per_hour=1)
        caller.suspend()

        answers = [caller.call() for _call in range(2)]

        assert [answer.status_code for answer in answers] == [401, 429]

    def test_change_nothing_when_they_refuse(self, db):
        TariffFactory.create()
        caller = Caller("A")
        caller.limit(rate_limit_per_hour=1)

        answers = [caller.client.post("/api/request-delivery", payload(), format="json") for _call in range(2)]

        assert [answer.status_code for answer in answers] == [201, 429]
        assert Delivery.objects.count() == 1


@pytest.mark.parametrize(("model", "admin"), [(Token, "delivery/integrator"), (ApiKey, "integration/seller")])
class TestTheAdmin:
    def change(self, admin_client, admin, account, **limits):
        page = admin_client.get(f"/admin/{admin}/{account.pk}/change/")
        form = page.context["adminform"].form
        data = {name: value for name, value in form.initial.items() if value not in (None, [])}
        for formset in page.context["inline_admin_formsets"]:
            data |= {f"{formset.formset.prefix}-{name}": "0" for name in ("TOTAL_FORMS", "INITIAL_FORMS")}
        return admin_client.post(f"/admin/{admin}/{account.pk}/change/", {**data, **limits})

    def account(self, model):
        return Caller("A" if model is Token else "B").account

    def test_sets_the_limits(self, model, admin, admin_client):
        account = self.account(model)

        answer = self.change(admin_client, admin, account, rate_limit_per_second="0", rate_limit_per_hour="7")

        account.refresh_from_db()
        assert answer.status_code == 302
        assert account.rate_limits == (0, 7)

    @pytest.mark.parametrize("value", ["-1", "1000000001"])
    def test_refuses_other_values(self, model, admin, admin_client, value):
        account = self.account(model)

        answer = self.change(admin_client, admin, account, rate_limit_per_hour=value)

        account.refresh_from_db()
        assert "rate_limit_per_hour" in answer.context["adminform"].form.errors
        assert account.rate_limit_per_hour is None
