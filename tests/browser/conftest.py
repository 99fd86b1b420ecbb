"""A real Chromium against a real server, with workers that really send. Screenshots and findings go to var/browser."""

import asyncio
import os
import shutil
from collections.abc import Callable, Generator, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import Group, User
from django.contrib.staticfiles.handlers import StaticFilesHandler
from django.core.cache import cache
from django.db import connection
from playwright.sync_api import Browser, BrowserType, Page, expect, sync_playwright

from common import connections
from common.pages.page_updates import Message, publish
from common.webhooks.sender import BackgroundSender
from delivery.models import Environment, WebhookEndpoint
from delivery.webhooks.outbox import OUTBOX
from tests import programs
from tests.browser import quiet_database, shop_history
from tests.browser.looks import WIDTHS_OF, Walk
from tests.browser.tab import FAILED, PASSWORD, SHOTS, WIDTHS, Tab, close
from tests.browser.waiting import MILLISECONDS, SECONDS
from tests.common.webhooks.conftest import sink
from tests.config.server.stream_client import granian
from tests.factories import PICKUP, TariffFactory, TokenFactory
from tests.integration.factories import SellerFactory
from tests.panel import archives

__all__ = ["sink"]
SENDER = BackgroundSender(OUTBOX)
WHOLE = "chromium"
FLAGS = [
    "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync", "--disable-dev-shm-usage",
]  # fmt: skip  # a list

expect.set_options(timeout=MILLISECONDS)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if "tests/browser" in str(item.path):
            item.add_marker(pytest.mark.timeout(180))
            if reason := programs.missing(WHOLE):
                if programs.is_needed():
                    raise pytest.UsageError(reason)
                item.add_marker(pytest.mark.skip(reason=reason))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    if report.failed:
        item.stash[FAILED] = True
    return report


@pytest.fixture(scope="module", autouse=True)
def _patient() -> Iterator[None]:
    """On a slow machine no message to a page is lost."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(connections, "REDIS_SECONDS", SECONDS)
        connections.redis.cache_clear()
        yield
    connections.redis.cache_clear()


@pytest.fixture(scope="session")
def _driver() -> Iterator[tuple[BrowserType, asyncio.AbstractEventLoop]]:
    """What starts browsers, and its event loop, which is in the thread of the tests."""
    SHOTS.mkdir(parents=True, exist_ok=True)
    with sync_playwright() as playwright:
        loop = asyncio.get_running_loop()
        asyncio._set_running_loop(None)
        yield playwright.chromium, loop
        asyncio._set_running_loop(loop)


@pytest.fixture(scope="session")
def _started() -> dict[str, Browser]:
    """The browsers of all tests of a worker, by the names of their programs. They end with the driver."""
    return {}


@pytest.fixture
def chromium_program() -> str:
    """Without windows Chromium takes a third less CPU time. A test that needs the whole one overrides this."""
    return WHOLE if programs.missing(programs.LIGHTER) else programs.LIGHTER


@pytest.fixture
def chromium(
    _driver: tuple[BrowserType, asyncio.AbstractEventLoop],
    _started: dict[str, Browser],
    chromium_program: str,
    monkeypatch: pytest.MonkeyPatch,
) -> Iterator[Browser]:
    """The browser. Between two calls of it its loop counts as running, but not for the tests of other folders.

    Django takes that loop for asynchronous code, which these tests are not.
    """
    driver, loop = _driver
    monkeypatch.setenv("DJANGO_ALLOW_ASYNC_UNSAFE", "true")
    asyncio._set_running_loop(loop)
    if chromium_program not in _started:
        _started[chromium_program] = driver.launch(executable_path=shutil.which(chromium_program), args=FLAGS)
    yield _started[chromium_program]
    asyncio._set_running_loop(None)


@pytest.fixture(autouse=True)
def _fresh_counts(transactional_db: None) -> Iterator[None]:
    """Every test has the database, without a transaction around it, because the server has connections of its own."""
    cache.clear()
    yield
    SENDER.stop(seconds=20)
    quiet_database.wait()


@pytest.fixture(autouse=True)
def _sends(monkeypatch: pytest.MonkeyPatch) -> None:
    """What a worker would do when it is woken, in this process."""

    def send(task: str, *, messages: Sequence[Message] = ()) -> None:
        publish(*messages)
        if task == OUTBOX.task:
            SENDER.wake()

    monkeypatch.setattr("common.workers.wake_up.send", send)


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


@pytest.fixture
def busy(shop: Any, endpoint: WebhookEndpoint, monkeypatch: pytest.MonkeyPatch) -> Any:
    """A shop with deliveries of every status, and with webhooks received and refused. A delivery on its way."""
    with monkeypatch.context() as patch:
        patch.setattr("common.workers.wake_up.send", lambda *_task, **_arguments: None)
        return shop_history.create(shop, endpoint)


@pytest.fixture(autouse=True, scope="session")
def _static_files_kept_by_browsers() -> Iterator[None]:
    """A page of the admin has 30 of them, which a browser would ask this process for at each page."""
    serve = StaticFilesHandler.serve

    def served_for_an_hour(handler: StaticFilesHandler, request: Any) -> Any:
        response = serve(handler, request)
        response.headers["Cache-Control"] = "max-age=3600"
        return response

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(StaticFilesHandler, "serve", served_for_an_hour)
        yield


@pytest.fixture
def site(live_server: Any) -> str:
    """The address of the service, in threads of this process. It has no streams; see `web_server`."""
    return str(live_server.url)


@pytest.fixture(scope="session")
def web_server(django_db_setup: None) -> Iterator[str]:
    """The address of the web server of production on the database of the tests, with its streams.

    A module that needs it overrides `site`. It pays drivers 70 % of the price. Not for the admin: the server keeps the
    ids of content types, which the tests of other folders make anew.
    """
    name = str(connection.settings_dict["NAME"])
    environment = {**os.environ, "TEST_DATABASE": name}
    with granian("tests.browser.rsgi_on_test_database:application", environment) as (port, _process):
        yield f"http://127.0.0.1:{port}"


@pytest.fixture
def tab(chromium: Browser, site: str, request: pytest.FixtureRequest) -> Iterator[Callable[..., Tab]]:
    """Open a browser of one's own; `locale` is its language."""
    contexts = []

    def make(locale: str = "en-US", width: str = "1440") -> Tab:
        columns, rows = WIDTHS[width]
        context = chromium.new_context(viewport={"width": columns, "height": rows}, locale=locale)
        context.grant_permissions(["clipboard-read", "clipboard-write"], origin=site)
        context.set_default_timeout(MILLISECONDS)
        contexts.append(context)
        return Tab(context, site)

    yield make
    close(contexts, of=request.node)


@pytest.fixture
def member(tab: Callable[..., Tab], people: Callable[..., User], shop: Any) -> Tab:
    """The browser of a member of the shop's account."""
    people("maria", account=shop.integrator)
    browser = tab()
    browser.log_in("maria")
    return browser


@pytest.fixture
def dispatcher(tab: Callable[..., Tab], people: Callable[..., User]) -> Tab:
    people("dora", group="Dispatchers")
    browser = tab()
    browser.log_in("dora")
    return browser


@pytest.fixture
def map_file(tmp_path: Path, settings: Any) -> Path:
    """The file of the maps' ground: streets around PICKUP."""
    settings.MAP_FILE = tmp_path / "map.pmtiles"
    archives.write(settings.MAP_FILE, *PICKUP, zooms=range(10, 16), around=2)
    return tmp_path / "map.pmtiles"


@pytest.fixture
def clicks() -> Callable[[Page], Callable[[], int]]:
    """Count the clicks in a page from now on, over all the pages it goes to."""

    def count(page: Page) -> Callable[[], int]:
        counted = 0

        def add() -> None:
            nonlocal counted
            counted += 1

        page.expose_function("countClick", add)
        # Not on the window: there, Playwright stops a click whose target has moved away, and clicks again.
        script = "document.addEventListener('pointerdown', () => countClick(), true)"
        page.add_init_script(script)
        page.evaluate(script)
        return lambda: counted

    return count


@pytest.fixture
def walk(tab: Callable[..., Tab], request: pytest.FixtureRequest) -> Callable[..., Walk]:
    """Begin a walk over pages as the person with this name, or as nobody.

    In Portuguese, whose texts are longer, unless its test is marked `IN_BOTH_LANGUAGES`.
    """
    locale = getattr(request, "param", "pt-BR")

    def begin(name: str = "") -> Walk:
        widths = WIDTHS_OF[locale]
        browser = tab(locale, widths[0])
        if name:
            browser.log_in(name)
        return Walk(browser, locale, widths)

    return begin
