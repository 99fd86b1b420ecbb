"""Web Push on a phone: what the driver is asked, the subscription, the notification and where it leads.

The push service of the browser's maker is outside: a stand-in on loopback takes the messages that the service sends,
and the browser's own tool for developers hands their text to the service worker.
"""

import json
import os
import time
from collections.abc import Iterator

import pytest
from django.db import connection
from django.utils import timezone
from playwright.sync_api import Page, expect

from common import credentials
from delivery.drivers import offer_pushes, web_push
from delivery.models import PushSubscription
from tests.browser.conftest import WHOLE
from tests.browser.waiting import until
from tests.config.server.stream_client import granian
from tests.delivery.drivers.browsers import Browser
from tests.delivery.push_service import PushService
from tests.factories import DeliveryFactory

_KEY = web_push.new_key()
_SENT_AGAIN_AFTER = 5  # seconds
# What Chromium would ask its maker's service for.
_STAND_IN = """
  const body = %s;
  let current = null;
  Notification.requestPermission = async () => window.answer ?? "granted";
  Object.defineProperty(Notification, "permission", { get: () => window.permission ?? "default" });
  PushManager.prototype.getSubscription = async () => current;
  PushManager.prototype.subscribe = async (options) => {
    window.askedWith = options;
    current = { toJSON: () => body, options: {}, unsubscribe: async () => { current = null; return true; } };
    return current;
  };
"""


@pytest.fixture(scope="session")
def push_server(django_db_setup: None) -> Iterator[str]:
    name = str(connection.settings_dict["NAME"])
    keys = {"VAPID_PRIVATE_KEY": _KEY, "DEFAULT_FROM_EMAIL": "rota@example.com"}
    with granian("tests.browser.rsgi_on_test_database:application", {**os.environ, "TEST_DATABASE": name, **keys}) as (
        port,
        _process,
    ):
        yield f"http://127.0.0.1:{port}"


@pytest.fixture
def site(push_server):
    return push_server


@pytest.fixture(autouse=True)
def _keys(settings):
    settings.VAPID_PRIVATE_KEY, settings.VAPID_SUBJECT = _KEY, "mailto:rota@example.com"


@pytest.fixture
def service():
    made = PushService()
    yield made
    made.close()


@pytest.fixture
def browser(service):
    return Browser(f"{service.url}/1")


@pytest.fixture
def ana(open_phone, browser):
    """On duty, and not asked yet whether notifications are allowed."""
    ana = open_phone(name="Ana Lima", on_duty=True, script=_STAND_IN % json.dumps(browser.body))
    ana.context.grant_permissions(["geolocation", "notifications"], origin=ana.base)  # of the service worker
    ana.keep_app()
    return ana


def reopen(ana, hash_: str = "") -> None:
    ana.page.goto("about:blank")
    ana.page.goto(f"{ana.base}/driver/{hash_}")
    ana.page.locator(".duty.on").wait_for()


def subscribed(ana) -> None:
    ana.press("Allow notifications")
    expect(ana.page.locator(".notice")).to_have_count(0)


def deliver(page: Page, text: str) -> None:
    """What the browser does with a message of the push service that it has decrypted."""
    tools = page.context.new_cdp_session(page)
    registrations: list[str] = []
    tools.on(
        "ServiceWorker.workerRegistrationUpdated",
        lambda event: registrations.extend(each["registrationId"] for each in event["registrations"]),
    )
    tools.send("ServiceWorker.enable")
    until(page, lambda: registrations)
    origin = page.evaluate("location.origin")
    tools.send("ServiceWorker.deliverPushMessage", {"origin": origin, "registrationId": registrations[0], "data": text})


def notifications(page: Page) -> list[dict[str, str]]:
    script = """async () => (await (await navigator.serviceWorker.ready).getNotifications())
      .map(({ title, body, tag }) => ({ title, body, tag }))"""
    found: list[dict[str, str]] = page.evaluate(script)
    return found


def notified(page: Page, text: str) -> list[dict[str, str]]:
    """The notifications after a message. The browser's tool drops one that finds the service worker starting."""
    page.evaluate("navigator.serviceWorker.ready.then(() => true)")
    sent: list[float] = []

    def shown() -> list[dict[str, str]]:
        if not sent or time.monotonic() - sent[-1] > _SENT_AGAIN_AFTER:
            deliver(page, text)
            sent.append(time.monotonic())
        return notifications(page)

    return until(page, shown)


class TestQuestion:
    def test_is_asked_on_duty_and_subscribes(self, ana, browser):
        expect(ana.page.get_by_text("Offers while this page is closed?")).to_be_visible()
        assert ana.look("push-question") == []

        subscribed(ana)

        expect(ana.page.get_by_text("While this page is closed, a notification tells you.")).to_be_visible()
        key = ana.page.evaluate("window.askedWith.applicationServerKey")
        assert key == web_push.public_key(web_push.private_key(_KEY))
        kept = PushSubscription.objects.get()
        assert browser.subscription["endpoint"] in credentials.decrypt(kept.ciphertext)
        assert kept.device.driver == ana.driver
        assert ana.complaints == []

    def test_is_not_asked_again_after_not_now(self, ana):
        ana.press("Not now")
        ana.kept("pushAnswer", "(answer) => answer === 'later'")
        reopen(ana)

        expect(ana.page.get_by_text("Keep this page open.")).to_be_visible()
        expect(ana.page.get_by_text("Offers while this page is closed?")).to_have_count(0)

        def is_in_menu():  # once the start has come so far
            ana.press("Menu")
            if ana.page.get_by_role("button", name="Allow notifications").count():
                return True
            ana.confirm("Back")
            return False

        until(ana.page, is_in_menu)
        ana.press_in_sheet("Allow notifications")
        expect(ana.page.get_by_text("While this page is closed, a notification tells you.")).to_be_visible()
        assert PushSubscription.objects.count() == 1

    def test_is_asked_by_a_page_that_started_without_a_signal(self, ana):
        ana.kept("state", "(kept) => kept !== undefined")
        ana.lose_signal()
        reopen(ana)
        expect(ana.page.get_by_text("Offers while this page is closed?")).to_have_count(0)

        ana.find_signal()

        expect(ana.page.get_by_text("Offers while this page is closed?")).to_be_visible()

    def test_that_is_refused_says_how_to_allow_it(self, ana):
        ana.page.evaluate("window.answer = 'denied'")

        ana.press("Allow notifications")

        expect(ana.page.get_by_text("Notifications are blocked for this page.")).to_be_visible()
        assert ana.look("push-denied") == []
        assert not PushSubscription.objects.exists()

    def test_fails_with_a_reason_when_the_push_service_is_out_of_reach(self, ana):
        fails = "PushManager.prototype.subscribe = async () => { throw new DOMException('', 'AbortError'); }"
        ana.page.evaluate(f"void ({fails})")

        ana.press("Allow notifications")

        expect(ana.page.get_by_text("This browser cannot receive notifications now.")).to_be_visible()
        assert not PushSubscription.objects.exists()

    def test_is_not_asked_where_the_service_sends_none(self, ana):
        ana.page.route("**/driver/push/", lambda route: route.fulfill(json={"publicKey": None}))
        reopen(ana)

        expect(ana.page.get_by_text("Keep this page open.")).to_be_visible()
        expect(ana.page.locator(".notice")).to_have_count(0)


class TestNotification:
    @pytest.fixture
    def chromium_program(self):
        """Without windows it shows no notifications."""
        return WHOLE

    def test_comes_while_the_page_is_closed(self, ana, service, browser, at_once):
        subscribed(ana)
        ana.page.goto(f"{ana.base}/driver/day/")
        delivery = DeliveryFactory.create(stops=2)

        def is_pushed():  # the server notices after a moment that the page's stream has ended
            assert at_once(lambda: offer_pushes.push([delivery.pk], at=timezone.now())) == [None]
            return service.received

        until(ana.page, is_pushed)
        message = json.dumps(browser.decrypt(service.received[0][2]))

        km = f"{delivery.distance_km:.1f}"
        assert notified(ana.page, message) == [
            {"title": "New offer", "body": f"{km} km, 2 stops", "tag": str(delivery.pk)}
        ]
        reopen(ana)
        ana.page.locator(".offer").wait_for()
        until(ana.page, lambda: not notifications(ana.page))

    def test_leads_to_its_offer(self, ana):
        _first, second = DeliveryFactory.create(stops=1), DeliveryFactory.create(stops=1)

        reopen(ana, f"#{second.pk}")

        ana.page.locator(".offer:nth-of-type(2) h2:focus").wait_for()
        ana.page.locator(".offer:nth-of-type(2) button.prime").click()
        ana.page.locator(".now").wait_for()
        second.refresh_from_db()
        assert second.driver == ana.driver

    def test_shows_its_offer_in_a_page_that_is_open(self, ana):
        first, second = DeliveryFactory.create(stops=1), DeliveryFactory.create(stops=1)
        expect(ana.page.locator(".offer")).to_have_count(2)
        notified(ana.page, json.dumps({"title": "New offer", "body": "", "deliveryId": str(second.pk)}))

        # A press by a script: the browser gives it no right to bring the page to the front.
        ana.context.service_workers[0].evaluate("""async () => {
          const [notification] = await self.registration.getNotifications();
          self.dispatchEvent(new NotificationEvent("notificationclick", { notification }));
        }""")

        ana.page.locator(".offer:nth-of-type(2) h2:focus").wait_for()
        ana.page.locator(".offer:nth-of-type(2) button.prime").click()
        ana.page.locator(".now").wait_for()
        first.refresh_from_db()
        second.refresh_from_db()
        assert (first.driver, second.driver) == (None, ana.driver)


class TestLogOut:
    def test_ends_the_subscription(self, ana):
        subscribed(ana)
        ana.press("Go off duty")
        ana.page.get_by_role("heading", name="You are off duty").wait_for()
        ana.press("Menu")

        ana.press_in_sheet("Log out")

        ana.page.get_by_role("heading", name="You are not logged in").wait_for()
        assert not PushSubscription.objects.exists()
        assert ana.page.evaluate("PushManager.prototype.getSubscription()") is None

    def test_comes_after_the_call_that_is_under_way(self, ana):
        waiting = []
        ana.page.route("**/driver/duty/", lambda route: waiting.append(route))  # noqa: PLW0108  # Playwright takes no method
        ana.press("Go off duty")
        until(ana.page, lambda: waiting)
        ana.press("Menu")
        ana.confirm("Log out")

        waiting[0].continue_()

        ana.page.get_by_role("heading", name="You are not logged in").wait_for()
        ana.driver.refresh_from_db()
        assert not ana.driver.on_duty
