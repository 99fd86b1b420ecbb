"""A page in one person's browser."""

import json
import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from django.conf import settings
from django.contrib.auth.models import User
from django.test import Client
from playwright.sync_api import BrowserContext, Page

PASSWORD = "a-good-password-1"  # pragma: allowlist secret  # of a test
WIDTHS = {"1440": (1440, 900), "390": (390, 844)}
SHOTS: Path = settings.BASE_DIR / "var" / "browser"
# htmx reports a request that a newer one replaces (hx-sync) as two errors. One that fails is htmx:sendError besides.
_ABORTED = ("htmx:afterRequest, ", "htmx:sendAbort, ")
_KEEPS_SCREENSHOTS = os.environ.get("SCREENSHOTS") != "0"


_AXE = Axe()
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
        if message.type in {"error", "warning"} and not message.text.startswith(_ABORTED):
            self.complaints.append(message.text)

    def go(self, path: str) -> Page:
        self.page.goto(f"{self.base}{path}")
        return self.page

    def log_in(self, name: str) -> None:
        """Give the browser a session. The page of the log-in has tests of its own."""
        client = Client()
        client.force_login(User.objects.get(username=name), backend=settings.AUTHENTICATION_BACKENDS[0])
        session = client.cookies[settings.SESSION_COOKIE_NAME].value
        self.page.context.add_cookies([{"name": settings.SESSION_COOKIE_NAME, "value": session, "url": self.base}])

    def shoot(self, name: str) -> None:
        """A screenshot of what is in the window, unless SCREENSHOTS=0."""
        if _KEEPS_SCREENSHOTS:
            self.page.screenshot(path=SHOTS / f"{name}.png")

    def findings(self, name: str, within: str = "html", *, only: str = "", **rules: bool) -> list[str]:
        """What axe-core finds wrong, WCAG 2.2 AA, and besides with these rules, in the elements with a selector.

        `only`: the one rule that is asked.
        """
        levels = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]
        # The rules that need style sheets to be fetched again are none of these levels.
        options: dict[str, Any] = {"runOnly": levels, "resultTypes": ["violations"], "preload": {"assets": ["media"]}}
        options["rules"] = {rule.replace("_", "-"): {"enabled": enabled} for rule, enabled in rules.items()}
        if only:
            options["runOnly"] = {"type": "rule", "values": [only]}
        # As a trusted script of the page's own world: the policy of the page allows no injected one. Not by `Axe.run`,
        # which also has Playwright hand over what is right, and that takes longer than axe-core itself.
        self.page.evaluate(_AXE.axe_script)
        violations = self.page.evaluate(
            "([within, options]) => axe.run(within, options).then((results) => results.violations)", [within, options]
        )
        if violations:
            (SHOTS / f"{name}-axe.json").write_text(json.dumps(violations, indent=2))
        return [f"{each['id']}: {node['html'][:160]}" for each in violations for node in each["nodes"]]
