"""The dispatch board with its dialogs and messages: screenshots, axe-core, and how many routes are seen at once."""

from playwright.sync_api import expect

from tests.browser.board.routes import fill_board
from tests.browser.looks import FAULTS, weight
from tests.browser.waiting import frames

CHOSEN, DIALOG = ".route.chosen", "dialog[open]"


class Pictures:
    """Looks at one board. Not at two widths in turn: a board is opened at the width at which it is used."""

    def __init__(self, browser, name):
        self.browser, self.name, self.problems = browser, name, []

    def take(self, name, within="html"):
        """Look at the page, with axe-core at the part that no picture before has shown."""
        frames(self.browser.page)
        self.browser.shoot(f"{name}-{self.name}")
        size = self.browser.page.viewport_size
        found = [*self.browser.page.evaluate(FAULTS, [size["width"], size["height"]])]
        if self.name.startswith("pt-BR"):  # the markup is the same in both languages, and axe-core takes longest
            found += self.browser.findings(f"{name}-{self.name}", within)
        self.problems += [f"{name}-{self.name}: {each}" for each in found]


def test_a_board_with_its_dialogs(tab, people, shop):
    made = fill_board(shop, 34)
    people("dora", group="Dispatchers")

    problems = [
        look(tab(locale), made, locale, width) for locale, width in (("pt-BR", 1440), ("pt-BR", 390), ("en-US", 390))
    ]

    assert problems == [[], [], []]


def look(browser, made, locale, width):  # noqa: PLR0915  # one way through the board
    """What is wrong with a board of the routes that were made. Leaves them as they are."""
    accepted, collected = made[1], made[2]
    browser.log_in("dora")
    page, pictures = browser.page, Pictures(browser, f"{locale}-{width}")
    page.set_viewport_size({"width": width, "height": 900 if width > 820 else 844})
    browser.go("/panel/board/?environment=sandbox")
    page.locator("#nothing").wait_for()
    pictures.take("board-empty", "#list")
    browser.go("/panel/board/")
    page.locator(".route").nth(33).wait_for()
    pictures.take("board")
    pictures.problems += weight(page)
    heights = page.locator(".route").evaluate_all("cards => cards.map((card) => card.getBoundingClientRect().height)")
    whole = page.locator(".route").evaluate_all(
        "cards => cards.filter((card) => card.getBoundingClientRect().bottom <= innerHeight).length"
    )
    if width == 390:
        page.locator("[data-view=map]").click()
        pictures.take("board-map", "#board")
        page.locator("[data-view=list]").click()
    page.locator(f"#unfold-{collected.pk}").click()
    pictures.take("board-chosen", CHOSEN)
    page.locator(f"#fail-{collected.stops.get(index=0).pk}").click()
    page.locator("dialog[open]").wait_for()
    pictures.take("board-dialog", DIALOG)
    page.keyboard.press("Escape")
    page.locator(f"#cancel-{collected.pk}").click()
    page.locator("dialog[open] button.final").wait_for()
    pictures.take("board-cancel", DIALOG)
    page.keyboard.press("Escape")
    page.locator(f"#unfold-{accepted.pk}").click()
    page.locator(f"#reassign-{accepted.pk}").click()
    page.locator("dialog[open] #drivers").wait_for()
    pictures.take("board-reassign", DIALOG)
    page.keyboard.press("Escape")
    page.locator(f"#position-{accepted.pk}").click()
    page.locator("#picker:visible").wait_for()
    pictures.take("board-picker", ".board-map")
    page.keyboard.press("Escape")
    page.locator(".pick").nth(0).check()
    page.locator(".pick").nth(1).check()
    page.locator("#assign-picked").click()
    page.locator("#assign-form").wait_for()
    pictures.take("board-several", DIALOG)
    page.keyboard.press("Escape")
    page.locator("[data-view=drivers]" if width == 390 else "#show-drivers").click()
    page.locator(".duty").first.wait_for()
    pictures.take("board-drivers", "#on-duty")
    page.locator("[data-view=list]" if width == 390 else "#show-drivers").click()
    page.locator(f"#accept-{made[3].pk}").click()
    page.locator("dialog[open] #drivers").wait_for()
    pictures.take("board-assign", DIALOG)
    page.locator("dialog[open] button.prime").click()
    page.locator(".button.held").wait_for()
    pictures.problems += browser.complaints
    page.context.set_offline(True)
    page.locator("#offline:visible").wait_for()
    pictures.take("board-undo-offline", ".toasts")
    page.keyboard.press("Control+z")
    expect(page.locator(".held-move")).to_have_count(0)
    if max(heights) > 110 or whole < (7 if width == 1440 else 6):
        pictures.problems.append(f"{whole} cards are whole, of up to {max(heights)} px")
    return pictures.problems
