"""A driver's phone: Chromium as a phone, with a position, and without a signal where a test wants so."""

from django.utils import timezone
from playwright.sync_api import BrowserContext, Locator, Page

from delivery.drivers import devices as driver_devices
from delivery.geo.distance import Point
from delivery.models import Driver
from tests.browser.tab import Tab
from tests.browser.waiting import resize, until
from tests.factories import BY

WIDTHS = (390, 360)
HEIGHT = 780
# What can be pressed and is less than 56 px high or wide, or beyond the edge.
_SMALL = """() => [...document.querySelectorAll("button, a[href], select, textarea, label.option, label.button, input")]
  .filter((each) => each.checkVisibility({ visibilityProperty: true }) && !each.closest(".option input, .unseen"))
  .filter((each) => !each.matches("[type=radio], [type=file]"))
  .map((each) => [each, each.getBoundingClientRect()])
  .filter(([, box]) => box.height < 56 || box.width < 56 || box.left < 0 || box.right > innerWidth)
  .map(([each]) => each.outerHTML.slice(0, 120))"""


class DriverPhone(Tab):
    """A driver's phone with its browser."""

    def __init__(self, context: BrowserContext, base: str, driver: Driver) -> None:
        super().__init__(context, base)
        self.context = context
        self.driver = driver

    def enter(self) -> Page:
        """Log in by a new link."""
        token = driver_devices.issue_link(driver=self.driver, by=BY, at=timezone.now())
        self.go(f"/driver/in/{token}/")
        self.page.locator("button").click()
        self.page.wait_for_url("**/driver/")
        return self.page

    def go_on_after_route(self) -> None:
        """Read what the route was, once the service has told it."""
        self.page.get_by_role("heading", name="Route finished").wait_for()
        self.press("Go on")
        self.page.get_by_role("heading", name="Waiting for offers").wait_for()

    def press(self, name: str) -> None:
        self.page.get_by_role("button", name=name, exact=True).click()

    def go_on_duty(self) -> None:
        self.press("Go on duty")
        self.page.locator(".duty.on").wait_for()

    def stand_at(self, point: Point, accuracy: float = 8) -> None:
        self.context.set_geolocation({"latitude": point.latitude, "longitude": point.longitude, "accuracy": accuracy})

    def look(self, name: str, *, only: str = "") -> list[str]:
        """What is wrong with the page as it is now, at both widths. `only`: the one rule that axe-core is asked for."""
        found = []
        for width in WIDTHS:
            resize(self.page, width, HEIGHT)
            self.shoot(f"driver-{name}-{width}")
            if self.page.evaluate("document.documentElement.scrollWidth > innerWidth"):
                found.append(f"{name}: wider than {width}")
            found += [f"{name} at {width}: {html}" for html in self.page.evaluate(_SMALL)]
        self.page.set_viewport_size({"width": WIDTHS[0], "height": HEIGHT})
        # The contrast of AAA, 7 to 1, is for reading in the sun.
        return found + [f"{name}: {each}" for each in self.findings(name, only=only, color_contrast_enhanced=True)]

    def keep_app(self) -> None:
        """Wait until the service worker has kept the app, without which it does not start again without a signal."""
        self.page.evaluate("navigator.serviceWorker.ready.then(() => true)")
        self.page.wait_for_function("() => navigator.serviceWorker.controller !== null")

    def kept(self, name: str, condition: str) -> None:
        """Wait until what the phone keeps by this name is so. The page shows it before it is written."""
        script = f"""(name) => new Promise((done, failed) => {{
          const opening = indexedDB.open("driver-app");
          opening.onerror = () => failed(opening.error);
          opening.onsuccess = () => {{
            const reading = opening.result.transaction("kept").objectStore("kept").get(name);
            reading.onsuccess = () => {{ opening.result.close(); done(({condition})(reading.result)); }};
          }};
        }})"""
        until(self.page, lambda: self.page.evaluate(script, name))

    def lose_signal(self) -> None:
        if not self.page.is_closed():
            self.keep_app()
        self.context.set_offline(True)

    def find_signal(self) -> None:
        self.context.set_offline(False)

    def confirm(self, name: str) -> None:
        """Press the button of a sheet, which closes it."""
        self.press_in_sheet(name)
        self.page.locator("dialog[open]").wait_for(state="detached")

    def press_in_sheet(self, name: str) -> None:
        """Press the button of the sheet that opens."""
        self.sheet_button(name).click()

    def sheet_button(self, name: str) -> Locator:
        """A button of the sheet that opens, which takes no press at once, counted from when it is there."""
        sheet = self.page.locator("dialog[open]")
        sheet.wait_for()
        opened = self.page.evaluate("performance.now()")
        self.page.wait_for_function("opened => performance.now() - opened > 400", arg=opened)
        return sheet.get_by_role("button", name=name)
