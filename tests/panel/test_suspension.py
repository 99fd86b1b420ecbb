"""A suspended account or seller in the panel: its members may look, are told, and can issue and change nothing."""

from uuid import uuid4

import pytest
from django.urls import reverse
from django.utils import timezone

from common.accounts import Role
from delivery.accounts import integrators
from delivery.models import (
    AuditEntry,
    Delivery,
    Integrator,
    PickupPoint,
    Stop,
    Token,
    WebhookEndpoint,
    WebhookEvent,
)
from integration.accounts import keys, sellers
from integration.models import ApiKey
from tests.access.rights_by_url import OF_AN_ACCOUNT, OWN
from tests.factories import BY, PICKUP, TokenFactory

AT = timezone.now
ACCOUNT_PAGES = [route for route, (get, _post) in OF_AN_ACCOUNT.items() if get == OWN and "<" not in route]
MEMBERS = ["member", "account staff"]


@pytest.fixture
def suspended(with_url):
    """The shop with its account and its seller suspended."""
    integrators.suspend(integrator=with_url.integrator, reason="Bill <3> unpaid", by="user ana", at=AT())
    sellers.suspend(seller=with_url.seller, reason="Bill <3> unpaid", by="user ana", at=AT())
    return with_url


def state():
    return (
        list(Token.objects.order_by("pk").values_list()),
        list(WebhookEndpoint.objects.order_by("pk").values_list()),
        list(ApiKey.objects.order_by("pk").values_list()),
        WebhookEvent.objects.count(),
        AuditEntry.objects.count(),
        list(Delivery.objects.order_by("pk").values_list()),
        list(Stop.objects.order_by("pk").values_list()),
        PickupPoint.objects.count(),
        list(Integrator.objects.order_by("pk").values_list("on_failure")),
    )


class TestSuspendedAccount:
    @pytest.mark.parametrize("role", MEMBERS)
    def test_says_so_on_every_page(self, suspended, as_role, url, role):
        browser = as_role(role)
        answers = {route: browser.get(f"{url('overview')}{route}") for route in ACCOUNT_PAGES}
        # The others are parts of pages, files, and the progress of an order to send events again, which needs one.
        pages = {
            route: answer.content.decode()
            for route, answer in answers.items()
            if answer.status_code == 200 and not answer.streaming and b"<html" in answer.content
        }

        assert {"", "tokens/", "alerts/", "team/"} <= set(pages)
        for route, page in pages.items():
            assert "Suspended by ana on" in page, route
            assert "Bill &lt;3&gt; unpaid" in page, route

    @pytest.mark.parametrize("role", MEMBERS)
    def test_is_given_nothing_new(self, suspended, as_role, url, role):
        browser, before = as_role(role), state()
        suspended.integrator.memberships.update(role=Role.OWNER)
        forms = [
            (url("tokens"), {}),
            (url("token_rotate", suspended.token.pk), {}),
            (url("webhook"), {"url": "http://127.0.0.1:9/other"}),
            (url("webhook"), {"url": ""}),
            (url("webhook_test"), {}),
            (url("webhook_secret_rotate"), {}),
            (url("cancel", suspended.delivery.pk), {"fee": "0.00"}),
            (url("stop", suspended.delivery.pk, "B"), {"step": "change", "contact_name": "Bia"}),
            (url("upload"), {}),
            (url("upload_advance", uuid4()), {}),
            (url("upload_confirm", uuid4()), {}),
            (url("pickup_points"), {"name": "Loja 2", "position": "{}, {}".format(*PICKUP)}),
            (url("policy"), {"on_failure": "RETRY"}),
        ]

        for address, data in forms:
            response = browser.post(address, data, follow=True)

            assert response.redirect_chain == [(url("overview"), 302)]
            assert "The account is suspended." in response.content.decode()
            assert state() == before, address

    def test_is_offered_none_of_it(self, suspended, member, url):
        offered = {"tokens": ["Issue a token"], "webhook": ["Save and test", "Send a test event"]}

        def shown():
            pages = {name: member.get(url(name)).content.decode() for name in offered}
            return {
                name: [each for each in offered[name] if f">{each}</button>" in text] for name, text in pages.items()
            }

        assert shown() == {"tokens": [], "webhook": []}
        integrators.lift_suspension(integrator=suspended.integrator, by=BY, at=AT())
        assert shown() == offered

    def test_sees_its_tokens_as_suspended_and_can_only_revoke_them(self, suspended, member, url):
        pages = [member.get(url("tokens")), member.get(url("token", suspended.token.pk))]

        for content in [page.content.decode() for page in pages]:
            assert ">Suspended</span>" in content
            assert ">Valid</span>" not in content
            assert "Rotate" not in content
            assert "Revoke…" in content

    def test_sees_its_url_as_text(self, suspended, member, url):
        content = member.get(url("webhook")).content.decode()

        assert f"<code>{suspended.integrator.endpoints.get(environment='live').url}</code>" in content
        assert 'id="id_url"' not in content

    def test_is_not_asked_to_set_itself_up(self, suspended, member):
        address = reverse("panel:overview", args=[suspended.integrator.pk, "sandbox"])
        WebhookEndpoint.objects.update(url="")

        context = member.get(address).context

        assert (context["notices"], context["steps"]) == ([], [])

    def test_unfolds_what_it_means_on_the_overview_only(self, suspended, member, url):
        assert "<details open>" in member.get(url("overview")).content.decode()
        assert "<details >" in member.get(url("tokens")).content.decode()

    def test_may_revoke_a_token(self, suspended, member, url):
        member.post(url("token_revoke", suspended.token.pk))

        assert Token.objects.get(pk=suspended.token.pk).revoked_by == "user member"

    def test_may_have_an_event_sent_again(self, suspended, member, url):
        WebhookEvent.objects.filter(pk=suspended.event.pk).update(state="dead")

        member.post(url("event_resend", suspended.event.pk))

        assert WebhookEvent.objects.get(pk=suspended.event.pk).state == "pending"

    def test_is_marked_where_accounts_are_listed(self, suspended, member):
        assert member.get(reverse("panel:home")).content.decode().count(">Suspended</span>") == 2

    def test_that_is_not_suspended_has_no_banner(self, with_url, member, url):
        assert 'id="suspended"' not in member.get(url("overview")).content.decode()


class TestSuspendedSeller:
    @pytest.mark.parametrize("role", MEMBERS)
    def test_says_so_and_issues_no_key(self, suspended, as_role, role):
        browser, page = as_role(role), reverse("panel:seller", args=[suspended.seller.pk, "live"])
        before = state()

        response = browser.post(page, follow=True)

        content = response.content.decode()
        assert "no key is issued" in content
        assert "Bill &lt;3&gt; unpaid" in content
        assert ">Issue a key</button>" not in content
        assert ">Suspended</span>" in content
        assert ">Valid</span>" not in content
        assert state() == before

    def test_without_keys_is_told_that_it_gets_none(self, suspended, member):
        ApiKey.objects.all().delete()

        content = member.get(reverse("panel:seller", args=[suspended.seller.pk, "live"])).content.decode()

        assert "No key is issued while the seller is suspended." in content
        assert "Issue one above" not in content

    def test_may_revoke_a_key(self, suspended, member):
        member.post(reverse("panel:key_revoke", args=[suspended.seller.pk, "live", suspended.key.pk]))

        assert ApiKey.objects.get(pk=suspended.key.pk).revoked_by == "user member"


class TestLimit:
    def test_of_tokens_is_said_on_their_page(self, shop, member, url):
        while Token.objects.count() < 20:
            TokenFactory.create(integrator=shop.integrator)

        for address in (url("tokens"), url("token_rotate", shop.token.pk)):
            content = member.post(address, follow=True).content.decode()

            assert "The account has 20 valid tokens" in content
        assert Token.objects.count() == 20

    def test_of_keys_is_said_on_their_page(self, shop, member):
        while ApiKey.objects.count() < 20:
            keys.issue(seller=shop.seller, by=BY, at=AT())

        content = member.post(reverse("panel:seller", args=[shop.seller.pk, "live"]), follow=True).content.decode()

        assert "The seller has 20 valid keys" in content
        assert ApiKey.objects.count() == 20
