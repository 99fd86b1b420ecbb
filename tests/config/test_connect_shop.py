"""The command that connects a shop, of an integrator or of a seller."""

import json
from io import StringIO

import pytest
from django.core.management import CommandError, call_command

from delivery.connections import actions
from delivery.connections.models import Connection
from integration.connections.models import Connection as SellerConnection
from tests.delivery.connections.shops import order, post
from tests.factories import IntegratorFactory, PickupPointFactory
from tests.integration.factories import COMPANY, OTHER_COMPANY, SellerFactory


def run(*arguments):
    out = StringIO()
    try:
        call_command("connect_shop", *arguments, stdout=out)
    except SystemExit as stop:
        return stop.code, json.loads(out.getvalue())
    return 0, json.loads(out.getvalue())


@pytest.mark.django_db
class TestConnectShop:
    def test_answers_with_the_address_and_a_secret_that_is_taken(self, settings):
        settings.SITE_URL = "https://rota.example"
        pickup = PickupPointFactory.create()

        code, answer = run("WOOCOMMERCE", "--integrator", str(pickup.integrator_id), "--pickup", str(pickup.pk))

        connection = Connection.objects.get()
        assert (code, list(answer)) == (0, ["connection", "url", "secret"])
        assert answer["url"] == f"https://rota.example/api/connections/{answer['connection']}"
        assert (connection.pk, len(connection.pk)) == (answer["connection"], 32)
        assert post(connection, order(), secret=answer["secret"]).json()["result"] == "draft"
        assert answer["secret"] not in connection.secret_ciphertext

    def test_takes_what_the_platform_gives(self):
        pickup = PickupPointFactory.create()
        options = ["--secret", " shpss_1 ", "--method", "Motoboy", "--automatic", "--sandbox", "--name", "Loja"]

        _code, answer = run("SHOPIFY", "--integrator", str(pickup.integrator_id), "--pickup", str(pickup.pk), *options)

        found = Connection.objects.values("environment", "shipping_method", "automatic", "name", "platform").get()
        assert answer["secret"] == "shpss_1"  # pragma: allowlist secret
        assert found == {
            "environment": "sandbox", "shipping_method": "Motoboy", "automatic": True, "name": "Loja",
            "platform": "SHOPIFY",
        }  # fmt: skip  # a row

    def test_refuses_a_pickup_point_of_another_account(self):
        mine, other = IntegratorFactory.create(), PickupPointFactory.create()

        with pytest.raises(CommandError):
            run("YAMPI", "--integrator", str(mine.pk), "--pickup", str(other.pk), "--secret", "x")

        assert not Connection.objects.exists()

    def test_refuses_a_pickup_point_that_is_not_used_any_more(self):
        pickup = PickupPointFactory.create(active=False)

        with pytest.raises(CommandError, match="has no active pickup point"):
            run("YAMPI", "--integrator", str(pickup.integrator_id), "--pickup", str(pickup.pk))

        assert not Connection.objects.exists()

    @pytest.mark.parametrize(("name", "longest"), [("name", 120), ("method", 100), ("phone", 255)])
    def test_refuses_texts_that_are_too_long(self, name, longest):
        pickup = PickupPointFactory.create()
        command = ["YAMPI", "--integrator", str(pickup.integrator_id), "--pickup", str(pickup.pk), f"--{name}"]

        with pytest.raises(CommandError, match=f"--{name} has at most {longest} characters"):
            run(*command, "1" * (longest + 1))

        assert not Connection.objects.exists()
        assert run(*command, "1" * longest)[0] == 0

    @pytest.mark.parametrize("option", [("--company", COMPANY), ("--pickup", "1")])
    def test_refuses_an_empty_seller(self, option):
        with pytest.raises(CommandError, match="--seller needs the id"):
            run("YAMPI", "--seller", "", *option)

        assert not SellerConnection.objects.exists()

    def test_connects_the_shop_of_a_seller(self, settings):
        settings.SITE_URL = "https://rota.example"
        seller = SellerFactory.create()
        options = ["--company", "11.222.333/0001-81", "--service", "next", "--sandbox"]

        code, answer = run("WOOCOMMERCE", "--seller", seller.reference, *options)

        connection = SellerConnection.objects.get()
        assert (code, list(answer)) == (0, ["connection", "url", "secret"])
        assert answer["url"] == f"https://rota.example/api/integration/connections/{connection.pk}"
        assert (connection.company, connection.service) == (seller.companies.get(), "next")
        assert (connection.environment, connection.dimensions) == ("sandbox", "20x15x10,1")
        assert post(connection, order(), secret=answer["secret"]).json()["result"] == "order"

    @pytest.mark.parametrize(
        "options",
        [
            ["--company", OTHER_COMPANY],
            [],
            ["--company", COMPANY, "--automatic"],
        ],
    )
    def test_refuses_what_is_not_the_sellers(self, options):
        SellerFactory.create(documents=(OTHER_COMPANY,))
        mine = SellerFactory.create()

        with pytest.raises(CommandError):
            run("YAMPI", "--seller", str(mine.pk), *options)

        assert not SellerConnection.objects.exists()

    def test_refuses_more_than_ten(self, monkeypatch):
        monkeypatch.setattr(actions, "MOST_CONNECTIONS", 0)
        pickup = PickupPointFactory.create()

        code, answer = run("YAMPI", "--integrator", str(pickup.integrator_id), "--pickup", str(pickup.pk))

        assert (code, answer["error"]) == (1, "too_many_connections")
