"""The reports at both widths and in both languages, with deliveries of every ending."""

from datetime import timedelta

import pytest
from django.utils import timezone
from playwright.sync_api import expect

from delivery.lifecycle import Ending
from tests.browser.test_pages import look
from tests.delivery.ended import Ended, insert
from tests.factories import DeliveryFactory, DriverFactory

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def today(shop):
    """Deliveries of two accounts and two drivers, of today and the last days. Returns today."""
    now = timezone.now()
    own = DeliveryFactory.create(token=shop)
    other = DeliveryFactory.create(token__integrator__name="Farmácia Estrela da Manhã de Pinheiros")
    ana, bruno = DriverFactory.create(name="Ana Lima"), DriverFactory.create(name="Bruno Reis")
    for pattern, driver, factor in ((own, ana, 1), (own, bruno, 70), (other, bruno, 3)):
        rows = [
            Ended(now - timedelta(days=days), ending, price=pattern.shipping_value * factor * (days + 1))
            for days in range(4)
            for ending in Ending
        ]
        insert(pattern, *rows, driver=driver)
    return timezone.localdate(now)


@pytest.mark.parametrize("locale", ["en-US", "pt-BR"])
def test_pages_of_reports(tab, people, shop, today, locale, settings):
    settings.DRIVER_SHARE_PERCENT = 70.0
    people("sara", group="Account staff")
    base = f"/panel/accounts/{shop.integrator.pk}/live/report/"
    period = f"?since={today - timedelta(days=20)}&until={today}"
    pages = {
        "report-of-all": f"/panel/reports/{period}",
        "report": f"{base}{period}",
        "report-year": f"{base}?since={today - timedelta(days=300)}&until={today}",
        "report-deliveries": f"{base}deliveries/{period}",
        "report-wrong": f"{base}?since={today}&until={today - timedelta(days=1)}",
        "report-empty": f"{base}?since=2020-01-01&until=2020-01-31",
    }
    browser = tab(locale)
    browser.log_in("sara")
    problems: list[str] = []
    for name, path in pages.items():
        browser.go(path)
        look(browser, f"{name}-{locale}", problems)

    assert problems == []
    assert browser.complaints == []


def test_leads_from_all_accounts_to_a_delivery_and_its_file(tab, people, shop, today):
    people("sara", group="Account staff")
    browser = tab()
    browser.log_in("sara")
    page = browser.go(f"/panel/reports/?since={today - timedelta(days=20)}&until={today}")

    page.get_by_role("link", name="Padaria Sol").click()
    page.get_by_role("link", name=f"{today:%-d %b %Y}", exact=True).click()
    with page.expect_download() as download:
        page.get_by_role("link", name="Export as CSV").click()

    lines = download.value.path().read_text().splitlines()
    assert len(lines) == 1 + 2 * len(Ending)
    expect(page.locator("tbody tr")).to_have_count(2 * len(Ending))
