"""Every page at both widths, in both languages: no console error or overflow, and in one no axe-core violation."""

import pytest
from django.utils import timezone
from playwright.sync_api import expect
from rest_framework.test import APIClient

from common.rate_limit import limiter
from delivery.models import Integrator, RefusedDeliveryCall, WebhookEvent
from documentation import pages
from integration.actions import keys
from integration.models import RefusedSellerCall
from tests.browser import shop_history
from tests.browser.waiting import copied
from tests.factories import BY, TariffFactory, TokenFactory, payload
from tests.integration.factories import order_body

pytestmark = pytest.mark.django_db(transaction=True)
LOCALES = ["en-US", "pt-BR"]


def refuse_calls(token, key):
    """Have calls of both areas refused. Returns the newest of each."""
    of_a = APIClient(HTTP_AUTHORIZATION=f"Bearer {token.clear_text}")
    of_a.get("/api/info-delivery/0190b5a0-7c3e-7d5a-9f00-000000000001")
    Integrator.objects.update(rate_limit_per_hour=1)
    of_a.get("/api/info-delivery/0190b5a0-7c3e-7d5a-9f00-000000000001")
    of_a.get("/api/info-delivery/0190b5a0-7c3e-7d5a-9f00-000000000001")
    Integrator.objects.update(rate_limit_per_hour=None)
    limiter.cache_clear()
    of_a.post("/api/request-delivery", {**payload(stops=3), "vehicleType": "TRUCK"}, format="json")
    of_b = APIClient(HTTP_AUTHORIZATION=f"Basic {key}")
    of_b.post("/api/integration/orders", order_body(service="slow"), format="json")
    return RefusedDeliveryCall.objects.latest("created_at"), RefusedSellerCall.objects.latest("created_at")


def look(browser, name, problems):
    browser.keep(name)
    if not name.endswith("en-US"):  # the markup is the same in both languages, and axe-core takes longest
        problems += [f"{name}: {finding}" for finding in browser.findings(name)]


@pytest.mark.parametrize("locale", LOCALES)
def test_pages_of_an_account(tab, people, shop, seller, busy, locale):
    people("maria", account=shop.integrator, seller=seller)
    key = keys.issue(seller=seller, by=BY, at=timezone.now()).clear_text
    base = f"/panel/accounts/{shop.integrator.pk}/live/"
    of_sandbox = TokenFactory.create(integrator=shop.integrator, sandbox=True)
    simulated = shop_history.collected(of_sandbox)
    dead = WebhookEvent.objects.filter(state="dead").latest("pk")
    of_token, of_key = refuse_calls(shop, key)
    pages = {
        "home": "/panel/",
        "overview": base,
        "deliveries": f"{base}deliveries/",
        "delivery": f"{base}deliveries/{busy.pk}/",
        "delivery-sandbox": f"{base.replace('live', 'sandbox')}deliveries/{simulated.pk}/",
        "events": f"{base}events/",
        "event": f"{base}events/{dead.pk}/",
        "webhook": f"{base}webhook/",
        "tokens": f"{base}tokens/",
        "token": f"{base}tokens/{shop.pk}/",
        "quickstart": f"{base}quickstart/",
        "alerts": f"{base}alerts/",
        "team": f"{base}team/",
        "activity": f"{base}activity/",
        "refused-calls": f"{base}refused-calls/",
        "refused-call": f"{base}refused-calls/{of_token.pk}/",
        "seller-refused-calls": f"/panel/sellers/{seller.pk}/refused-calls/",
        "seller-refused-call": f"/panel/sellers/{seller.pk}/refused-calls/{of_key.pk}/",
        "seller": f"/panel/sellers/{seller.pk}/",
        "seller-team": f"/panel/sellers/{seller.pk}/team/",
        "seller-quickstart": f"/panel/sellers/{seller.pk}/quickstart/",
        "two-factor": "/account/two-factor/",
        "two-factor-app": "/account/two-factor/app/",
        "password": "/account/password/",
        "missing": "/panel/nowhere/",
    }
    browser = tab(locale)
    browser.go("/account/login/")
    problems: list[str] = []
    look(browser, f"login-{locale}", problems)
    browser.log_in("maria")
    for name, path in pages.items():
        browser.go(path)
        look(browser, f"{name}-{locale}", problems)

    assert problems == []
    assert [each for each in browser.complaints if "404" not in each] == []  # the 404 page itself is requested


@pytest.mark.parametrize("locale", LOCALES)
def test_pages_of_a_new_account_say_what_to_do(tab, people, shop, seller, locale):
    shop.integrator.tokens.update(revoked_at=timezone.now(), revoked_by=BY)
    people("maria", account=shop.integrator, seller=seller)
    base = f"/panel/accounts/{shop.integrator.pk}/live/"
    browser = tab(locale)
    problems: list[str] = []
    browser.log_in("maria")
    for name in ("", "deliveries/", "events/", "tokens/", "webhook/", "refused-calls/"):
        browser.go(base + name)
        look(browser, f"empty-{name.strip('/') or 'overview'}-{locale}", problems)
    browser.go(f"/panel/sellers/{seller.pk}/")
    look(browser, f"empty-seller-{locale}", problems)

    assert problems == []
    assert browser.complaints == []


@pytest.mark.parametrize("locale", LOCALES)
def test_the_documentation_without_a_log_in(tab, locale):
    browser = tab(locale)
    problems: list[str] = []
    for name in sorted(pages.NAMES):
        browser.go(pages.url(name))
        look(browser, f"docs-{name or 'first'}-{locale}", problems)
    browser.go("/docs/errors/rate_limited")
    look(browser, f"docs-error-{locale}", problems)

    assert problems == []
    assert browser.complaints == []


def test_an_example_of_the_documentation_is_copied(tab):
    page = tab().go(pages.url("orders"))

    page.evaluate("window.setTimeout = () => 0")  # the word stays

    page.locator("[data-copy]").first.click()

    expect(page.locator("[data-copy]").first).to_have_text("Copied")
    start = 'curl -s "$BASE_URL/api/integration/shipping/quote"'
    assert copied(page, start).startswith(start)


class TestReference:
    """Swagger UI runs under the service's content security policy. Its own accessibility is not tested here."""

    def send_quote(self, browser, token):
        page = browser.go("/docs/reference")
        page.locator("button.authorize").click()
        page.locator(".auth-container input").last.fill(token)
        page.locator(".auth-btn-wrapper button.authorize").last.click()
        page.locator("button.btn-done").last.click()
        page.locator("#operations-Immediate_delivery-quotation-delivery .opblock-summary-control").click()
        page.locator("button.execute").click()
        return page

    def test_sends_a_call_with_a_test_token(self, tab):
        TariffFactory.create()
        token = TokenFactory.create(sandbox=True)
        browser = tab()

        page = self.send_quote(browser, token.clear_text)

        page.locator(".live-responses-table .response-col_status", has_text="200").wait_for()
        browser.keep("docs-reference")
        assert browser.complaints == []

    def test_sends_nothing_with_a_live_token(self, tab):
        browser, sent = tab(), []
        browser.page.on("request", lambda request: sent.append(request.url))

        page = self.send_quote(browser, "rota_live_" + "x" * 43)

        page.get_by_text("Calls with a live token are not sent from this page.").wait_for()
        assert [url for url in sent if url.endswith("/api/quotation-delivery")] == []
