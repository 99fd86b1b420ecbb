import json

import pytest
from django.core.management import call_command

from integration.models import ApiKey, Assignment, Carrier, CarrierKey, Company, Seller, StatusLog, WebhookEndpoint
from tests.integration.factories import create_order, make_carrier


def run(capsys, *arguments):
    """The one JSON object that the command prints, and its exit code."""
    code: str | int | None = 0
    try:
        call_command(*arguments)
    except SystemExit as stop:
        code = stop.code
    return json.loads(capsys.readouterr().out), code


class TestCreateSeller:
    def test_prints_the_seller_its_key_and_reference(self, db, capsys):
        documents = ["11.222.333/0001-81", "12.abc.345/01de-35", "529.982.247-25"]

        printed, _code = run(capsys, "create_seller", "Loja", *(f"--company={text}" for text in documents))

        seller = Seller.objects.get()
        assert printed.keys() == {"seller", "api_key", "reference", "signing_secret"}
        assert (printed["seller"], printed["reference"]) == (str(seller.pk), seller.reference)
        key = ApiKey.find(printed["api_key"])
        assert key is not None
        assert key.seller == seller
        # pragma: allowlist nextline secret  # companies' numbers
        assert {c.document for c in seller.companies.all()} == {"11222333000181", "12ABC34501DE35", "52998224725"}

    @pytest.mark.parametrize(("options", "environment"), [([], "live"), (["--sandbox"], "sandbox")])
    def test_sets_the_webhook_of_the_keys_environment(self, db, capsys, options, environment):
        url = "--webhook-url=http://127.0.0.1:9/hook"

        printed, _code = run(
            capsys, "create_seller", "Loja", "--company=11222333000181", url, "--webhook-auth=basic:ana:a:b", *options
        )

        endpoint = WebhookEndpoint.objects.get()
        assert (endpoint.environment, endpoint.url) == (environment, "http://127.0.0.1:9/hook")
        assert endpoint.secret == printed["signing_secret"]
        assert endpoint.authentication.secret == "ana:a:b"  # a test's  # pragma: allowlist secret

    @pytest.mark.parametrize("option", ["--webhook-url=ftp://shop.example", "--webhook-auth=basic:ana"])
    def test_refuses_a_webhook_that_cannot_be(self, db, capsys, option):
        printed, code = run(capsys, "create_seller", "Loja", "--company=11222333000181", option)

        assert (code, printed["error"][:8]) == (1, "invalid_")
        assert not Seller.objects.exists()

    def test_refuses_wrong_check_digits(self, db, capsys):
        printed, code = run(capsys, "create_seller", "Loja", "--company=11222333000182")

        assert (code, printed["error"]) == (1, "invalid_document")
        assert not Seller.objects.exists()

    def test_takes_the_origin_of_all_companies(self, db, capsys):
        documents = ["--company=11222333000181", "--company=52998224725"]

        refused, code = run(capsys, "create_seller", "Loja", *documents, "--origin=00000-000")
        run(capsys, "create_seller", "Loja", *documents, "--origin=01.310 100")

        assert (code, refused["error"]) == (1, "no_coverage")
        assert Company.objects.values_list("postcode", "seller__name").distinct().get() == ("01310100", "Loja")

    def test_refuses_a_name_with_a_web_address(self, db, capsys):
        printed, code = run(capsys, "create_seller", "https://evil.example", "--company=11222333000181")

        assert (code, printed["error"]) == (1, "invalid")
        assert Seller.objects.count() == 0

    def test_refuses_a_company_that_is_taken(self, seller, capsys):
        printed, code = run(capsys, "create_seller", "Loja", "--company=11222333000181")

        assert (code, printed["error"]) == (1, "company_taken")
        assert Company.objects.count() == 1


class TestOrder:
    @pytest.mark.parametrize("name", ["pk", "reference"])
    def test_moves_and_logs(self, seller, capsys, name):
        create_order(seller)

        printed, code = run(capsys, "order", "A-1", f"--seller={getattr(seller, name)}", "collected")

        assert (code, printed) == (0, {"order": "A-1", "status": "collected"})
        assert StatusLog.objects.get(status="collected").via_api is False

    @pytest.mark.parametrize("status", ["pending", "returned", "unknown"])
    def test_says_why_a_move_is_refused(self, seller, capsys, status):
        create_order(seller)

        printed, code = run(capsys, "order", "A-1", f"--seller={seller.pk}", status)

        assert (code, printed["error"]) == (1, "move_refused")
        assert StatusLog.objects.count() == 1

    def test_takes_an_order_id_as_people_write_it(self, seller, capsys):
        create_order(seller)

        printed, _code = run(capsys, "order", "a1", f"--seller={seller.pk}", "collected")

        assert printed == {"order": "A-1", "status": "collected"}

    @pytest.mark.parametrize(("code", "who", "error"), [("B", None, "order_not_found"), ("A-1", 0, "seller_not_found")])
    def test_says_what_does_not_exist(self, seller, capsys, code, who, error):
        create_order(seller)

        printed, _code = run(capsys, "order", code, f"--seller={seller.pk if who is None else who}", "collected")

        assert printed["error"] == error


class TestCreateCarrier:
    def test_prints_the_carrier_and_its_key(self, db, capsys):
        printed, _code = run(capsys, "create_carrier", "Jadlog")

        key = CarrierKey.find(printed["api_key"])
        assert key is not None
        assert printed == {"carrier": str(key.carrier.pk), "api_key": printed["api_key"]}

    def test_refuses_a_name_that_is_taken(self, db, capsys):
        run(capsys, "create_carrier", "Jadlog")

        printed, code = run(capsys, "create_carrier", "Jadlog")

        assert (code, printed["error"]) == (1, "invalid")
        assert (Carrier.objects.count(), CarrierKey.objects.count()) == (1, 1)


class TestAssignCarrier:
    @pytest.mark.parametrize("environment", ["live", "sandbox"])
    def test_assigns_the_order_of_the_environment(self, seller, capsys, environment):
        carrier, _key = make_carrier()
        order = {each: create_order(seller, each) for each in ("live", "sandbox")}[environment]
        chosen = ["--sandbox"] if environment == "sandbox" else []

        printed, code = run(
            capsys, "assign_carrier", "A-1", f"--seller={seller.reference}", f"--carrier={carrier.pk}", *chosen
        )

        assert (printed, code) == ({"order": "A-1", "carrier": str(carrier.pk)}, 0)
        assert Assignment.objects.get().order == order
        assert Assignment.objects.get().assigned_by == "command assign_carrier"

    def test_refuses_what_does_not_exist(self, seller, capsys):
        carrier, _key = make_carrier()
        create_order(seller)
        for order, chosen, error in (
            ("A-2", carrier.pk, "order_not_found"), ("A-1", carrier.pk + 1, "carrier_not_found"),
        ):  # fmt: skip  # a table
            printed, code = run(capsys, "assign_carrier", order, f"--seller={seller.pk}", f"--carrier={chosen}")
            assert (code, printed["error"]) == (1, error)
        assert not Assignment.objects.exists()
