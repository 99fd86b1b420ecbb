"""Tokens in the panel: issued and shown once, used by HTTP, rotated, revoked, each with its line in the activity."""

import re

import pytest
from django.urls import reverse
from django.utils import timezone
from rest_framework.test import APIClient

from delivery.models import AuditEntry, Integrator, Token
from tests.factories import IntegratorFactory, TokenFactory, payload

QUOTE = "/api/quotation-delivery"


def issue(member, url):
    """Press the button. Returns the page that follows and the token's text on it."""
    response = member.post(url("tokens"), follow=True)
    return response, response.context["fresh"].clear_text


class TestIssue:
    def test_shows_once_a_token_that_works(self, member, url, shop):
        response, text = issue(member, url)

        assert text in response.content.decode()
        assert "no-store" in response["Cache-Control"]
        assert APIClient(HTTP_AUTHORIZATION=f"Bearer {text}").post(QUOTE, payload()).status_code == 200
        assert text not in member.get(url("tokens")).content.decode()

    def test_keeps_no_text_in_the_session_and_writes_down_who(self, member, url, shop):
        member.post(url("tokens"))

        assert "rota_live_" not in str(dict(member.session))
        entry = AuditEntry.objects.get(by="user member")
        assert (entry.action, entry.integrator) == ("token_issued", shop.integrator)
        assert entry.subject in member.get(url("activity")).content.decode()

    @pytest.mark.parametrize("is_own", [True, False])
    def test_shows_no_token_of_another_environment_or_account(self, member, url, shop, is_own):
        other = TokenFactory.create(sandbox=is_own, **({"integrator": shop.integrator} if is_own else {}))
        session = member.session
        session["issued_token"] = str(other.pk)
        session.save()

        assert other.clear_text not in member.get(url("tokens")).content.decode()


class TestRotate:
    def test_gives_a_new_one_of_the_same_name_and_keeps_the_old_one_for_a_while(self, member, url, shop):
        Token.objects.update(name="Caixa")

        fresh = member.post(url("token_rotate", shop.token.pk), follow=True).context["fresh"]

        assert (fresh.pk != shop.token.pk, fresh.name) == (True, "Caixa")
        assert Token.objects.get(expires_at__gt=timezone.now()) == shop.token

    def test_says_why_a_revoked_one_is_refused(self, member, url, shop):
        member.post(url("token_revoke", shop.token.pk))
        before = Token.objects.count()

        response = member.post(url("token_rotate", shop.token.pk), follow=True)

        assert "is revoked or expired" in response.content.decode()
        assert Token.objects.count() == before


class TestRevoke:
    def test_ends_it_at_once(self, member, url, shop, client_of):
        member.post(url("token_revoke", shop.token.pk))

        assert client_of(shop.token).post(QUOTE, payload()).status_code == 401
        page = member.get(url("token", shop.token.pk)).content.decode()
        assert "Revoked by member" in page
        assert "/rotate/" not in page


class TestName:
    def test_is_given_at_the_issue_and_shown_everywhere(self, member, url, shop):
        member.post(url("tokens"), {"name": "Loja virtual"}, follow=True)

        token = Token.objects.get(name="Loja virtual")
        pages = [url("tokens"), url("token", token.pk), url("activity")]
        assert all("Loja virtual" in member.get(page).content.decode() for page in pages)
        assert AuditEntry.objects.get(action="token_issued", by="user member").subject == f"Loja virtual ({token.hint})"

    def test_can_be_changed(self, member, url, shop):
        member.post(url("token", shop.token.pk), {"name": "Caixa"})

        assert Token.objects.get(pk=shop.token.pk).name == "Caixa"
        entry = AuditEntry.objects.get(action="token_renamed")
        assert (entry.subject, entry.by) == (f"Caixa ({shop.token.hint})", "user member")

    def test_that_stays_the_same_is_not_written_down(self, member, url, shop):
        member.post(url("token", shop.token.pk), {"name": ""})

        assert not AuditEntry.objects.filter(action="token_renamed").exists()

    @pytest.mark.parametrize("name", ["x" * 61, "a\0b"])
    def test_is_refused_when_it_is_too_long_or_no_text(self, member, url, shop, name):
        responses = [member.post(url(*page), {"name": name}) for page in (["tokens"], ["token", shop.token.pk])]

        assert [response.status_code for response in responses] == [422, 422]
        assert Token.objects.get().name == ""

    def test_is_shown_as_text(self, member, url, shop):
        member.post(url("token", shop.token.pk), {"name": "<b>x"})

        assert "&lt;b&gt;x" in member.get(url("tokens")).content.decode()


class TestSandboxFirst:
    def test_home_opens_the_sandbox_until_there_is_a_live_delivery(self, member, url, shop):
        new = IntegratorFactory.create(name="Nova")
        new.members.add(shop.integrator.members.get())

        links = re.findall(r'<b>\s*<a\s+href="([^"]+)"', member.get(reverse("panel:home")).content.decode())

        assert reverse("panel:overview", args=[shop.integrator.pk, "live"]) in links
        assert reverse("panel:overview", args=[new.pk, "sandbox"]) in links


def test_their_page_says_what_becomes_of_repeated_external_ids(member, url):
    assert "Accepted with a warning." in member.get(url("tokens")).content.decode()

    Integrator.objects.update(refuse_repeated_external_ids=True)
    assert "Refused: an externalId can be used again" in member.get(url("tokens")).content.decode()
