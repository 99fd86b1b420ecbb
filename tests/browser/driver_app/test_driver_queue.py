"""Moves and photos without a signal: kept on the phone, sent in order and once, whatever happens in between."""

import re
from datetime import timedelta
from functools import partial

import pytest
from django.utils import timezone
from playwright.sync_api import expect

from delivery.actions import deliveries
from delivery.models import DriverMove
from tests.browser.waiting import shown, until
from tests.factories import BY, DeliveryFactory, DriverFactory

COLLECT = ("collect", "")


@pytest.fixture
def delivery(ana):
    delivery = DeliveryFactory.create(
        stops=2, accepted=True, driver=ana.driver, at=timezone.now() - timedelta(minutes=5)
    )
    ana.page.get_by_role("button", name="Collected").wait_for()
    return delivery


def collect(phone):
    phone.press("Collected")
    phone.confirm("Yes, collected")


def deliver(phone):
    phone.press("Delivered")
    phone.confirm("Confirm delivery")


def fail(phone):
    phone.press("Couldn't deliver")
    phone.page.get_by_label("Nobody there").check()
    phone.confirm("Not delivered")


def triggers(delivery):
    """The moves in the history, in their order."""
    return list(delivery.transitions.order_by("id").exclude(trigger="request").values_list("trigger", "point"))


def made(phone, delivery, *moves):
    """Wait until these moves and no others were made after the acceptance, and nothing waits on the phone."""
    until(phone.page, lambda: len(triggers(delivery)) > len(moves))
    expect(phone.page.get_by_text("Waiting to be sent")).to_have_count(0)
    assert triggers(delivery) == [("accept", ""), *moves]


class TestRouteThatIsGone:
    @pytest.mark.parametrize(
        ("take", "text"),
        [
            (partial(deliveries.cancel, reason=""), "Your route was cancelled."),
            (deliveries.release, "The dispatcher has taken your route from you."),
        ],
        ids=["cancelled", "released"],
    )
    def test_is_told_until_it_is_read_and_closes_its_sheet(self, ana, delivery, take, text):
        page = ana.page
        ana.press("Collected")
        page.locator("dialog[open]").wait_for()

        take(delivery=delivery, by=BY, at=timezone.now())

        notice = page.locator(".notice", has_text=text)
        expect(notice).to_contain_text(delivery.contact_name)
        expect(page.locator("dialog")).to_have_count(0)
        ana.kept("state", "(kept) => Boolean(kept.gone)")
        page.reload()
        notice.get_by_role("button", name="I have read it").click()
        expect(notice).to_have_count(0)
        ana.kept("state", "(kept) => kept.gone === null")


class TestRoute:
    def test_is_made_move_by_move(self, ana, delivery):
        page = ana.page
        place = delivery.ordered_stops[0]

        expect(page.get_by_role("link", name=re.compile("Call"))).to_have_attribute("href", "tel:+551133330000")
        collect(ana)
        expect(page.locator(".task")).to_have_text(re.compile("B\\s+Deliver here"))
        ana.press("Navigate")
        page.locator("dialog[open]").wait_for()
        links = page.locator("dialog a").evaluate_all("links => links.map((link) => link.href)")
        ana.confirm("Back")
        deliver(ana)
        expect(page.locator(".task")).to_have_text(re.compile("C\\s+Deliver here"))
        fail(ana)
        ana.press("Returned to A")
        ana.confirm("Yes, returned")

        ana.go_on_after_route()
        made(ana, delivery, COLLECT, ("deliver", "B"), ("fail", "C"), ("return", ""))
        assert delivery.transitions.get(trigger="fail").reason == "Nobody there"
        assert [link.split(":")[0] for link in links] == ["https", "https", "geo"]
        assert all(str(place.latitude) in link for link in links)
        assert ana.complaints == []


class TestSummary:
    def test_that_was_read_is_not_shown_again_by_an_answer_to_an_earlier_question(self, ana):
        DeliveryFactory.create(stops=1, collected=True, driver=ana.driver)
        ana.page.get_by_role("button", name="Delivered", exact=True).wait_for()
        held = []
        hold = lambda route: held.append(route)  # noqa: E731, PLW0108  # Playwright marks the function
        ana.page.route("**/driver/state/", hold, times=1)
        ana.page.evaluate("dispatchEvent(new Event('online'))")
        until(ana.page, lambda: held)
        deliver(ana)
        ana.go_on_after_route()

        with ana.page.expect_response("**/driver/state/") as answered:
            held[0].continue_()
        shown(ana.page, answered.value)

        expect(ana.page.get_by_role("heading", name="Waiting for offers")).to_be_visible()


# The page waits 2 s and more between its tries, here as many milliseconds.
_QUICK = "const later = window.setTimeout; window.setTimeout = (work, pause) => later(work, pause / 1_000);"
# The service fails at the first call, and after it the phone cannot read what it keeps, once.
_FAILING = """
let calls = 0, faults = 0;
const { fetch: call } = window;
window.fetch = (address, options) => {
  if (!address.endsWith("/moves/") || calls++) return call(address, options);
  faults = 1;
  return Promise.resolve(new Response("", { status: 500 }));
};
const { getAll } = IDBObjectStore.prototype;
IDBObjectStore.prototype.getAll = function () {
  if (faults-- > 0) throw new DOMException("", "UnknownError");
  return getAll.call(this);
};
"""


class TestFaults:
    def test_of_the_phone_do_not_end_the_tries(self, open_phone):
        ana = open_phone(name="Ana Lima", on_duty=True, script=_QUICK + _FAILING)
        delivery = DeliveryFactory.create(stops=1, accepted=True, driver=ana.driver)

        collect(ana)

        made(ana, delivery, COLLECT)
        assert ana.complaints == ["UnknownError"]

    def test_of_the_service_are_told_in_the_end_and_the_move_is_sent_when_the_driver_wants(self, open_phone):
        ana = open_phone(name="Ana Lima", on_duty=True, script=_QUICK)
        delivery = DeliveryFactory.create(stops=1, accepted=True, driver=ana.driver)
        tries = []

        def fail_once_more(route):
            tries.append(route.request.post_data)
            route.fulfill(status=500, content_type="text/plain", body="")

        ana.page.route("**/driver/moves/", fail_once_more)
        ana.page.get_by_role("button", name="Collected").wait_for()
        collect(ana)
        until(ana.page, lambda: len(tries) == 12)
        again = ana.page.get_by_role("button", name="Try again")
        again.wait_for()
        ana.page.evaluate("document.dispatchEvent(new Event('visibilitychange'))")
        ana.page.wait_for_load_state("networkidle")
        assert len(tries) == 12
        assert triggers(delivery) == [("accept", "")]

        ana.page.unroute("**/driver/moves/")
        again.click()

        made(ana, delivery, COLLECT)


class TestPressDuringACall:
    def test_is_shown_and_done_after_it(self, open_phone):
        ana, delivery = open_phone(name="Ana Lima"), DeliveryFactory.create(stops=1)
        held = []
        ana.page.route("**/driver/duty/", lambda route: held.append((route, route.fetch())))
        ana.press("Go on duty")
        until(ana.page, lambda: held)
        ana.page.evaluate("document.dispatchEvent(new Event('visibilitychange'))")

        ana.page.get_by_role("button", name=re.compile("Accept")).click()
        expect(ana.page.locator("body")).to_have_attribute("aria-busy", "true")
        ((route, answer),) = held
        route.fulfill(response=answer)

        ana.page.get_by_role("button", name="Collected").wait_for()
        delivery.refresh_from_db()
        assert delivery.driver == ana.driver


class TestSecondTap:
    def test_on_a_confirmation_makes_no_second_move(self, ana, delivery):
        ana.press("Collected")
        button = ana.sheet_button("Yes, collected")

        button.evaluate("(button) => { button.click(); button.click(); }")

        ana.page.locator("dialog[open]").wait_for(state="detached")
        made(ana, delivery, COLLECT)
        assert DriverMove.objects.count() == 1

    def test_on_what_opens_a_sheet_opens_no_second_one(self, ana, delivery):
        collect(ana)
        button = ana.page.get_by_role("button", name="Delivered")

        button.evaluate("(button) => { button.click(); button.click(); }")

        deliver_button = ana.sheet_button("Confirm delivery")
        assert ana.page.locator("dialog").count() == 1
        deliver_button.click()
        made(ana, delivery, COLLECT, ("deliver", "B"))


class TestWithoutSignal:
    def test_a_whole_route_is_kept_and_sent_in_order(self, ana, delivery):
        ana.lose_signal()
        before = timezone.now()
        collect(ana)
        deliver(ana)
        deliver(ana)
        ana.page.get_by_role("heading", name="Route finished").wait_for()
        ana.page.get_by_text("Waiting to be sent: Collected at A, Delivered at B, Delivered at C").wait_for()
        pressed, waited = timezone.now(), timedelta(seconds=1.5)
        until(ana.page, lambda: timezone.now() - pressed > waited)
        assert triggers(delivery) == [("accept", "")]

        ana.find_signal()
        made(ana, delivery, COLLECT, ("deliver", "B"), ("deliver", "C"))
        assert DriverMove.objects.count() == 3
        for move in DriverMove.objects.all():  # by how long before it was sent it was made
            assert before < move.made_at < move.received_at - waited
        ana.go_on_after_route()

    def test_nothing_is_lost_when_the_page_is_killed(self, ana, delivery):
        ana.lose_signal()
        collect(ana)
        deliver(ana)
        ana.page.close()

        ana.page = ana.context.new_page()
        ana.page.goto(f"{ana.base}/driver/")
        ana.page.get_by_text("Waiting to be sent: Collected at A, Delivered at B").wait_for()
        expect(ana.page.locator(".task")).to_have_text(re.compile("C\\s+Deliver here"))
        ana.find_signal()
        made(ana, delivery, COLLECT, ("deliver", "B"))

    def test_a_lost_answer_does_not_make_a_move_twice(self, ana, delivery):
        """The service makes the move, the answer does not arrive, and the page is loaded anew."""
        lost: list[int] = []

        def lose(route):
            if not lost:  # nor is it sent again before the page is loaded anew
                lost.append(route.fetch().status)
            route.abort()

        ana.page.route("**/driver/moves/", lose)
        with ana.page.expect_event("requestfailed"):
            collect(ana)
        assert lost == [200]
        expect(ana.page.get_by_text("Waiting to be sent: Collected at A")).to_be_visible()

        ana.page.unroute("**/driver/moves/")
        ana.page.reload()
        made(ana, delivery, COLLECT)
        assert DriverMove.objects.count() == 1

    def test_a_move_that_became_impossible_is_explained(self, ana, delivery):
        ana.lose_signal()
        collect(ana)
        deliveries.reassign(delivery=delivery, driver=DriverFactory.create(), by=BY, at=timezone.now())

        ana.find_signal()

        notice = ana.page.locator(".notice.bad", has_text="Not accepted")
        expect(notice).to_contain_text("Not accepted: Collected at A")
        expect(notice).to_contain_text("This route is not yours any more.")
        notice.get_by_role("button").click()
        expect(notice).to_have_count(0)
        ana.page.reload()
        ana.page.get_by_role("heading", name="Waiting for offers").wait_for()
        assert notice.count() == 0
        expect(ana.page.locator(".notice.bad", has_text="Bring the goods back to A")).to_have_count(1)

    def test_the_moves_of_another_driver_stay_for_their_driver(self, ana, delivery):
        ana.lose_signal()
        collect(ana)
        ana.page.route("**/driver/moves/", lambda route: route.abort())  # until the other one has the phone
        ana.find_signal()
        owner, ana.driver = ana.driver, DriverFactory.create(name="Bia Reis", on_duty=False)

        ana.enter()
        ana.page.get_by_text("Another driver's moves wait on this phone.").wait_for()
        ana.page.unroute("**/driver/moves/")
        ana.page.reload()
        ana.page.get_by_text("Another driver's moves wait on this phone.").wait_for()
        assert not DriverMove.objects.exists()
        ana.driver = owner
        ana.enter()
        made(ana, delivery, COLLECT)
