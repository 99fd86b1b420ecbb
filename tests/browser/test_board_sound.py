"""New offers are heard on the dispatch board and announced in its title, in a browser."""

import re

import pytest
from playwright.sync_api import expect

from tests.browser.dispatch import open_board
from tests.factories import DeliveryFactory

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def site(web_server):
    return web_server


# Counts the tones.
LISTEN = """
window.tones = 0;
const Real = AudioContext;
window.AudioContext = class extends Real {
  createOscillator() { tones += 1; return super.createOscillator(); }
};
"""


class TestSound:
    def test_is_heard_for_a_new_offer_once_it_is_switched_on(self, tab, people, shop):
        DeliveryFactory.create(token=shop)
        people("dora", group="Dispatchers")
        browser = tab()
        browser.page.add_init_script(LISTEN)
        browser.log_in("dora")
        page = browser.go("/panel/board/")
        page.locator(".route").wait_for()
        DeliveryFactory.create(token=shop)
        page.locator(".route").nth(1).wait_for()
        assert page.evaluate("tones") == 0

        page.locator("#sound").click()
        page.wait_for_function("() => tones === 1")  # how it sounds
        expect(page.locator("#sound")).to_have_attribute("aria-pressed", "true")
        expect(page.locator("#sound")).to_have_attribute("title", re.compile("^Sound is on"))
        DeliveryFactory.create(token=shop)
        page.locator(".route").nth(2).wait_for()

        page.wait_for_function("() => tones === 2")
        page.locator("#sound").click()
        DeliveryFactory.create(token=shop)
        page.locator(".route").nth(3).wait_for()
        assert page.evaluate("tones") == 2
        assert browser.complaints == []


def test_a_new_offer_is_announced_in_the_title(tab, people, shop):
    page = open_board(tab, people).page
    page.locator("#nothing").wait_for()
    assert page.title().startswith("Dispatch board")

    DeliveryFactory.create(token=shop)

    expect(page).to_have_title(re.compile(r"\(1\) Dispatch board"))
