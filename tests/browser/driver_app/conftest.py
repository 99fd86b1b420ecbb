"""Phones of drivers, and the server of production that they use."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from playwright.sync_api import Browser

from tests.browser.driver_app.driver_phone import HEIGHT, WIDTHS, DriverPhone
from tests.browser.tab import close
from tests.browser.waiting import MILLISECONDS
from tests.factories import PICKUP, DriverFactory, TariffFactory


@pytest.fixture
def site(web_server: str) -> str:
    return web_server


@pytest.fixture(autouse=True)
def _tariff(transactional_db: None) -> None:
    TariffFactory.create()


@pytest.fixture
def open_phone(chromium: Browser, site: str, request: pytest.FixtureRequest) -> Iterator[Callable[..., DriverPhone]]:
    """A phone that is logged in, at PICKUP. `on_duty=True`: on duty. `script` runs in each page before its own. Other
    arguments are the driver's.
    """
    contexts = []

    def make(
        *, locale: str = "en-US", on_duty: bool = False, located: bool = True, script: str = "", **driver: Any
    ) -> DriverPhone:
        context = chromium.new_context(
            viewport={"width": WIDTHS[0], "height": HEIGHT}, locale=locale, is_mobile=True, has_touch=True
        )
        contexts.append(context)
        context.add_init_script(script)
        if located:
            context.grant_permissions(["geolocation"], origin=site)
        context.set_default_timeout(MILLISECONDS)
        phone = DriverPhone(context, site, DriverFactory.create(on_duty=False, **driver))
        if located:
            phone.stand_at(PICKUP)
        phone.enter()
        if on_duty:
            phone.go_on_duty()
        return phone

    yield make
    close(contexts, of=request.node)


@pytest.fixture
def ana(open_phone: Callable[..., DriverPhone]) -> DriverPhone:
    """The phone of a driver on duty."""
    return open_phone(name="Ana Lima", on_duty=True)
