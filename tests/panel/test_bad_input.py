"""Forged requests, scripts in every text, headers that keep browsers in bounds."""

import re

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from delivery.actions import deliveries
from delivery.models import Delivery, Integrator, Token
from integration.models import Seller
from tests.factories import BY, DeliveryFactory, PickupPointFactory
from tests.panel.conftest import ROLES
from tests.panel.test_roles import PAGES, address

SCRIPT = "<script>alert(1)</script>"
POSTS = [name for name, (method, _args, _who) in PAGES.items() if method == "post"] + ["tokens", "webhook", "seller"]


@pytest.mark.parametrize("name", POSTS)
def test_a_forged_post_is_refused(name, with_url, person):
    browser = Client(enforce_csrf_checks=True)
    browser.force_login(person("superuser"))
    before = Token.objects.count(), Delivery.objects.get(pk=with_url.delivery.pk).status

    response = browser.post(address(name, with_url, PAGES[name][1]))

    assert response.status_code == 403
    assert (Token.objects.count(), Delivery.objects.get(pk=with_url.delivery.pk).status) == before


@pytest.mark.parametrize("name", [name for name, (method, _args, _who) in PAGES.items() if method == "post"])
def test_what_changes_something_is_a_post(name, with_url, as_role):
    response = as_role("superuser").get(address(name, with_url, PAGES[name][1]))

    assert response.status_code == (200 if name == "board_move" else 405)  # there a GET shows the form


@pytest.mark.parametrize("role", set(ROLES) - {"anonymous"})
def test_no_page_allows_inline_scripts_or_styles(role, as_role):
    policy = as_role(role).get("/panel/").headers["Content-Security-Policy"]

    assert "unsafe-inline" not in policy
    assert "unsafe-eval" not in policy
    assert "default-src 'none'" in policy


@pytest.mark.parametrize("name", [name for name, (method, _args, _who) in PAGES.items() if method == "get"])
def test_no_page_has_any_inline(name, with_url, as_role):
    content = as_role("superuser").get(
        address(name, with_url, PAGES[name][1]),
        {"again_since": "2026-01-01T00:00:00+00:00", "again_until": "2026-01-02T00:00:00+00:00", "again_count": "1"},
    ).content.decode()  # fmt: skip

    scripts = re.findall(r"<script(?![^>]*(?:src=|application/json))[^>]*>", content)
    assert scripts == []
    assert "<style" not in content
    assert not re.search(r"<[^>]+\s(style|on[a-z]+)=", content)


def test_scripts_in_every_text_stay_text(shop, member, url):
    Integrator.objects.filter(pk=shop.integrator.pk).update(name=SCRIPT)
    Seller.objects.filter(pk=shop.seller.pk).update(name=SCRIPT)
    Token.objects.filter(pk=shop.token.pk).update(created_by=SCRIPT, revoked_by=SCRIPT, revoked_at=timezone.now())
    PickupPointFactory.create(integrator=shop.integrator, name=SCRIPT)
    deliveries.cancel(delivery=shop.delivery, reason=SCRIPT, by=SCRIPT, at=timezone.now())

    for name, (method, arguments, _who) in PAGES.items():
        if method == "get" and name not in {"board", "board_routes", "webhook_test_result", "events_progress"}:
            assert SCRIPT not in member.get(address(name, shop, arguments)).content.decode()


def test_an_unknown_language_or_environment_is_no_page(shop, member):
    assert member.get(f"/panel/accounts/{shop.integrator.pk}/production/").status_code == 404
    response = member.post(reverse("set_language"), {"language": "xx", "next": "https://evil.example/"})
    assert response.url == "/"


def test_a_page_in_portuguese(shop, member, url):
    member.post(reverse("set_language"), {"language": "pt-br", "next": "/"})

    content = member.get(url("tokens")).content.decode()

    assert '<html lang="pt-br">' in content
    assert "Emitir um token" in content


def test_the_api_speaks_english_whatever_the_browser_wants(shop, client_of):
    response = client_of(shop.token).post("/api/quotation-delivery", {}, headers={"accept-language": "pt-BR"})

    assert "This field is required" in response.content.decode()
    assert "Content-Language" not in response.headers


def test_a_delivery_of_every_kind_has_a_page(shop, member, url):
    for traits in ({}, {"accepted": True}, {"collected": True}):
        delivery = DeliveryFactory.create(token=shop.token, **traits)
        assert str(delivery.pk) in member.get(url("delivery", delivery.pk)).content.decode()
    deliveries.cancel(delivery=delivery, reason="x", by=BY, at=timezone.now())

    content = member.get(url("delivery", delivery.pk)).content.decode()

    assert "Cancelled" in content
    assert "#4" in content  # the fourth event, beside the fourth change
