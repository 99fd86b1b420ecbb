"""Staff bring in integrators and sellers."""

from unittest.mock import patch

import pytest
from django.contrib.auth.models import User
from django.urls import reverse
from django.utils import timezone

from delivery.models import AuditAction, AuditEntry, Environment, Integrator
from delivery.places import geocoding
from integration.models import Company, Seller
from tests.cases import in_turn
from tests.delivery.places.table import fill, houses
from tests.integration.factories import SellerFactory

NEW = reverse("panel:setup_new")
NEW_SELLER = reverse("panel:seller_new")
FORM = {"name": "Padaria Sol", "position": "-23.561414, -46.655881", "place_name": "", "url": "", "email": ""}


def audited(account):
    entries = AuditEntry.objects.filter(integrator=account, action__startswith="any_pickup")
    return list(entries.values_list("action", "by"))


def page(account):
    return reverse("panel:setup_sheet", args=[account.pk, "sandbox"])


class TestNewAccount:
    def test_opens_it_with_its_place_and_without_tokens(self, staff):
        response = staff.post(NEW, FORM)

        account = Integrator.objects.get(name="Padaria Sol")
        assert response.url == page(account)
        assert list(account.pickup_points.values_list("name", "latitude", "longitude")) == [
            ("Padaria Sol", -23.561414, -46.655881)
        ]
        assert account.tokens.count() == 0
        assert account.allow_any_pickup is False

    def test_sets_the_url_of_both_environments_and_tests_it(self, staff, settings):
        settings.WEBHOOK_ALLOW_LOOPBACK = True

        staff.post(NEW, {**FORM, "url": "http://127.0.0.1:9/rota"})

        account = Integrator.objects.get(name="Padaria Sol")
        assert [each.url for each in account.endpoints.all()] == ["http://127.0.0.1:9/rota"] * 2
        (sent,) = AuditEntry.objects.filter(integrator=account, action=AuditAction.TEST_SENT)
        assert sent.environment == Environment.SANDBOX
        assert [token.environment for token in account.tokens.all()] == [Environment.SANDBOX]

        sent_with = account.tokens.get()
        shown = staff.post(page(account)).context["parts"]
        sent_with.refresh_from_db()
        assert sent_with.expires_at is not None  # nobody has seen it: the sheet's takes its place
        assert sent_with.clear_text not in {part.token for part in shown}

    def test_invites_the_first_person_as_owner(self, staff):
        staff.post(NEW, {**FORM, "email": "ana@example.com"})

        account = Integrator.objects.get(name="Padaria Sol")
        assert list(account.invitations.values_list("email", "role")) == [("ana@example.com", "owner")]

    def test_lets_an_account_pick_up_anywhere(self, staff):
        staff.post(NEW, {**FORM, "position": "", "allow_any_pickup": "on"})

        account = Integrator.objects.get(name="Padaria Sol")
        assert (account.allow_any_pickup, account.pickup_points.count()) == (True, 0)
        assert audited(account) == [("any_pickup_allowed", "user account-staff")] * 2

    def test_has_repeated_external_ids_refused(self, staff):
        staff.post(NEW, {**FORM, "refuse_repeated_external_ids": "on"})

        account = Integrator.objects.get(name="Padaria Sol")
        assert account.refuse_repeated_external_ids
        assert account.audit.filter(action=AuditAction.REPEATS_REFUSED).count() == len(Environment)

    @in_turn(
        ("changes", "why"),
        [
            ({"name": ""}, "This field is required."),
            ({"position": ""}, "Give the pickup point, or let the account pick up anywhere."),
            ({"position": "https://maps.app.goo.gl/abc"}, "No coordinates were found in this text."),
            ({"url": "http://shop.example.com"}, "https"),
            ({"email": "ana@"}, "This is not an e-mail address."),
        ],
    )
    def test_says_what_is_wrong_and_opens_nothing(self, staff, changes, why):
        before = Integrator.objects.count()

        response = staff.post(NEW, {**FORM, **changes})

        assert response.status_code == 422
        assert why in response.content.decode()
        assert Integrator.objects.count() == before

    def test_refuses_a_name_that_is_taken(self, staff):
        staff.post(NEW, FORM)

        assert staff.post(NEW, {**FORM, "name": "PADARIA SOL"}).status_code == 422
        assert Integrator.objects.filter(name__iexact="padaria sol").count() == 1


class TestSheet:
    def test_shows_the_link_of_an_invitation_that_is_not_mailed_once(self, staff):
        opened = staff.post(NEW, {**FORM, "email": "ana@example.com"})

        other = staff.post(NEW, {**FORM, "name": "Padaria Lua"})
        elsewhere, first, second = [staff.get(each).content.decode() for each in (other.url, opened.url, opened.url)]

        assert "/invitation/?key=" not in elsewhere
        assert first.count("/invitation/?key=") == 1
        assert "/invitation/?key=" not in second

    @pytest.fixture
    def account(self, staff):
        staff.post(NEW, FORM)
        return Integrator.objects.get(name="Padaria Sol")

    def tokens(self, response):
        return {part.environment: part.token for part in response.context["parts"]}

    def test_issues_the_missing_tokens_shows_them_once_and_records_that_the_secrets_were_shown(self, staff, account):
        first, second = [staff.post(page(account)) for _time in range(2)]

        clear = {token.environment: token.clear_text for token in account.tokens.all()}
        assert self.tokens(first) == clear
        assert all(text in first.content.decode() for text in clear.values())
        assert self.tokens(second) == dict.fromkeys(Environment, None)
        assert all(endpoint.secret in second.content.decode() for endpoint in account.endpoints.all())
        shown = AuditEntry.objects.filter(integrator=account, action=AuditAction.SECRET_SHOWN)
        assert sorted(shown.values_list("environment", flat=True)) == sorted([*Environment.values] * 2)

    def test_replaces_a_lost_token_and_leaves_those_in_use(self, staff, account):
        staff.post(page(account))
        account.tokens.filter(environment="live").update(last_used_at=timezone.now())

        shown = [self.tokens(staff.post(page(account), {"again": each})) for each in ("live", "sandbox")]

        lasting = account.tokens.filter(expires_at=None)
        assert [bool(each["live"]) for each in shown] == [True, False]
        assert lasting.filter(environment="live").count() == 2
        assert lasting.get(environment="sandbox").clear_text == shown[1]["sandbox"]

    def test_hands_over_a_link_that_issues_no_token_itself(self, staff, account):
        link = staff.post(page(account), {"step": "link"}).context["access_link"]

        assert link.startswith("http://testserver/account/access/?key=")
        assert account.tokens.count() == 0


class TestPlaces:
    def test_says_when_the_geocoder_does_not_answer(self, staff, settings):
        settings.GEOCODER_URL = "http://127.0.0.1:9"

        content = staff.get(reverse("panel:setup_places"), {"q": "Paulista"}).content.decode()

        assert "The geocoder did not answer as it should." in content

    @pytest.mark.parametrize("is_account", [True, False])
    def test_are_looked_for_on_behalf_of_the_account_or_of_the_person(self, staff, url, shop, settings, is_account):
        """Whose calls are limited."""
        settings.GEOCODER_URL = "http://127.0.0.1:9"
        page = url("places") if is_account else reverse("panel:setup_places")
        own = shop.integrator.pk if is_account else User.objects.get(username="account-staff").pk

        with patch.object(geocoding, "search", return_value=[]) as search:
            staff.get(page, {"q": " Paulista "}, headers={"Accept-Language": "pt-BR"})

        assert search.call_args.args[1:] == ("Paulista",)
        assert search.call_args.kwargs == {"language": "pt-br", "account": own}

    def test_are_those_of_the_table_without_a_geocoder(self, staff):
        fill(houses("Rua Augusta", [500], postcode="01304000"))

        content = staff.get(reverse("panel:setup_places"), {"q": "r. augusta 500, são paulo"}).content.decode()

        assert "Rua Augusta, 500, São Paulo/SP, 01304-000" in content
        assert 'data-lat="-23.545000"' in content
        assert 'id="place-query"' in staff.get(NEW).content.decode()

    def test_the_form_says_when_there_is_none(self, staff, settings):
        settings.GEOCODER_URL = ""

        content = staff.get(NEW).content.decode()

        assert "or sets GEOCODER_URL" in content
        assert 'id="place-query"' not in content


class TestNewSeller:
    FORM = {
        "name": "Livraria Lua", "documents": "48.372.915/0001-54\n52998224725\n", "email": "ana@example.com",
        "origin": "40020-000",
    }  # fmt: skip  # a table

    def test_creates_it_with_companies_key_and_invitation(self, staff):
        response = staff.post(NEW_SELLER, self.FORM)
        sheet = staff.get(response.url).content.decode()

        seller = Seller.objects.get(name="Livraria Lua")
        assert list(seller.companies.values_list("document", "postcode")) == [
            ("48372915000154", "40020000"), ("52998224725", "40020000"),
        ]  # fmt: skip  # a table
        assert sorted(seller.keys.values_list("environment", flat=True)) == ["live", "sandbox"]
        assert "rota_key_" in sheet
        assert "rota_testkey_" in sheet
        assert "48.372.915/0001-54" in sheet
        assert list(seller.invitations.values_list("email", "role")) == [("ana@example.com", "owner")]
        assert "Issued before, and not shown again." in staff.get(response.url).content.decode()
        assert "rota_key_" in staff.post(response.url, {"again": "live"}, follow=True).content.decode()
        assert "/access/?key=" in staff.post(response.url, {"step": "link"}).context["access_link"]

    @in_turn(
        ("field", "value", "why"),
        [
            ("documents", "48.372.915/0001-54\n48.372.915/0001-55", "48.372.915/0001-55&#x27; is neither a CNPJ nor"),
            ("documents", "48372915000154\n48.372.915/0001-54", "is registered already"),
            ("documents", "48372915000154\n11.222.333/0001-81", "11.222.333/0001-81&#x27; is registered already"),
            ("documents", "\n".join(["48372915000154"] * 51), "At most 50 companies at once."),
            ("documents", "", "This field is required."),
            ("name", "LIVRARIA SOL", "There is a seller with this name already."),
            ("origin", "0131", "A CEP has eight digits."),
            ("origin", "00000-000", "No region has this CEP"),
            ("email", "ana@", "This is not an e-mail address."),
        ],
    )
    def test_names_what_is_wrong_and_creates_nothing(self, staff, field, value, why):
        SellerFactory.create(name="Livraria Sol", documents=())
        before = Seller.objects.count()

        response = staff.post(NEW_SELLER, {**self.FORM, field: value})

        assert response.status_code == 422
        assert why in response.content.decode()
        assert (Seller.objects.count(), Company.objects.filter(document="48372915000154").count()) == (before, 0)
