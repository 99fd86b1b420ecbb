"""Pages that are told what has changed, with the web server of production and a Redis."""

import time

import pytest
from django.contrib.sessions.models import Session
from django.urls import reverse
from django.utils import timezone

from delivery.actions import deliveries, drivers, endpoints, events
from delivery.models import Environment, WebhookAttempt, WebhookEvent
from tests.browser.waiting import SECONDS, until
from tests.factories import BY, PICKUP, DeliveryFactory, DriverFactory

pytestmark = pytest.mark.django_db(transaction=True)
SOON = 8_000  # milliseconds: less than the ten seconds after which pages load everything without a stream
QUIET = 4_000  # in which nothing happens

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

    def open_(locale, name, *arguments):
        browser = tab(locale)
        browser.log_in("mia")
        address = reverse(f"panel:{name}", args=[shop.integrator.pk, Environment.LIVE, *arguments])
        with browser.page.expect_response(lambda answer: "rota-automatic" in answer.request.headers):  # after `ready`
            browser.go(address)
        browser.page.wait_for_function("!document.querySelector('.htmx-request')")  # and is shown
        return browser

    return open_


def recover(receiver, webhooks):
    """Let an endpoint that has refused these webhooks take them, and send them again."""
    end = time.monotonic() + SECONDS
    while not WebhookAttempt.objects.filter(event__in=webhooks.all()).exists():
        assert time.monotonic() < end
        time.sleep(0.1)
    receiver.status = 204
    events.replay(events=webhooks.all(), by=BY, at=timezone.now())


class TestDeliveryPage:
    def test_follows_moves_and_the_driver(self, page_at, shop, locale, say):
        driver = DriverFactory.create(name="Ana Souza", at_point=PICKUP)
        delivery = DeliveryFactory.create(token=shop, stops=1)
        browser = page_at(locale, "delivery", delivery.pk)
        page = browser.page

        deliveries.accept(delivery=delivery, driver=driver, by=BY, at=timezone.now())

        page.locator("#summary").get_by_text("Ana Souza").wait_for(timeout=SOON)
        assert page.locator("#history li:not(.day)").count() == 2
        marker = page.locator(".leaflet-marker-icon.driver")
        before = marker.bounding_box()
        drivers.set_position(driver=driver, point=PICKUP._replace(latitude=-23.56), by=BY, at=timezone.now())
        page.wait_for_function(
            "before => document.querySelector('.driver').getBoundingClientRect().y !== before",
            arg=before["y"],
            timeout=SOON,
        )
        deliveries.collect(delivery=delivery, by=BY, at=timezone.now())
        deliveries.deliver_point(delivery=delivery, point="B", by=BY, at=timezone.now())
        page.locator("#state .badge").get_by_text(say("Delivered")).wait_for(timeout=SOON)
        assert page.locator("#history li:not(.day)").count() == 4
        assert browser.complaints == []

    def test_shows_that_its_webhook_was_received(self, page_at, shop, endpoint, receiver, locale, say):
        receiver.status = 500
        endpoints.set_url(endpoint=endpoint, url=receiver.url, by=BY, at=timezone.now())
        delivery = DeliveryFactory.create(token=shop, stops=1)
        browser = page_at(locale, "delivery", delivery.pk)

        recover(receiver, delivery.events)

        browser.page.locator("#history").get_by_text(say("Received")).wait_for(timeout=SOON)
        assert browser.complaints == []


class TestEventPages:
    def test_agree_when_an_event_is_received_later(self, page_at, shop, endpoint, receiver, locale, say):
        receiver.status = 500
        endpoints.set_url(endpoint=endpoint, url=receiver.url, by=BY, at=timezone.now())
        event = DeliveryFactory.create(token=shop, stops=1).events.get()
        one, log = page_at(locale, "event", event.pk), page_at(locale, "events")
        state = page_at(locale, "webhook")

        recover(receiver, WebhookEvent.objects.filter(pk=event.pk))

        one.page.locator("#attempts-made .card-head").get_by_text(say("Received")).wait_for(timeout=SOON)
        log.page.locator("#list tbody").get_by_text(say("Received")).wait_for(timeout=SOON)
        state.page.locator("#webhook-state dd").nth(1).get_by_text("0", exact=True).wait_for(timeout=SOON)
        assert [browser.complaints for browser in (one, log, state)] == [[], [], []]

    def test_leave_a_selection_alone(self, page_at, shop):
        DeliveryFactory.create(token=shop, stops=1)
        browser = page_at("en-US", "events")
        box = "<input type=checkbox checked id=chosen>"
        browser.page.evaluate(f"document.querySelector('#list td').insertAdjacentHTML('beforeend', '{box}')")

        DeliveryFactory.create(token=shop, stops=1)

        browser.page.wait_for_timeout(QUIET)
        assert browser.page.locator("#list tbody tr").count() == 1
        browser.page.locator("#chosen").uncheck()
        browser.page.locator("#list tbody tr").nth(1).wait_for(timeout=SOON)


class TestBoard:
    def test_shows_a_new_delivery_and_its_moves(self, tab, people, shop, locale):
        people("dora", group="Dispatchers")
        browser = tab(locale)
        browser.log_in("dora")
        browser.go("/panel/board/")
        browser.page.locator("#nothing").wait_for()  # it has loaded everything, because the stream is ready

        delivery = DeliveryFactory.create(token=shop, stops=1)

        card = browser.page.locator(f"#route-{delivery.pk}")
        card.wait_for(timeout=SOON)
        deliveries.cancel(delivery=delivery, reason="Closed", by=BY, at=timezone.now())
        card.wait_for(state="detached", timeout=SOON)
        assert browser.complaints == []


class TestStream:
    def test_is_opened_again_when_the_page_is_shown_again(self, page_at, shop):
        delivery = DeliveryFactory.create(token=shop, stops=1)
        browser = page_at("en-US", "delivery", delivery.pk)
        page = browser.page
        page.evaluate(HIDE, True)

        deliveries.cancel(delivery=delivery, reason="Closed", by=BY, at=timezone.now())

        page.wait_for_timeout(QUIET)
        assert page.locator("#history li:not(.day)").count() == 1
        page.evaluate(HIDE, False)
        page.locator("#history li:not(.day)").nth(1).wait_for(timeout=SOON)

    def test_is_opened_again_after_the_computer_has_slept(self, page_at, shop):
        """Not later: after so short a sleep the silence of the stream would show only after 40 s."""
        delivery = DeliveryFactory.create(token=shop, stops=1)
        opened = []
        browser = page_at("en-US", "delivery", delivery.pk)
        page = browser.page
        page.on("request", lambda request: opened.append(request.url) if "/updates/" in request.url else None)
        page.clock.install()
        with page.expect_response(lambda answer: "rota-automatic" in answer.request.headers):  # after `ready`
            page.reload()
        before = len(opened)

        page.clock.fast_forward(25_000)

        until(page, lambda: len(opened) > before, seconds=10)
        assert (before, len(opened)) == (1, 2)

    def test_leads_to_the_log_in_after_the_session(self, page_at, shop):
        delivery = DeliveryFactory.create(token=shop, stops=1)
        browser = page_at("en-US", "delivery", delivery.pk)
        Session.objects.all().delete()

        deliveries.cancel(delivery=delivery, reason="Closed", by=BY, at=timezone.now())

        browser.page.wait_for_url("**/account/login/?next=**", timeout=SOON)

    def test_keeps_the_focus(self, page_at, shop):
        delivery = DeliveryFactory.create(token=shop, stops=1)
        browser = page_at("en-US", "delivery", delivery.pk)
        link = browser.page.locator("#history a").first
        link.focus()

        deliveries.cancel(delivery=delivery, reason="Closed", by=BY, at=timezone.now())

        browser.page.locator("#history li:not(.day)").nth(1).wait_for(timeout=SOON)
        browser.page.wait_for_function("document.activeElement.closest('#history') !== null")
