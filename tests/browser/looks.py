"""What is wrong with how a page looks, at both widths, and what axe-core finds."""

from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Page

from tests.browser.tab import WIDTHS, Tab

_SIZES = {**WIDTHS, "360": (360, 740)}  # the last is a small phone's
# English texts are shorter, so that what is too wide is so on a phone.
WIDTHS_OF = {"en-US": ("390",), "pt-BR": ("1440", "390")}
IN_BOTH_LANGUAGES = pytest.mark.parametrize("walk", WIDTHS_OF, indirect=True)
# What is wrong with the page at a width, as soon as it is laid out for it.
FAULTS = """async ([columns, rows]) => {
  const frame = () => new Promise((done) => requestAnimationFrame(done));
  while (innerWidth !== columns || innerHeight !== rows) await frame();
  await frame();  // observers of sizes are called once in each frame
  await frame();
  const found = [];

  const over = document.documentElement.scrollWidth - innerWidth;
  if (over > 0) found.push(`the page is ${over} px too wide`);

  // Elements that can be seen, but not within the window and within what scrolls or cuts them off.
  const edgeOf = (element) => {
    const boxes = [];
    for (let each = element.parentElement; each; each = each.parentElement) {
      if (getComputedStyle(each).overflowX !== "visible") boxes.push(each.getBoundingClientRect().right);
    }
    return Math.min(innerWidth, ...boxes);
  };
  const pressed = "main :is(a, button, .badge, input, select):not(.unseen, .leaflet-container *)";
  for (const element of location.pathname.startsWith("/admin/") ? [] : document.querySelectorAll(pressed)) {
    if (!element.checkVisibility({ visibilityProperty: true }) || element.closest(".unseen, pre")) continue;
    const { left, right } = element.getBoundingClientRect();
    if (left < 0 || right > edgeOf(element) + 1) {
      found.push(`beyond the edge: ${element.textContent.trim() || element.outerHTML}`);
    }
  }

  // Words of the admin's cells and headings that are written in more than one line. An id or a URL without a place to
  // break may be: such words are longer than 24 characters.
  for (const cell of document.querySelectorAll("#result_list th, #result_list td, .tabular td, .tabular th")) {
    const texts = document.createTreeWalker(cell, NodeFilter.SHOW_TEXT);
    while (texts.nextNode()) {
      for (const word of texts.currentNode.data.matchAll(/[^\\s-]{2,24}(?![^\\s-])/g)) {
        const range = document.createRange();
        range.setStart(texts.currentNode, word.index);
        range.setEnd(texts.currentNode, word.index + word[0].length);
        const tops = new Set([...range.getClientRects()].map((box) => Math.round(box.top)));
        if (tops.size > 1) found.push(`broken word: ${word[0]}`);
      }
    }
  }
  return found;
}"""


# Of our scripts and styles that a page loads, as they are stored. Files of packages are in the other folders.
_MOST_BYTES = 107_000
_OWN_BYTES = """() => performance.getEntriesByType("resource")
  .filter(({ name }) => /\\/static\\/(?!npm|admin|unfold|import_export).*\\.(js|css)$/.test(name))
  .reduce((sum, { decodedBodySize }) => sum + decodedBodySize, 0)"""


def weight(page: Page) -> list[str]:
    """Whether the page has loaded too much of our own, as faults."""
    size = page.evaluate(_OWN_BYTES)
    assert size, "No script or style was counted."
    return [f"{size} bytes of our scripts and styles"] if size > _MOST_BYTES else []


class Walk:
    """A person's way over pages in one language. Remembers what is wrong with them, and shoots each at its widths."""

    def __init__(self, browser: Tab, locale: str, widths: tuple[str, ...]) -> None:
        self.browser, self.locale, self.widths = browser, locale, widths
        self.problems: list[str] = []

    @property
    def page(self) -> Page:
        return self.browser.page

    def look(self, name: str) -> None:
        """Look at the page as it is now, which afterwards has the last of the widths."""
        self.page.wait_for_load_state()  # a click does not wait for the page that it opens
        found = []
        for width in self.widths:
            columns, rows = _SIZES[width]
            if self.page.viewport_size != {"width": columns, "height": rows}:
                self.page.set_viewport_size({"width": columns, "height": rows})
            found += [f"at {width}, {fault}" for fault in self.page.evaluate(FAULTS, [columns, rows])]
            self.browser.shoot(f"{name}-{self.locale}-{width}")
        self.widths = self.widths[::-1]  # the next page begins with the width of this one
        found += weight(self.page)
        if self.locale == "pt-BR":  # the markup is the same in both languages, and axe-core takes longest
            found += self.browser.findings(name)
        # The status of a page that is missing or refused is noted in the console too.
        found += [each for each in self.browser.complaints if "the server responded with a status of 4" not in each]
        self.browser.complaints.clear()
        self.problems += [f"{name}: {each}" for each in found]

    def go(self, path: str) -> Page:
        return self.browser.go(path)

    def over(self, pages: Mapping[str, str], *, status: int = 200) -> None:
        """Look at the pages with these names and paths."""
        for name, path in pages.items():
            response: Any = self.page.goto(f"{self.browser.base}{path}")
            assert response.status == status, f"{path} answers {response.status}"
            assert urlsplit(self.page.url).path.startswith(urlsplit(path).path), f"{path} leads to {self.page.url}"
            self.look(name)
