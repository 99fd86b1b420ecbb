"""Pages and phones that are told what has changed, with the web server of production and a Redis."""

from datetime import timedelta
from urllib.parse import urlsplit

import pytest
from django.contrib.sessions.models import Session
from django.urls import reverse
from django.utils import timezone

from common.pages.page_updates import Message, publish
from common.webhooks import endpoints, replays
from delivery.actions import deliveries, drivers
from delivery.drivers import devices as driver_devices
from delivery.models import Environment, WebhookAttempt, WebhookEvent
from delivery.webhooks.outbox import OUTBOX
from tests.browser.waiting import COUNT_EVENTS, until
from tests.config.server.stream_client import EventStream
from tests.delivery.drivers.phones import Phone, phone
from tests.factories import BY, PICKUP, DeliveryFactory, DriverFactory

# Pages without a stream load everything every ten seconds. These do not, so that they show what the stream has told.
WITHOUT_POLLING = """
const every = window.setInterval;
window.setInterval = (work, pause) => pause === 5_000 ? 0 : every(work, pause);
"""

# Chromium's pages of tests are never hidden.
HIDE = """hidden => {
  Object.defineProperty(document, "hidden", { value: hidden, configurable: true });
  document.dispatchEvent(new Event("visibilitychange"));
}"""


@pytest.fixture
def site(web_server):
    return web_server


@pytest.fixture
def page_at(tab, people, shop):
    """Opens a page of the shop's account as one of its members, and waits for its stream."""
    people("mia", account=shop.integrator)

    def open_(name, *arguments, polls=False):
        browser = tab()
        browser.log_in("mia")
        if not polls:
            browser.page.add_init_script(WITHOUT_POLLING)
        address = reverse(f"panel:{name}", args=[shop.integrator.pk, Environment.LIVE, *arguments])
        browser.page.add_init_script(COUNT_EVENTS)
        browser.go(address)
        browser.page.wait_for_function("() => heard.ready")
        return browser

    return open_


def recover(page, sink, webhooks):
    """Let an endpoint that has refused these webhooks take them, and send them again."""
    until(page, lambda: WebhookAttempt.objects.filter(event__in=webhooks.all()).exists())
    sink.answers = [(204, {}, b"")]
    replays.replay(events=webhooks.all(), by=BY, at=timezone.now())


class TestDeliveryPage:
    def test_follows_moves_and_the_driver(self, page_at, shop):
        driver = DriverFactory.create(name="Ana Souza", at_point=PICKUP)
        delivery = DeliveryFactory.create(token=shop, stops=1)
        browser = page_at("delivery", delivery.pk)
        page = browser.page

        deliveries.accept(delivery=delivery, driver=driver, by=BY, at=timezone.now())

        page.locator("#state").get_by_text("Ana Souza").wait_for()
        assert page.locator("#history li:not(.day)").count() == 2
        marker = page.locator(".leaflet-marker-icon.driver")
        before = marker.bounding_box()
        drivers.set_position(driver=driver, point=PICKUP._replace(latitude=-23.56), by=BY, at=timezone.now())
        page.wait_for_function(
            "before => document.querySelector('.driver').getBoundingClientRect().y !== before",
            arg=before["y"],
        )
        deliveries.collect(delivery=delivery, by=BY, at=timezone.now())
        deliveries.deliver(delivery=delivery, point="B", by=BY, at=timezone.now())
        page.locator("#state .badge").get_by_text("Delivered").wait_for()
        assert page.locator("#history li:not(.day)").count() == 4
        assert browser.complaints == []


class TestEventPages:
    def test_agree_when_an_event_is_received_later(self, page_at, shop, endpoint, sink):
        sink.answers = [(500, {}, b"")]
        endpoints.set_url(endpoint=endpoint, url=sink.url, by=BY, at=timezone.now())
        event = DeliveryFactory.create(token=shop, stops=1).events.get()
        one, log = page_at("event", event.pk), page_at("events")
        state = page_at("webhook")

        recover(one.page, sink, WebhookEvent.objects.filter(pk=event.pk))

        one.page.locator("#state").get_by_text("Received").wait_for()
        log.page.locator("#list tbody").get_by_text("Received").wait_for()
        state.page.locator("#webhook-state dd").nth(1).get_by_text("0", exact=True).wait_for()
        assert [browser.complaints for browser in (one, log, state)] == [[], [], []]

    def test_leave_a_selection_alone(self, page_at, shop):
        DeliveryFactory.create(token=shop, stops=1)
        browser, other = page_at("events"), page_at("events")
        box = "<input type=checkbox checked id=chosen>"
        browser.page.evaluate(f"document.querySelector('#list td').insertAdjacentHTML('beforeend', '{box}')")

        DeliveryFactory.create(token=shop, stops=1)

        other.page.locator("#list tbody tr").nth(1).wait_for()
        assert browser.page.locator("#list tbody tr").count() == 1
        browser.page.locator("#chosen").uncheck()
        browser.page.locator("#list tbody tr").nth(1).wait_for()


class TestPageThatWasJustServed:
    @pytest.mark.parametrize("name", ["overview", "deliveries", "events", "webhook"])
    def test_is_not_loaded_again_before_something_changes(self, tab, people, shop, name):
        people("mia", account=shop.integrator)
        browser = tab()
        browser.log_in("mia")
        page, loaded = browser.page, []
        page.add_init_script(WITHOUT_POLLING + COUNT_EVENTS)
        page.on("request", lambda request: loaded.append("rota-automatic" in request.headers))
        browser.go(reverse(f"panel:{name}", args=[shop.integrator.pk, Environment.LIVE]))
        page.wait_for_function("() => heard.ready")
        before = loaded.count(True)

        with page.expect_response(lambda answer: "rota-automatic" in answer.request.headers):
            endpoint = shop.integrator.endpoints.get(environment=Environment.LIVE)
            publish(Message(OUTBOX.topic_of(endpoint.pk), ["endpoint"]))

        assert (before, loaded.count(True)) == (0, 1)

    def test_is_loaded_again_if_something_has_changed_before_its_stream(self, tab, people, shop):
        people("mia", account=shop.integrator)
        browser = tab()
        browser.log_in("mia")
        browser.page.add_init_script(WITHOUT_POLLING)
        held = []
        browser.page.route("**/updates/**", lambda route: held.append(route))  # noqa: PLW0108  # Playwright marks it
        browser.go(reverse("panel:deliveries", args=[shop.integrator.pk, Environment.LIVE]))
        until(browser.page, lambda: held)

        DeliveryFactory.create(token=shop, stops=1)
        held[0].continue_()

        browser.page.locator("#list tbody tr").first.wait_for()


class TestStream:
    def test_is_opened_again_when_the_page_is_shown_again(self, page_at, shop):
        delivery = DeliveryFactory.create(token=shop, stops=1)
        browser, other = page_at("delivery", delivery.pk), page_at("delivery", delivery.pk)
        page = browser.page
        page.evaluate(HIDE, True)

        deliveries.cancel(delivery=delivery, reason="Closed", by=BY, at=timezone.now())

        other.page.locator("#history li:not(.day)").nth(1).wait_for()
        assert page.locator("#history li:not(.day)").count() == 1
        page.evaluate(HIDE, False)
        page.locator("#history li:not(.day)").nth(1).wait_for()

    @pytest.mark.parametrize(("back", "forward"), [(0, 25_000), (2, 6_000)], ids=["slept", "put back"])
    def test_is_opened_again_after_the_computer_has_slept_or_its_clock_was_put_back(self, page_at, shop, back, forward):
        """Not later: after so short a sleep the silence of the stream would show only after 40 s."""
        delivery = DeliveryFactory.create(token=shop, stops=1)
        opened = []
        browser = page_at("delivery", delivery.pk, polls=True)
        page = browser.page
        page.on("request", lambda request: opened.append(request.url) if "/updates/" in request.url else None)
        page.clock.install()
        page.reload()
        page.wait_for_function("() => heard.ready")
        before = len(opened)

        if back:
            page.clock.set_system_time(timezone.now() - timedelta(hours=back))
        page.clock.fast_forward(forward)

        until(page, lambda: len(opened) > before, seconds=10)
        assert (before, len(opened)) == (1, 2)

    def test_leads_to_the_log_in_after_the_session(self, page_at, shop):
        delivery = DeliveryFactory.create(token=shop, stops=1)
        browser = page_at("delivery", delivery.pk)
        Session.objects.all().delete()

        deliveries.cancel(delivery=delivery, reason="Closed", by=BY, at=timezone.now())

        browser.page.wait_for_url("**/account/login/?next=**")

    def test_keeps_the_focus(self, page_at, shop):
        delivery = DeliveryFactory.create(token=shop, stops=1)
        browser = page_at("delivery", delivery.pk)
        link = browser.page.locator("#history a").first
        link.focus()

        deliveries.cancel(delivery=delivery, reason="Closed", by=BY, at=timezone.now())

        browser.page.locator("#history li:not(.day)").nth(1).wait_for()
        browser.page.wait_for_function("() => document.activeElement.closest('#history') !== null")


@pytest.fixture
def listen(web_server):
    """Opens the stream of a phone and waits until it is subscribed."""
    opened = []

    def open_(listener):
        session = listener.client.cookies["driver"].value
        stream = EventStream(urlsplit(web_server).port, "/driver/updates/", Cookie=f"driver={session}")
        opened.append(stream)
        assert stream.next() == "ready"
        return stream

    yield open_
    for stream in opened:
        stream.close()


class TestStreamOfAPhone:
    def test_ends_with_the_session(self, listen):
        ana = phone()
        stream = listen(ana)

        driver_devices.end(device=ana.driver.devices.get(), by=BY, at=timezone.now())

        with pytest.raises(EOFError):
            stream.next()

    def test_of_another_phone_of_the_driver_goes_on(self, listen):
        ana = phone()
        stream = listen(Phone(ana.driver))

        driver_devices.end(device=ana.driver.devices.get(reports_positions=True), by=BY, at=timezone.now())

        assert stream.next() == f"driver:{ana.driver.pk}"
