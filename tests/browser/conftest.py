"""A real Chromium against a real server, with workers that really send. Screenshots and findings go to var/browser."""

import json
import os
import shutil
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from queue import Queue
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from django.conf import settings
from django.contrib.auth.models import Group, User
from django.core.cache import cache
from django.utils import translation
from django.utils.translation import gettext
from playwright.sync_api import Browser, BrowserContext, Page, sync_playwright

from delivery.models import Environment, WebhookEndpoint
from delivery.webhooks import dispatch
from tests.factories import TariffFactory, TokenFactory
from tests.integration.factories import SellerFactory

PASSWORD = "a-good-password-1"  # pragma: allowlist secret  # of a test
WIDTHS = {"1440": (1440, 900), "390": (390, 844)}
SHOTS: Path = settings.BASE_DIR / "var" / "browser"
_KEEPS_SCREENSHOTS = os.environ.get("SCREENSHOTS") != "0"
_CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
_FLAGS = [
    "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync", "--disable-dev-shm-usage",
]  # fmt: skip  # a list


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if "tests/browser" in str(item.path):
            item.add_marker(pytest.mark.timeout(180))
            if _CHROMIUM is None:
                if os.environ.get("NOTHING_SKIPS"):
                    raise pytest.UsageError("No Chromium was found, and here nothing may be skipped.")
                item.add_marker(pytest.mark.skip(reason="No Chromium found: install Debian's package `chromium`."))


@pytest.fixture(scope="module")
def chromium() -> Iterator[Browser]:
    """A browser for each module. Its driver's event loop runs in the thread of the tests, so it must not outlive them.

    Django takes that loop for asynchronous code, which these tests are not.
    """
    SHOTS.mkdir(parents=True, exist_ok=True)
    with pytest.MonkeyPatch.context() as patch, sync_playwright() as playwright:
        patch.setenv("DJANGO_ALLOW_ASYNC_UNSAFE", "true")
        browser = playwright.chromium.launch(executable_path=_CHROMIUM, args=_FLAGS)
        yield browser
        browser.close()


@pytest.fixture(autouse=True)
def _fresh_counts(transactional_db: None) -> Iterator[None]:
    cache.clear()
    yield
    dispatch.stop(seconds=20)
    dispatch._thread = None


@pytest.fixture(autouse=True)
def _sends(monkeypatch: pytest.MonkeyPatch) -> None:
    """What a worker would do when it is woken, in this process."""
    monkeypatch.setattr("delivery.webhooks.wake_up.send", dispatch.wake)


@pytest.fixture
def people(transactional_db: None) -> Callable[..., User]:
    """Make a person who can log in: `group` names a role, `account` and `seller` what they are a member of."""

    def make(name: str, *, group: str = "", account: Any = None, seller: Any = None, superuser: bool = False) -> User:
        user = User.objects.create_user(name, password=PASSWORD, is_staff=bool(group) or superuser)
        user.is_superuser = superuser
        user.save()
        if group:
            user.groups.add(Group.objects.get(name=group))
        if account:
            account.members.add(user)
        if seller:
            seller.members.add(user)
        return user

    return make


@pytest.fixture
def shop(transactional_db: None) -> Any:
    """A live token of a shop with a tariff."""
    TariffFactory.create()
    return TokenFactory.create(integrator__name="Padaria Sol")


@pytest.fixture
def seller(transactional_db: None) -> Any:
    return SellerFactory.create(name="Livraria Lua")


@pytest.fixture
def endpoint(shop: Any) -> WebhookEndpoint:
    return WebhookEndpoint.objects.get(integrator=shop.integrator, environment=Environment.LIVE)


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
        for width, (columns, rows) in WIDTHS.items():
            self.page.set_viewport_size({"width": columns, "height": rows})
            if _KEEPS_SCREENSHOTS:
                self.page.wait_for_timeout(150)
                self.page.screenshot(path=SHOTS / f"{name}-{width}.png")
            overflow = self.page.evaluate("document.documentElement.scrollWidth - window.innerWidth")
            assert overflow <= 0, f"{name} is {overflow} px too wide at {width}"
        self.page.set_viewport_size({"width": 1440, "height": 900})

    def findings(self, name: str) -> list[str]:
        """What axe-core finds wrong, WCAG 2.2 AA."""
        options = {"runOnly": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]}
        # As a trusted script of the page's own world: the policy of the page allows no injected one.
        violations = Axe().run(self.page, options=options).response["violations"]
        if violations:
            (SHOTS / f"{name}-axe.json").write_text(json.dumps(violations, indent=2))
        return [f"{each['id']}: {node['html'][:160]}" for each in violations for node in each["nodes"]]


@pytest.fixture
def tab(chromium: Browser, live_server: Any, request: pytest.FixtureRequest) -> Iterator[Callable[..., Tab]]:
    """Open a browser of one's own; `locale` is its language."""
    contexts = []

    def make(locale: str = "en-US") -> Tab:
        context = chromium.new_context(viewport={"width": 1440, "height": 900}, locale=locale)
        context.grant_permissions(["clipboard-read", "clipboard-write"], origin=live_server.url)
        context.set_default_timeout(15_000)
        contexts.append(context)
        return Tab(context, live_server.url)

    yield make
    for number, context in enumerate(contexts):
        for page in context.pages:  # how each test left it, for whoever reads a failure
            page.screenshot(path=SHOTS / f"last-{request.node.name[:60]}-{number}.png")
        context.close()


class Receiver:
    """An integrator's endpoint on loopback. `status` is what it answers with."""

    def __init__(self) -> None:
        self.received: Queue[tuple[dict[str, str], bytes]] = Queue()
        self.status = 204
        receiver = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:  # the server's name for it
                body = self.rfile.read(int(self.headers["Content-Length"]))
                receiver.received.put(({name.lower(): value for name, value in self.headers.items()}, body))
                self.send_response(receiver.status)
                self.send_header("Content-Length", "0")
                self.end_headers()

            def log_message(self, *_arguments: Any) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_port}/rota"
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    it = Receiver()
    yield it
    it.close()


@pytest.fixture(params=["en-US", "pt-BR"])
def locale(request):
    return request.param


@pytest.fixture
def say(locale):
    """A text of the pages in the browser's language."""

    def words(text):
        with translation.override(locale.lower()):
            return gettext(text)

    return words
