"""Duty and offers on drivers' phones."""

from datetime import timedelta

from django.utils import timezone
from playwright.sync_api import expect

from delivery.actions import deliveries
from delivery.models import DeclinedOffer, Delivery
from tests.browser.waiting import COUNT_EVENTS, until
from tests.factories import BY, DeliveryFactory

SOON = 8_000  # milliseconds: less than the ten seconds after which the app asks without a stream


class TestUpdates:
    def test_go_on_after_the_clock_was_put_back(self, ana):
        opened = []
        ana.page.clock.install()
        ana.page.add_init_script(COUNT_EVENTS)
        ana.page.reload()
        ana.page.wait_for_function("() => heard.ready")  # else the first stream could be taken for a second one
        ana.page.on("request", lambda request: opened.append(request.url) if "/updates/" in request.url else None)

        ana.page.clock.set_system_time(timezone.now() - timedelta(hours=2))
        ana.page.clock.fast_forward(6_000)

        until(ana.page, lambda: opened, seconds=10)

    def test_are_shown_after_the_service_clock_was_put_back(self, ana):
        """The state that is shown has a later moment than those that follow."""

        def ahead(route):
            answer = route.fetch()
            state = answer.json()
            state["now"] = (timezone.now() + timedelta(hours=2)).isoformat()
            route.fulfill(response=answer, json=state)

        ana.page.route("**/driver/state/", ahead, times=1)
        ana.page.reload()
        ana.page.locator(".duty.on").wait_for()

        DeliveryFactory.create(stops=1)

        ana.page.locator(".offer").wait_for(timeout=SOON)


class TestOffers:
    def test_appear_at_once_and_are_heard(self, open_phone):
        ana = open_phone()
        ana.page.evaluate("navigator.vibrate = (pattern) => { window.vibrated = pattern; return true; }")
        ana.go_on_duty()

        delivery = DeliveryFactory.create(stops=2)

        offer = ana.page.locator(".offer")
        offer.wait_for(timeout=SOON)
        assert offer.locator(".label").all_inner_texts() == ["A", "B", "C"]
        assert ana.page.evaluate("window.vibrated") == [300, 150, 300]
        deliveries.cancel(delivery=delivery, reason="Closed", by=BY, at=timezone.now())
        expect(offer).to_have_count(0, timeout=SOON)
        assert ana.complaints == []

    def test_have_one_winner_and_the_loser_reads_why(self, ana, open_phone):
        bia = open_phone(name="Bia Reis", on_duty=True)
        delivery = DeliveryFactory.create(stops=1)
        # Elements, because the offer may be gone from the second page before its button is pressed.
        accepts = [each.page.wait_for_selector(".offer button.prime") for each in (ana, bia)]

        for accept in accepts:
            accept.evaluate("button => { setTimeout(() => button.click()); }")  # returns before the answer

        ana.page.locator(".now, .notice.bad:visible").wait_for()
        won, lost = (ana, bia) if ana.page.locator(".now").count() else (bia, ana)
        expect(won.page.locator(".now")).to_be_visible()
        expect(lost.page.locator(".notice.bad:visible")).to_contain_text("accepted this route already")
        expect(lost.page.locator(".offer")).to_have_count(0)
        delivery.refresh_from_db()
        assert delivery.driver == won.driver

    def test_are_accepted_and_declined_one_by_one(self, ana):
        first, second = DeliveryFactory.create(stops=1), DeliveryFactory.create(stops=2)
        expect(ana.page.get_by_role("heading", name="2 offers")).to_be_visible()

        ana.page.locator(".offer").first.get_by_role("button", name="Decline").click()
        expect(ana.page.locator(".offer")).to_have_count(1)
        ana.page.locator(".offer").get_by_role("button", name="Accept").click()

        ana.page.locator(".now").wait_for()
        assert [row.delivery for row in DeclinedOffer.objects.all()] == [first]
        assert Delivery.objects.get(driver=ana.driver) == second
