"""The dispatch board with its dialogs and messages: screenshots, axe-core, and how many routes are seen at once."""

import pytest

from tests.browser.dispatch import fill_board

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def site(web_server):
    return web_server


class Pictures:
    """Screenshots of one board, and what axe-core finds."""

    def __init__(self, browser, locale):
        self.browser, self.locale, self.problems = browser, locale, []

    def take(self, name):
        # Not at two widths in turn: a board is opened at the width at which it is used.
        width = self.browser.page.viewport_size["width"]
        self.browser.page.wait_for_timeout(400)
        self.browser.shoot(f"{name}-{self.locale}-{width}")
        if self.locale == "pt-BR" or name == "board-dialog":  # the markup is the same in both languages
            self.problems += [f"{name}: {finding}" for finding in self.browser.findings(f"{name}-{self.locale}")]


@pytest.fixture
def board(tab, people, shop, locale):
    """Opens the board at a width, as a dispatcher."""
    people("dora", group="Dispatchers")
    browser = tab(locale)
    browser.log_in("dora")

    def open_(width=1440):
        browser.page.set_viewport_size({"width": width, "height": 900 if width > 820 else 844})
        browser.go("/panel/board/")
        browser.page.locator(".route").first.wait_for()
        return Pictures(browser, locale)

    return open_


@pytest.mark.parametrize("width", [1440, 390])
def test_a_board_with_its_dialogs(board, shop, width, say):
    made = fill_board(shop)
    accepted, collected = made[1], made[2]
    pictures = board(width)
    page = pictures.browser.page
    pictures.take("board")
    if width == 390:
        page.locator("[data-view=map]").click()
        pictures.take("board-map")
        page.locator("[data-view=list]").click()
    page.locator(f"#unfold-{collected.pk}").click()
    pictures.take("board-chosen")
    page.locator(f"#fail-{collected.stops.get(index=0).pk}").click()
    page.locator("dialog[open]").wait_for()
    pictures.take("board-dialog")
    page.keyboard.press("Escape")
    page.locator(f"#cancel-{collected.pk}").click()
    page.get_by_role("heading", name=say("Cancel this delivery?")).wait_for()
    pictures.take("board-cancel")
    page.keyboard.press("Escape")
    page.locator(f"#unfold-{accepted.pk}").click()
    page.locator(f"#reassign-{accepted.pk}").click()
    page.locator("dialog[open] #drivers").wait_for()
    pictures.take("board-reassign")
    page.keyboard.press("Escape")
    page.locator(f"#position-{accepted.pk}").click()
    page.locator("#picker:visible").wait_for()
    pictures.take("board-picker")
    page.keyboard.press("Escape")
    page.locator(f"#accept-{made[3].pk}").click()
    page.locator("dialog[open] #drivers").wait_for()
    pictures.take("board-assign")
    page.locator("dialog[open] button.prime").click()
    page.locator("#board-message .success").wait_for()
    page.locator(f"#collect-{made[3].pk}").click()
    page.locator(".button.held").wait_for()
    pictures.take("board-undo")
    page.context.set_offline(True)
    page.locator("#offline:visible").wait_for()
    pictures.take("board-offline")
    page.context.set_offline(False)
    page.locator("#offline").wait_for(state="hidden")

    assert pictures.problems == []
    overflow = page.evaluate("document.documentElement.scrollWidth - innerWidth")
    assert overflow <= 0


@pytest.mark.parametrize("width", [1440, 390])
def test_a_board_with_thirty_four_routes(board, shop, width):
    fill_board(shop, 34)
    pictures = board(width)
    page = pictures.browser.page
    pictures.take("board-34")

    heights = page.locator(".route").evaluate_all("cards => cards.map((card) => card.getBoundingClientRect().height)")
    whole = page.locator(".route").evaluate_all(
        "cards => cards.filter((card) => card.getBoundingClientRect().bottom <= innerHeight).length"
    )
    assert max(heights) <= 110
    assert whole >= (7 if width == 1440 else 6)
    assert pictures.problems == []


def test_an_empty_board(tab, people, locale):
    people("dora", group="Dispatchers")
    browser = tab(locale)
    browser.log_in("dora")
    browser.go("/panel/board/?environment=sandbox")
    browser.page.locator("#nothing").wait_for()
    browser.keep(f"board-empty-{locale}")

    assert browser.findings(f"board-empty-{locale}") == []
    assert browser.complaints == []
