"""A page in one person's browser."""

import json
import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from django.conf import settings
from playwright.sync_api import BrowserContext, Page

PASSWORD = "a-good-password-1"  # pragma: allowlist secret  # of a test
WIDTHS = {"1440": (1440, 900), "390": (390, 844)}
SHOTS: Path = settings.BASE_DIR / "var" / "browser"
_KEEPS_SCREENSHOTS = os.environ.get("SCREENSHOTS") != "0"


FAILED = pytest.StashKey[bool]()


def close(contexts: Iterable[BrowserContext], *, of: pytest.Item) -> None:
    """Close a test's browsers. Keeps a screenshot of each page as a test left it that has failed."""
    for number, context in enumerate(contexts):
        for page in context.pages if of.stash.get(FAILED, False) else []:
            page.screenshot(path=SHOTS / f"last-{of.name[:60]}-{number}.png")
        context.close()


class Tab:
    """A page in one person's browser. Collects what the console complains of."""

    def __init__(self, context: BrowserContext, base: str) -> None:
        self.page: Page = context.new_page()
        self.base = base
        self.complaints: list[str] = []
        self.page.on("console", self._hear)
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))

    def _hear(self, message: Any) -> None:
        if message.type in {"error", "warning"}:
            self.complaints.append(message.text)

    def go(self, path: str) -> Page:
        self.page.goto(f"{self.base}{path}")
        return self.page

    def log_in(self, name: str) -> None:
        self.go("/account/login/")
        self.page.fill("#id_login", name)
        self.page.fill("#id_password", PASSWORD)
        self.page.click("main button.prime")
        self.page.wait_for_url("**/panel/**")

    def keep(self, name: str) -> None:
        """Screenshots at both widths, unless SCREENSHOTS=0. Fails where the page is wider than its window."""
        self.page.wait_for_load_state()  # a click does not wait for the page that it opens
        for width, (columns, rows) in WIDTHS.items():
            self.page.set_viewport_size({"width": columns, "height": rows})
            if _KEEPS_SCREENSHOTS:
                self.page.wait_for_timeout(150)
            self.shoot(f"{name}-{width}")
            overflow = self.page.evaluate("document.documentElement.scrollWidth - window.innerWidth")
            assert overflow <= 0, f"{name} is {overflow} px too wide at {width}"
        self.page.set_viewport_size({"width": 1440, "height": 900})

    def shoot(self, name: str) -> None:
        """A screenshot of what is in the window, unless SCREENSHOTS=0."""
        if _KEEPS_SCREENSHOTS:
            self.page.screenshot(path=SHOTS / f"{name}.png")

    def findings(self, name: str) -> list[str]:
        """What axe-core finds wrong, WCAG 2.2 AA."""
        options = {"runOnly": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]}
        # As a trusted script of the page's own world: the policy of the page allows no injected one.
        violations = Axe().run(self.page, options=options).response["violations"]
        if violations:
            (SHOTS / f"{name}-axe.json").write_text(json.dumps(violations, indent=2))
        return [f"{each['id']}: {node['html'][:160]}" for each in violations for node in each["nodes"]]
