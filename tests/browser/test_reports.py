"""From the report of all accounts to the deliveries of a day and their file."""

from datetime import timedelta

import pytest
from playwright.sync_api import expect

from delivery.lifecycle import Ending
from tests.browser.test_pages import report

pytestmark = pytest.mark.django_db(transaction=True)


def test_leads_from_all_accounts_to_a_delivery_and_its_file(tab, people, shop):
    today = report(shop)
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
