"""The demo's data: one account with a token and a signing secret for each environment."""

import json
from io import StringIO

import pytest
from django.contrib.auth.models import User
from django.core.management import CommandError, call_command
from django.utils import timezone

from config.local.banner import credentials
from config.local.demo import data
from delivery.actions import tokens
from delivery.errors import InvalidToken
from delivery.models import Driver, Environment, Integrator, Tariff
from integration.models import Seller

pytestmark = pytest.mark.django_db


@pytest.fixture
def seeded():
    out = StringIO()
    call_command("seed_demo", stdout=out)
    return json.loads(out.getvalue())


def authenticate(clear_text):
    return tokens.authenticate(clear_text, at=timezone.now())


class TestSeedDemo:
    def test_creates_one_account_with_a_token_and_a_secret_for_each_environment(self, seeded):
        live, sandbox = authenticate(seeded["token"]), authenticate(seeded["sandbox_token"])

        assert (live.environment, sandbox.environment) == (Environment.LIVE, Environment.SANDBOX)
        assert live.integrator == sandbox.integrator == Integrator.objects.get()
        secret = {endpoint.environment: endpoint.secret for endpoint in live.integrator.endpoints.all()}
        assert seeded["signing_secret"] == secret[Environment.LIVE] != secret[Environment.SANDBOX]
        assert seeded["sandbox_signing_secret"] == secret[Environment.SANDBOX]
        assert (Seller.objects.count(), Driver.objects.count(), Tariff.objects.count()) == (1, 2, 2)

    def test_leaves_a_database_in_use_unchanged(self, seeded):
        out = StringIO()

        call_command("seed_demo", stdout=out)

        assert json.loads(out.getvalue()) is None
        assert (Integrator.objects.count(), User.objects.get().check_password(seeded["password"])) == (1, True)


class TestDemoCredentials:
    def test_replaces_password_tokens_and_key(self, seeded):
        renewed = data.renew_credentials()

        changed = {name for name in seeded if renewed[name] != seeded[name]}
        assert changed == {"password", "token", "sandbox_token", "api_key"}
        for name in ("token", "sandbox_token"):
            assert authenticate(renewed[name]).integrator == Integrator.objects.get()
            with pytest.raises(InvalidToken):
                authenticate(seeded[name])
        assert User.objects.get().check_password(renewed["password"])

    def test_are_refused_where_there_is_no_demo(self):
        with pytest.raises(CommandError, match="The demo is not in this database"):
            call_command("demo_credentials")


class TestBanner:
    def test_prints_each_secret_below_its_token(self, seeded):
        lines = [line.split() for line in credentials("http://127.0.0.1:8000", seeded)[1:5]]

        names = ("token", "signing_secret", "sandbox_token", "sandbox_signing_secret")
        assert [line[-1] for line in lines] == [seeded[name] for name in names]
