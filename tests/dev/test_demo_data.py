"""The demo's data: one account with a token and a signing secret for each environment, and a day of deliveries."""

import json
from io import StringIO

import pytest
from django.contrib.auth.models import User
from django.core.management import CommandError, call_command
from django.urls import reverse
from django.utils import timezone

import delivery.invariants
import integration.invariants
from common.postgresql.invariants import find_broken
from delivery.accounts import tokens
from delivery.errors import InvalidToken
from delivery.geo.distance import metres
from delivery.lifecycle import RouteStatus
from delivery.models import (
    Delivery,
    Driver,
    Environment,
    EventState,
    Integrator,
    Tariff,
    Transition,
    WebhookEvent,
    WebhookQueueItem,
)
from delivery.places import address_table
from delivery.places.geocoding import Located, Precision
from dev.banner import credentials
from dev.demo import addresses, data, day
from integration.invoices.models import Invoice, InvoiceLink
from integration.lifecycle import Status
from integration.models import Manifest, Order, Seller, StatusLog

EVERY = (*delivery.invariants.ALL, *integration.invariants.ALL)
pytestmark = pytest.mark.django_db


@pytest.fixture
def seeded():
    """Without the day, which these tests do not look at."""
    return data.seed()


def has_password(credentials):
    return User.objects.get(username=credentials["login"]).check_password(credentials["password"])


def authenticate(clear_text):
    return tokens.authenticate(clear_text, at=timezone.now())


class TestSeed:
    def test_creates_one_account_with_a_token_and_a_secret_for_each_environment(self, seeded):
        live, sandbox = authenticate(seeded["token"]), authenticate(seeded["sandbox_token"])

        assert (live.environment, sandbox.environment) == (Environment.LIVE, Environment.SANDBOX)
        assert live.integrator == sandbox.integrator == Integrator.objects.get()
        secret = {endpoint.environment: endpoint.secret for endpoint in live.integrator.endpoints.all()}
        assert seeded["signing_secret"] == secret[Environment.LIVE] != secret[Environment.SANDBOX]
        assert seeded["sandbox_signing_secret"] == secret[Environment.SANDBOX]
        assert (Seller.objects.count(), Driver.objects.count(), Tariff.objects.count()) == (1, 12, 2)

    def test_has_a_log_in_that_sees_its_own_account_only_and_its_connected_shops(self, seeded, client):
        client.post(reverse("account_login"), {"login": seeded["shop_login"], "password": seeded["shop_password"]})
        shop = Integrator.objects.get()

        assert client.get(reverse("panel:work"))["Location"] == reverse("panel:overview", args=[shop.pk, "sandbox"])
        of_seller = reverse("panel:seller_connections", args=[Seller.objects.get().pk, "live"])
        pages = [reverse("panel:connections", args=[shop.pk, "live"]), of_seller]
        assert [client.get(page).status_code for page in pages] == [200, 404]


class TestSeedDemo:
    def test_fills_a_day_with_every_state_and_sends_nothing(self):
        out = StringIO()

        call_command("seed_demo", stdout=out)

        now = timezone.now()
        assert Driver.objects.count() == Driver.objects.filter(latest__recorded_at__lte=now).count() == 12
        assert Delivery.objects.count() == Delivery.objects.filter(environment=Environment.LIVE).count() == 38
        assert set(Delivery.objects.values_list("route_status", flat=True)) == set(RouteStatus)
        assert not Transition.objects.filter(at__gt=now).exists()
        assert set(Order.objects.values_list("status", flat=True)) == set(Status)
        assert not StatusLog.objects.filter(created_at__gt=now).exists()
        assert InvoiceLink.objects.count() == Invoice.objects.count() == 9
        assert [each.status for each in Manifest.objects.order_by("pk")] == ["open", "closed"]
        assert set(WebhookEvent.objects.values_list("state", flat=True)) == {EventState.UNADDRESSED}
        assert not WebhookQueueItem.objects.exists()
        assert [found.name for found in find_broken(EVERY)] == []

    def test_leaves_a_database_in_use_unchanged(self, seeded):
        out = StringIO()

        call_command("seed_demo", stdout=out)

        assert json.loads(out.getvalue()) is None
        assert (Integrator.objects.count(), has_password(seeded)) == (1, True)
        assert not Delivery.objects.exists()


class TestTheAddressesOfTheDemo:
    def test_are_those_of_its_day_and_others_beside_them(self):
        addresses.fill(at=timezone.now())

        for street, number, _district, postcode, point in day.ADDRESSES:
            address = {"street": street, "number": number, "zipcode": postcode}
            found = address_table.find(address)
            assert isinstance(found, Located)
            assert (found.precision, metres(found.point, point) < 1) == (Precision.ROOFTOP, True)
            assert isinstance(address_table.find({**address, "number": "333"}), Located)

    def test_have_the_street_of_the_template_for_spreadsheets(self):
        addresses.fill(at=timezone.now())

        address = {"street": "Rua Augusta", "number": "500", "zipcode": "01304-000"}

        assert isinstance(address_table.find(address), Located)


class TestDemoCredentials:
    def test_replaces_password_tokens_and_key(self, seeded):
        renewed = data.renew_credentials()

        changed = {name for name in seeded if renewed[name] != seeded[name]}
        passwords, keys = {"password", "shop_password"}, {"api_key", "sandbox_api_key", "carrier_key"}
        assert changed == {*passwords, "token", "sandbox_token", *keys}
        for name in ("token", "sandbox_token"):
            assert authenticate(renewed[name]).integrator == Integrator.objects.get()
            with pytest.raises(InvalidToken):
                authenticate(seeded[name])
        assert has_password(renewed)
        assert has_password({**renewed, "login": renewed["shop_login"], "password": renewed["shop_password"]})

    def test_are_refused_where_there_is_no_demo(self):
        with pytest.raises(CommandError, match="The demo is not in this database"):
            call_command("demo_credentials")


class TestBanner:
    def test_prints_each_secret_below_its_token(self, seeded):
        lines = [line.split() for line in credentials(seeded)[2:6]]

        names = ("token", "signing_secret", "sandbox_token", "sandbox_signing_secret")
        assert [line[-1] for line in lines] == [seeded[name] for name in names]
