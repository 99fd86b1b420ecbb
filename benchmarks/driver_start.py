"""How long the driver's app takes to start in Chromium: at the first time, again, and without a connection."""

import shutil
import statistics
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from django.conf import settings
from django.utils import timezone
from playwright.sync_api import Browser, BrowserContext, Page, sync_playwright

from benchmarks import processes, report, seed
from delivery.drivers import devices as driver_devices
from delivery.models import Driver
from tests.factories import BY, DriverFactory
from tests.ports import free_port

_RUNS = 5
# A phone of the lower middle class and a mobile network, as Lighthouse simulates them.
_CPU_TIMES_SLOWER = 4
_NETWORK = {"offline": False, "latency": 150, "downloadThroughput": 1_638_400 / 8, "uploadThroughput": 768_000 / 8}
_FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-dev-shm-usage"]
# Keeps what Lighthouse's figures of performance are made of, and when the screen is there.
_OBSERVE = """
window.seen = { largest: 0, shift: 0, blocked: 0, screen: 0 };
const on = (type, act) => {
  new PerformanceObserver((list) => list.getEntries().forEach(act)).observe({ type, buffered: true });
};
on("largest-contentful-paint", (entry) => { seen.largest = entry.startTime; });
on("layout-shift", (entry) => { if (!entry.hadRecentInput) seen.shift += entry.value; });
on("longtask", (entry) => { seen.blocked += entry.duration - 50; });
new MutationObserver(() => {
  if (!seen.screen && document.querySelector(".bar")) seen.screen = performance.now();
}).observe(document, { childList: true, subtree: true });
"""
_FIGURES = """() => ({
  ...window.seen,
  first: performance.getEntriesByName("first-contentful-paint")[0].startTime,
  bytes: performance.getEntries().reduce((sum, entry) => sum + (entry.transferSize ?? 0), 0),
})"""


def run() -> None:
    """Print the medians of a few starts of each kind."""
    seed.empty()
    driver = DriverFactory.create(on_duty=False)
    sessions = [_session(driver) for _run in range(_RUNS)]
    port = free_port()
    with processes.web(port), sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=_FLAGS)
        starts = [_starts(browser, f"http://127.0.0.1:{port}", session) for session in sessions]
        version = browser.version
        browser.close()
    report.table(
        f"Starts of the driver's app, medians of {_RUNS}. Chromium {version}, 390 x 844, "
        f"CPU {_CPU_TIMES_SLOWER} times slower, 1.6 Mbit/s with 150 ms",
        ["start", "first paint", "largest paint", "driver's name is there", "blocked", "layout shift", "kB received"],
        [_row(kind, [start[kind] for start in starts]) for kind in starts[0]],
    )


def _session(driver: Driver) -> str:
    """The session of a new phone. Before there is a browser, whose event loop Django takes for asynchronous code."""
    token = driver_devices.issue_link(driver=driver, by=BY, at=timezone.now())
    _device, session = driver_devices.log_in(token=token, phone="", language="en", at=timezone.now())
    return session


def _row(kind: str, figures: list[dict[str, float]]) -> list[str]:
    median = {name: statistics.median(each[name] for each in figures) for name in figures[0]}
    times = [f"{median[name]:.0f} ms" for name in ("first", "largest", "screen", "blocked")]
    return [kind, *times, f"{median['shift']:.3f}", f"{median['bytes'] / 1000:.0f}"]


def _starts(browser: Browser, base: str, session: str) -> dict[str, dict[str, float]]:
    """By kind: the figures of one start. In a browser of its own, which keeps nothing of the one before."""
    with _phone(browser, base, session) as context:
        figures = {"first": _start(context, base, _throttle)}
        page = context.new_page()
        page.goto(f"{base}/driver/")
        page.wait_for_function("navigator.serviceWorker.controller !== null")
        page.close()
        figures["again"] = _start(context, base, _throttle)
        context.set_offline(True)
        figures["without a connection"] = _start(context, base, _slow_down)
    return figures


@contextmanager
def _phone(browser: Browser, base: str, session: str) -> Iterator[BrowserContext]:
    """A browser with a driver's session that has not loaded the page yet."""
    context = browser.new_context(viewport={"width": 390, "height": 844}, is_mobile=True)
    context.add_cookies([{"name": settings.DRIVER_COOKIE_NAME, "value": session, "url": base}])
    context.add_init_script(_OBSERVE)
    yield context
    context.close()


def _start(context: BrowserContext, base: str, prepare: Any) -> dict[str, float]:
    page = context.new_page()
    prepare(context, page)
    page.goto(f"{base}/driver/")
    page.locator(".bar").wait_for()
    page.wait_for_timeout(1_000)  # later shifts and paints count too
    figures: dict[str, float] = page.evaluate(_FIGURES)
    page.close()
    return figures


def _slow_down(context: BrowserContext, page: Page) -> Any:
    session = context.new_cdp_session(page)
    session.send("Emulation.setCPUThrottlingRate", {"rate": _CPU_TIMES_SLOWER})
    return session


def _throttle(context: BrowserContext, page: Page) -> None:
    _slow_down(context, page).send("Network.emulateNetworkConditions", _NETWORK)
