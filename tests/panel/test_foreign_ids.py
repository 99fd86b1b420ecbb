"""Ids of another account in every address that takes one: no such page, and nothing happens."""

import pytest
from django.urls import reverse

from delivery.models import AuditEntry, Token
from integration.models import ApiKey
from tests.integration.factories import OTHER_COMPANY
from tests.panel.conftest import make_shop


@pytest.fixture
def other(shop):
    return make_shop(documents=(OTHER_COMPANY,))


@pytest.mark.parametrize(
    ("method", "name", "part"),
    [
        ("get", "delivery", "delivery"),
        ("get", "event", "event"),
        ("post", "event_resend", "event"),
        ("get", "webhook_test_result", "event"),
        ("get", "refused_call", "call"),
        ("get", "refused_call", "seller_call"),
        ("get", "token", "token"),
        ("post", "token_rotate", "token"),
        ("post", "token_revoke", "token"),
    ],
)
def test_of_an_account(method, name, part, shop, other, member, url):
    response = getattr(member, method)(url(name, getattr(other, part).pk))

    assert response.status_code == 404
    assert Token.objects.get(pk=other.token.pk).revoked_at is None
    assert not AuditEntry.objects.exclude(action="token_issued").exists()


def test_of_a_seller(shop, other, member):
    response = member.post(reverse("panel:key_revoke", args=[shop.seller.pk, other.key.pk]))

    assert response.status_code == 404
    assert ApiKey.objects.get(pk=other.key.pk).revoked_at is None


@pytest.mark.parametrize("part", ["call", "seller_call"])
def test_a_refused_call_of_a_seller(part, shop, other, member):
    address = reverse("panel:seller_refused_call", args=[shop.seller.pk, getattr(other, part).pk])

    assert member.get(address).status_code == 404


def test_a_foreign_test_event_in_the_query_shows_nothing(shop, other, member, url):
    content = member.get(url("webhook"), {"test": str(other.event.pk)}).content.decode()

    assert 'id="test-result"' not in content


def test_a_search_finds_nothing_of_another_account(shop, other, member, url):
    response = member.get(url("deliveries"), {"q": str(other.delivery.pk)})

    assert response.context["rows"] == []
    assert member.get(url("events"), {"q": str(other.delivery.pk)}).context["rows"] == []


@pytest.mark.parametrize("key", ["", "0", "x", "00000000-0000-0000-0000-000000000000"])
def test_an_account_that_does_not_exist(key, member, shop):
    assert member.get(f"/panel/accounts/{key}/live/").status_code == 404


@pytest.mark.parametrize("name", ["delivery", "event", "token"])
def test_of_the_other_environment(name, shop, member):
    address = reverse(f"panel:{name}", args=[shop.integrator.pk, "sandbox", getattr(shop, name).pk])

    assert member.get(address).status_code == 404
