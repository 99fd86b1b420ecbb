"""The app installed on a phone: what Chromium requires for it, and a start without a connection."""

import json
import shutil
from collections.abc import Iterator

import pytest
from playwright.sync_api import BrowserContext, expect

from tests.browser.conftest import FLAGS, WHOLE
from tests.browser.driver_app.driver_phone import DriverPhone
from tests.factories import DeliveryFactory, DriverFactory


@pytest.fixture
def persistent(chromium, tmp_path) -> Iterator[BrowserContext]:
    """A whole browser that keeps its data: the others are like private windows, where nothing can be installed."""
    path = shutil.which(WHOLE)
    context = chromium.browser_type.launch_persistent_context(tmp_path, executable_path=path, args=FLAGS)
    yield context
    context.close()


class TestInstallation:
    def test_has_everything_that_chromium_requires(self, persistent, site):
        ana = DriverPhone(persistent, site, DriverFactory.create(on_duty=False))
        page = ana.enter()
        ana.keep_app()
        browser = persistent.new_cdp_session(page)

        manifest = browser.send("Page.getAppManifest")
        faults = browser.send("Page.getInstallabilityErrors")["installabilityErrors"]

        assert manifest["errors"] == []
        assert json.loads(manifest["data"])["name"] == "Rota for drivers"
        assert faults == []


class TestStart:
    def test_without_a_connection_shows_the_last_state(self, open_phone):
        ana = open_phone(name="Ana Lima", on_duty=True)
        delivery = DeliveryFactory.create(stops=1, accepted=True, driver=ana.driver)
        ana.page.locator(".now").wait_for()
        ana.keep_app()
        ana.kept("state", "({ state }) => Boolean(state.route)")
        ana.page.close()
        ana.lose_signal()

        ana.page = ana.context.new_page()
        ana.page.goto(f"{ana.base}/driver/")

        expect(ana.page.locator(".now")).to_contain_text("Collect at A")
        expect(ana.page.get_by_text("This is how it was at")).to_be_visible()
        assert ana.page.locator(".who b").inner_text() == "Ana Lima"
        expect(ana.page.locator("a[href^='tel:']")).to_have_attribute("href", "tel:+551133330000")
        assert delivery.route_status == "ACCEPTED"

    def test_is_in_the_other_language_after_it_was_chosen(self, open_phone):
        ana = open_phone()
        ana.keep_app()
        ana.press("Menu")

        ana.press_in_sheet("Português")

        ana.page.get_by_role("heading", name="Você está fora de serviço").wait_for()
        ana.page.reload()
        ana.page.get_by_role("heading", name="Você está fora de serviço").wait_for()
        assert ana.complaints == []

    def test_after_the_log_out_shows_nothing_of_the_driver(self, open_phone):
        ana = open_phone(name="Ana Lima")
        ana.press("Menu")

        ana.press_in_sheet("Log out")

        ana.page.get_by_role("heading", name="You are not logged in").wait_for()
        ana.page.reload()
        ana.page.get_by_role("heading", name="You are not logged in").wait_for()
        assert "Ana Lima" not in ana.page.content()
