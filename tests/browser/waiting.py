"""Waits with a bound, for what Playwright's own assertions do not wait for. The bounds are for a machine under load.

Playwright's `wait_for_function` is not for promises: each is true. It needs a function, because the pages' policy
forbids the evaluation of an expression.
"""

import time
from collections.abc import Callable
from typing import TypeVar

from playwright.sync_api import Page, Response

SECONDS = 40
# Of Playwright's waits.
MILLISECONDS = SECONDS * 1000
T = TypeVar("T")
# Observers of sizes are called once in each frame, so that after two frames all of them know of the change before.
_TWO_FRAMES = "() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))"

# What moves without an end is not waited for.
_NOTHING_MOVES = """() => document.getAnimations().every((each) =>
  each.playState !== "running" || each.effect.getComputedTiming().endTime === Infinity)"""


def until(page: Page, condition: Callable[[], T], *, seconds: float = SECONDS) -> T:
    """What the condition returns as soon as it is true. The page's events are handled meanwhile."""
    end = time.monotonic() + seconds
    while not (found := condition()):
        assert time.monotonic() < end, f"This did not come true within {seconds} s, but stayed {found!r}."
        page.wait_for_timeout(50)
    return found


def frames(page: Page) -> None:
    """Wait until the page has been laid out and painted as it is now, and what fades in or moves there has ended."""
    page.evaluate(_TWO_FRAMES)
    page.wait_for_function(_NOTHING_MOVES)


def resize(page: Page, columns: int, rows: int) -> None:
    """Give the window a size, and wait until the page is laid out for it and its scripts know."""
    page.set_viewport_size({"width": columns, "height": rows})
    page.wait_for_function("([columns, rows]) => innerWidth === columns && innerHeight === rows", arg=[columns, rows])
    page.evaluate(_TWO_FRAMES)


def shown(page: Page, answer: Response) -> None:
    """Wait until the page's scripts have worked off an answer."""
    answer.finished()
    page.evaluate(_TWO_FRAMES)


def reload_until(page: Page, selector: str) -> None:
    """Load the page again and again until it has such an element."""
    end = time.monotonic() + SECONDS
    while not page.locator(selector).count():
        assert time.monotonic() < end, f"{page.url} has no {selector}"
        page.wait_for_timeout(250)
        page.reload()


def copied(page: Page, part: str) -> str:
    """The text in the clipboard, as soon as it has this part: a page's script writes it after the click."""

    def read() -> str:
        text: str = page.evaluate("navigator.clipboard.readText()")
        return text if part in text else ""

    return until(page, read)


# Counts what the page's streams have told, by the names of events.
COUNT_EVENTS = """
window.heard = {};
const Real = EventSource;
window.EventSource = class extends Real {
  constructor(address) {
    super(address);
    for (const name of ["ready", "content", "message"]) {
      this.addEventListener(name, () => setTimeout(() => { heard[name] = (heard[name] ?? 0) + 1; }));
    }
  }
};
"""
