"""The page Scan on a device: a keyboard reader, without a signal, and what is asked of the person who scans."""

from typing import Any

import pytest
from django.conf import settings
from django.contrib.auth.models import User
from django.contrib.sessions.models import Session
from django.http import HttpResponse
from playwright.sync_api import expect

from common import clock
from integration.carriers import movements
from integration.carriers.movements import Movement
from integration.lifecycle import Status
from integration.models import Order, StatusLog
from panel.sellers.views import scan
from tests.browser.waiting import until
from tests.integration.factories import OTHER_COMPANY, SellerFactory, create_order

SCAN = "/panel/scan/"
_STORED = """() => new Promise((done) => {
  indexedDB.open("scan").onsuccess = ({ target: { result: database } }) => {
    database.transaction("scans").objectStore("scans").count().onsuccess = ({ target }) => {
      database.close();
      done(target.result);
    };
  };
})"""


@pytest.fixture
def depot(tab, people):
    """The browser of somebody of the depot, who has chosen to scan parcels that were collected."""
    people("davi", group="Depot staff")
    browser = tab(width="390")
    browser.log_in("davi")
    browser.go(SCAN)
    choose(browser.page, "Collected")
    return browser


def choose(page, status):
    page.get_by_role("button", name="Choose", exact=True).or_(page.get_by_role("button", name="Change")).click()
    page.get_by_label(status, exact=True).check()
    page.wait_for_timeout(450)  # a sheet takes no tap before, see offline/sheets.js
    page.get_by_role("button", name="Scan", exact=True).click()
    expect(page.locator("#code")).to_be_focused()


def read(page, *codes, end="Enter"):
    """What a keyboard reader does."""
    for code in codes:
        page.keyboard.type(code)
        page.keyboard.press(end)


def hold_shortly(page):
    """A scan waits for its successor half a second instead of five, until the page is loaded anew."""
    page.evaluate("() => { const now = Date.now; Date.now = () => now() + 4_500; }")


def count(page, name, number):
    expect(page.locator(".counts div", has_text=name).locator("dd")).to_have_text(str(number))


def stored(page, number):
    """Wait until so many scans are written to the device, which is after they are shown."""
    until(page, lambda: page.evaluate(_STORED) == number)


def entries():
    """Those after the creation."""
    return list(StatusLog.objects.exclude(status="pending").values_list("order__tracking_code", "status"))


class TestKeyboardReader:
    def test_records_each_parcel_once_and_keeps_what_is_refused_on_top(self, depot, seller):
        page = depot.page
        codes = [create_order(seller, orderId=f"A-{number}").tracking_code for number in range(20)]
        hold_shortly(page)

        read(page, *codes[:10])
        read(page, codes[9].lower(), "UNKNOWN-1")
        page.get_by_role("heading", name="Last scans").click()  # the focus returns
        read(page, *codes[10:], end="Tab")

        count(page, "Done today", 20)
        count(page, "Refused", 1)
        refusal = page.locator(".notice.bad", has_text="UNKNOWN-1")
        assert entries() == [(code, "collected") for code in codes]
        assert depot.findings("scan") == []
        refusal.get_by_role("button", name="I have read it").click()
        expect(refusal).to_have_count(0)
        assert page.locator("#list li").count() == 21  # with the code in lower case, of which the service said it

    def test_says_already_for_the_same_code_under_the_same_move_for_two_minutes(self, depot, seller):
        page, order = depot.page, create_order(seller)
        code = order.tracking_code

        read(page, code, code)
        expect(page.locator(".last")).to_contain_text("It was scanned before.")
        page.get_by_role("button", name="Undo the last").click()
        expect(page.locator("dialog")).to_contain_text("It has changed nothing.")
        page.keyboard.press("Escape")
        count(page, "Done today", 1)
        assert page.locator("#list li").count() == 1

        movements.record(
            [Movement("1", code, Status.DELIVERED)], orders=Order.objects.all(), source="other", by="x", at=clock.now()
        )
        page.evaluate("() => { const now = Date.now; Date.now = () => now() + 121_000; }")
        read(page, code)
        count(page, "Refused", 1)


class TestUndo:
    def test_takes_the_last_scan_back_before_it_is_sent_and_says_what_to_do_later(self, depot, seller):
        page = depot.page
        codes = [create_order(seller, orderId=f"A-{number}").tracking_code for number in range(2)]
        undo = page.get_by_role("button", name="Undo the last")

        read(page, *codes)
        undo.click()
        expect(page.locator(".last")).to_contain_text("Taken back")
        count(page, "Done today", 1)
        read(page, codes[1])
        count(page, "Done today", 2)
        undo.click()

        expect(page.locator("dialog")).to_contain_text("In transit, Out for delivery, Delivered")
        assert entries() == [(code, "collected") for code in codes]


class TestCodeOfTwoSellers:
    def test_is_sent_for_the_one_that_is_chosen(self, depot, seller):
        create_order(seller, trackingCode="TWICE")
        other = SellerFactory.create(name="Papelaria Sol", documents=(OTHER_COMPANY,))
        create_order(other, trackingCode="TWICE", company_document=OTHER_COMPANY)
        hold_shortly(depot.page)

        read(depot.page, "TWICE")
        depot.page.get_by_role("button", name="Papelaria Sol").click()

        count(depot.page, "Done today", 1)
        count(depot.page, "Refused", 0)
        read(depot.page, "TWICE")  # the next parcel
        count(depot.page, "Refused", 1)
        assert list(StatusLog.objects.filter(status="collected").values_list("order__seller__name", flat=True)) == [
            "Papelaria Sol"
        ]


class TestWithoutSignal:
    def test_what_is_scanned_outlives_the_page_and_is_sent_in_order(self, depot, seller, monkeypatch):
        page, context = depot.page, depot.page.context
        codes = [create_order(seller, orderId=f"A-{number}").tracking_code for number in range(3)]
        page.evaluate("navigator.serviceWorker.ready.then(() => true)")
        page.wait_for_function("() => navigator.serviceWorker.controller !== null")
        context.set_offline(True)
        read(page, *codes[:2])
        count(page, "Waiting", 2)
        stored(page, 2)

        # The page that ends sends once more, and the browser may do so without the missing connection of the test.
        with monkeypatch.context() as patch:
            patch.setattr(scan.Movements, "post", lambda *_arguments: HttpResponse(status=503))
            page.reload()
            count(page, "Waiting", 2)
        expect(page.locator("#code")).to_be_focused()
        read(page, codes[2])
        page.get_by_text("What you scan is kept on this device").wait_for()
        page.get_by_role("button", name="Menu").click()
        expect(page.locator("dialog")).to_contain_text("Scans not sent yet: 3.")
        page.keyboard.press("Escape")
        assert entries() == []

        context.set_offline(False)
        count(page, "Done today", 3)
        assert entries() == [(code, "collected") for code in codes]


class TestNextPerson:
    def test_meets_nothing_of_the_former_one_whose_log_out_and_scans_are_sent_later(self, depot, seller):
        page, context = depot.page, depot.page.context
        code = create_order(seller).tracking_code
        page.wait_for_function("() => navigator.serviceWorker.controller !== null")
        context.set_offline(True)
        read(page, code)
        page.get_by_role("button", name="Menu").click()
        page.wait_for_timeout(450)
        page.get_by_role("button", name="Log out").click()
        expect(page.locator("#screen")).to_contain_text("The log-out is completed when")
        expect(page.locator(".notice.bad:visible")).to_have_count(0)

        page.reload()
        expect(page.locator("#screen")).to_contain_text("Scans that were not sent")
        context.set_offline(False)
        expect(page.locator("#screen")).not_to_contain_text("The log-out is completed when")
        assert not Session.objects.exists()
        assert entries() == []

        depot.log_in("davi")
        page.reload()
        expect(page.get_by_role("button", name="Choose", exact=True)).to_be_visible()
        until(page, lambda: entries() == [(code, "collected")])

    def test_is_not_taken_for_one_who_has_logged_out_on_another_page(self, depot):
        page, context = depot.page, depot.page.context
        expect(page.locator("#bar")).to_contain_text("davi")
        page.wait_for_function("() => navigator.serviceWorker.controller !== null")
        context.add_cookies([{"name": settings.PERSON_CHANGED_COOKIE_NAME, "value": "1", "url": depot.base}])
        context.set_offline(True)
        page.reload()

        expect(page.locator("#screen")).to_contain_text("No connection.")
        expect(page.locator("body")).not_to_contain_text("davi")

    def test_is_not_who_an_answer_names_that_was_asked_for_before_the_log_out(self, depot):
        page = depot.page
        held: list[Any] = []

        def hold_first(route):
            if held:
                route.continue_()
            else:
                held.append((route, route.fetch()))

        page.route("**/panel/scan/state/", hold_first)
        page.evaluate("() => { dispatchEvent(new Event('online')); }")
        until(page, lambda: held)
        page.get_by_role("button", name="Menu").click()
        page.wait_for_timeout(450)
        page.get_by_role("button", name="Log out").click()
        expect(page.locator("#screen")).to_contain_text("You are not logged in")

        ((route, answer),) = held
        route.fulfill(response=answer)

        page.wait_for_timeout(200)  # in which the page would show who it names
        expect(page.locator("#screen")).to_contain_text("You are not logged in")
        expect(page.locator("#bar")).not_to_contain_text("davi")

    def test_is_told_that_nobody_else_may_scan(self, depot):
        page = depot.page
        User.objects.get(username="davi").groups.clear()

        page.evaluate("() => { dispatchEvent(new Event('online')); }")

        expect(page.locator("#screen")).to_contain_text("You may not scan")
        expect(page.locator("#work")).to_be_hidden()


# A camera that shows a grey picture.
CAMERA = """() => {
  navigator.mediaDevices.getUserMedia = async () => {
    const canvas = document.createElement("canvas");
    const context = canvas.getContext("2d");
    context.fillStyle = "grey";
    setInterval(() => context.fillRect(0, 0, canvas.width, canvas.height), 50);
    const stream = canvas.captureStream(20);
    [window.track] = stream.getVideoTracks();
    return stream;
  };
}"""


class TestCamera:
    def test_that_is_lost_says_so_and_stops_when_nobody_is_logged_in(self, depot):
        page, button = depot.page, depot.page.get_by_role("button", name="Camera")
        page.evaluate(CAMERA)
        button.click()
        expect(page.locator("#camera")).to_be_visible()
        page.evaluate("() => { track.dispatchEvent(new Event('ended')); }")
        expect(page.locator(".notice.bad:visible")).to_contain_text("The camera has stopped.")
        expect(page.locator("#camera")).to_be_hidden()

        button.click()
        expect(page.locator("#camera")).to_be_visible()
        Session.objects.all().delete()
        page.evaluate("() => { dispatchEvent(new Event('online')); }")
        expect(page.locator("#screen")).to_contain_text("You are not logged in")
        until(page, lambda: page.evaluate("() => track.readyState") == "ended")
