"""Forged requests, scripts in every text, headers that keep browsers in bounds."""

import re

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from delivery.actions import deliveries
from delivery.models import Delivery, Integrator, Token
from integration.models import Seller
from tests.access.rights_by_url import ROUTES
from tests.factories import PickupPointFactory
from tests.panel.conftest import address

SCRIPT = "<script>alert(1)</script>"
PAGES = [
    route
    for route, (get, _post) in ROUTES.items()
    if route.startswith("panel/") and get.endswith("+") and not route.endswith("export/")  # those are CSV files
]
SPAN = {"again_since": "2026-01-01T00:00:00+00:00", "again_until": "2026-01-02T00:00:00+00:00", "again_count": "1"}


def test_a_forged_post_is_refused_everywhere(world, person):
    browser = Client(enforce_csrf_checks=True)
    browser.force_login(person("superuser"))
    posts = [
        route for route, (_get, post) in ROUTES.items() if post.endswith("+") or (post[-1] == "N" and "panel/" in route)
    ]
    before = Token.objects.count(), Delivery.objects.get(pk=world["delivery"]).status

    taken = [route for route in posts if browser.post(address(route, world)).status_code != 403]

    assert taken == []
    assert (Token.objects.count(), Delivery.objects.get(pk=world["delivery"]).status) == before


def test_no_page_allows_inline_scripts_or_styles(member):
    policy = member.get("/panel/").headers["Content-Security-Policy"]

    assert "unsafe-inline" not in policy
    assert "unsafe-eval" not in policy
    assert "default-src 'none'" in policy


def test_no_page_has_any_inline_and_log_out_is_in_sight_on_each(world, as_role):
    browser = as_role("superuser")
    # Without photos and tiles.
    answers = {route: browser.get(address(route, world), SPAN) for route in PAGES}
    contents = {route: answer.getvalue().decode(errors="replace") for route, answer in answers.items()}
    pages = {route for route, content in contents.items() if "<html" in content}  # not parts of pages, and no files

    inline = {
        route: found
        for route, content in contents.items()
        if (found := re.findall(r"<script(?![^>]*(?:src=|application/json))[^>]*>|<style", content))
        or (found := re.findall(r"<[^>]+\s(style|on[a-z]+)=", content))
    }

    assert inline == {}
    assert {"panel/", "panel/board/", "panel/drivers/"} <= pages
    out = {route for route in pages if 'action="/account/logout/"' in contents[route]}
    assert pages - out == {"panel/scan/"}  # its script does it, and says first what is not sent yet


def test_scripts_in_every_text_stay_text(world, shop, member):
    Integrator.objects.filter(pk=shop.integrator.pk).update(name=SCRIPT)
    Seller.objects.filter(pk=shop.seller.pk).update(name=SCRIPT)
    Token.objects.filter(pk=shop.token.pk).update(created_by=SCRIPT, revoked_by=SCRIPT, revoked_at=timezone.now())
    PickupPointFactory.create(integrator=shop.integrator, name=SCRIPT)
    deliveries.cancel(delivery=shop.delivery, reason=SCRIPT, by=SCRIPT, at=timezone.now())

    for route in PAGES:
        if not route.startswith("panel/board/"):
            answer = member.get(address(route, world), SPAN)
            if answer["Content-Type"] != "application/pdf":
                assert SCRIPT not in answer.getvalue().decode()


@pytest.mark.parametrize("key", ["", "0", "x", "00000000-0000-0000-0000-000000000000"])
def test_an_account_that_does_not_exist_is_no_page(key, member):
    assert member.get(f"/panel/accounts/{key}/live/").status_code == 404


def test_an_unknown_language_or_environment_is_no_page(shop, member):
    assert member.get(f"/panel/accounts/{shop.integrator.pk}/production/").status_code == 404
    response = member.post(reverse("set_language"), {"language": "xx", "next": "https://evil.example/"})
    assert response.url == "/"


def test_a_count_of_more_digits_than_python_reads_is_no_range(shop, member, url):
    span = {"again_since": "2026-01-01T00:00:00+00:00", "again_until": "2026-01-02T00:00:00+00:00"}

    assert member.get(url("events_progress"), span | {"again_count": "1"}).status_code == 200
    assert member.get(url("events_progress"), span | {"again_count": "1" * 5000}).status_code == 404


def test_a_page_in_portuguese(shop, member, url):
    member.post(reverse("set_language"), {"language": "pt-br", "next": "/"})

    content = member.get(url("tokens")).content.decode()

    assert '<html lang="pt-br">' in content
    assert "Emitir um token" in content


def test_the_api_speaks_english_whatever_the_browser_wants(shop, client_of):
    response = client_of(shop.token).post("/api/quotation-delivery", {}, headers={"accept-language": "pt-BR"})

    assert "This field is required" in response.content.decode()
    assert "Content-Language" not in response.headers
