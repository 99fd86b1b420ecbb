"""Staff bring in an integrator and a seller: with how many clicks, and what stands on the sheet."""

import pytest

from delivery.models import Integrator
from integration.models import Seller
from tests.browser.waiting import SECONDS
from tests.factories import TariffFactory

pytestmark = pytest.mark.django_db(transaction=True)


def test_staff_bring_in_an_integrator(tab, people, clicks, receiver, settings, locale, say):
    settings.WEBHOOK_ALLOW_LOOPBACK = True
    TariffFactory.create()
    people("paula", group="Account staff")
    browser, problems = tab(locale), []
    browser.log_in("paula")
    page = browser.page
    counted = clicks(page)

    page.get_by_role("link", name=say("Bring in an integrator")).click()
    page.fill("#id_name", "Padaria Sol")
    page.fill("#id_position", "-23.561414, -46.655881")
    page.locator("[data-pin] .point").wait_for()
    page.fill("#id_url", receiver.url)
    page.fill("#id_email", "ana@example.com")
    browser.keep(f"setup-new-{locale}")
    problems += browser.findings(f"setup-new-{locale}")
    page.get_by_role("button", name=say("Open the account")).click()
    page.locator("#test-result .card-head .badge.good").wait_for()
    browser.keep(f"setup-{locale}")
    problems += browser.findings(f"setup-{locale}")
    with page.expect_navigation():
        page.get_by_role("button", name=say("Open the access sheet")).click()
    browser.keep(f"setup-sheet-{locale}")
    problems += browser.findings(f"setup-sheet-{locale}")

    account = Integrator.objects.get(name="Padaria Sol")
    sheet = page.locator("main").inner_text()
    assert counted() == 3
    assert [token.clear_text in sheet for token in account.tokens.all()] == [True, True]
    assert [endpoint.secret in sheet for endpoint in account.endpoints.all()] == [True, True]
    assert account.pickup_points.count() == 1
    assert receiver.received.get(timeout=SECONDS)[0]["webhook-test"]
    assert problems == []
    assert browser.complaints == []


def test_the_set_up_goes_on_where_it_was_left(tab, people, locale, say):
    people("paula", group="Account staff")
    browser = tab(locale)
    browser.log_in("paula")
    page = browser.go("/panel/accounts/new/")
    page.fill("#id_name", "Padaria Sol")
    page.check("#id_allow_any_pickup")
    page.get_by_role("button", name=say("Open the account")).click()
    page.get_by_role("heading", name="Padaria Sol").wait_for()
    Integrator.objects.update(allow_any_pickup=False)

    page.reload()
    page.fill("#id_position", "-23.561414, -46.655881")
    page.locator("[data-pin] .point").wait_for()
    page.get_by_role("button", name=say("Save the pickup point")).click()
    page.locator("[data-pin]").wait_for(state="detached")

    assert Integrator.objects.get().pickup_points.count() == 1
    assert browser.complaints == []


def test_staff_bring_in_a_seller(tab, people, clicks, locale, say):
    people("paula", group="Account staff")
    browser = tab(locale)
    browser.log_in("paula")
    page = browser.page
    counted = clicks(page)

    page.get_by_role("link", name=say("Bring in a seller")).click()
    page.fill("#id_name", "Livraria Lua")
    page.fill("#id_documents", "11.222.333/0001-81")
    problems = browser.findings(f"seller-new-{locale}")
    page.get_by_role("button", name=say("Create the seller")).click()
    page.locator("#sheet-key").wait_for()
    browser.keep(f"seller-sheet-{locale}")
    problems += browser.findings(f"seller-sheet-{locale}")

    assert counted() == 2
    assert Seller.objects.get().keys.count() == 1
    assert problems == []
    assert browser.complaints == []
