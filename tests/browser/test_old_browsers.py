"""Pages in the oldest browsers that work, whose missing functions `old_browsers.js` adds, and in one that is older."""

import re

import pytest
from playwright.sync_api import expect

from tests.browser.driver_app.conftest import open_phone
from tests.delivery.receivers.links import delivery, path_of
from tests.factories import DeliveryFactory

__all__ = ["open_phone"]
# What Chrome 88 and Safari 15.4 do not have, of what the scripts call.
WITHOUT = """
delete AbortSignal.timeout; delete window.structuredClone; delete Array.prototype.at; delete Array.prototype.findLast;
delete Object.hasOwn; delete Crypto.prototype.randomUUID; delete HTMLFormElement.prototype.requestSubmit;
delete Element.prototype.checkVisibility;
"""
OLDER = "delete Promise.any;"
NEEDED = re.compile("Needed are Chrome or Edge 88")


@pytest.fixture
def site(web_server):
    return web_server


class TestDriversPage:
    def test_works_in_the_oldest_browser(self, open_phone, shop):
        ana = open_phone(script=WITHOUT, on_duty=True)
        DeliveryFactory.create(token=shop, driver=ana.driver, accepted=True)

        ana.press("Collected")
        ana.confirm("Yes, collected")

        ana.page.get_by_role("button", name="Delivered", exact=True).wait_for()
        expect(ana.page.locator("#old-browser")).to_be_hidden()

    def test_says_what_an_older_one_lacks(self, open_phone):
        page = open_phone(script=OLDER).page

        expect(page.locator("#old-browser")).to_have_text(NEEDED)


class TestReceiversPage:
    @pytest.mark.parametrize(("script", "is_told"), [(WITHOUT, False), (OLDER, True)])
    def test_is_renewed_or_says_that_it_is_not(self, tab, script, is_told):
        browser = tab()
        browser.page.add_init_script(script)
        page = browser.go(path_of(delivery()))

        with page.expect_response(lambda answer: "/t/" in answer.url):
            page.evaluate("window.dispatchEvent(new Event('online'))")

        page.wait_for_load_state("networkidle")
        expect(page.locator("#offline")).to_be_hidden()
        expect(page.locator("#old-browser")).to_be_visible(visible=is_told)


class TestBoard:
    def test_has_its_routes_in_the_oldest_browser(self, tab, people, shop):
        people("dora", group="Dispatchers")
        browser, found = tab(), DeliveryFactory.create(token=shop)
        browser.page.add_init_script(WITHOUT)
        browser.log_in("dora")

        page = browser.go("/panel/board/")

        page.locator(f"#route-{found.pk}").get_by_role("button", name="Assign driver…").click()
        expect(page.locator("dialog[open]")).to_be_visible()
