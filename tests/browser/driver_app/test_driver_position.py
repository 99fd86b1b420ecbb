"""The position that drivers' phones send, with Chromium's geolocation."""

import re
from datetime import timedelta
from functools import partial
from itertools import pairwise

import pytest
from django.utils import timezone
from playwright.sync_api import expect

from delivery import looks
from delivery.actions import drivers
from delivery.drivers import devices as driver_devices
from delivery.geo.distance import Point
from delivery.lifecycle import RouteStatus, Status
from delivery.models import Delivery, DriverPosition
from tests.browser.driver_app.driver_phone import DriverPhone
from tests.browser.waiting import until
from tests.factories import PICKUP, DeliveryFactory

METRE = 1 / 111_195  # degrees of latitude


def north(metres):
    return Point(PICKUP.latitude + metres * METRE, PICKUP.longitude)


# The app sends what it has every quarter of a second instead of every five seconds. How often it has looked.
OFTEN = """
window.looks = 0;
const every = window.setInterval;
window.setInterval = (work, pause) => pause === 5_000 ? every(() => { looks += 1; work(); }, 250) : every(work, pause);
"""
# A second is a quarter of one to the page, which takes at most one position in each.
QUICK = OFTEN + "const since = performance.now.bind(performance); performance.now = () => since() * 4;"
# Chromium may tell a position only once a second, which has to be fewer looks than four.
LESS_OFTEN = QUICK.replace("250", "500")
# How often the app had looked when it sent.
SENT = """
window.sent = [];
const ask = window.fetch;
window.fetch = (...asked) => {
  if (String(asked[0].url ?? asked[0]).includes("/positions/")) sent.push(looks);
  return ask(...asked);
};
"""
# The phone's clock is `ahead` by so many milliseconds, and so are the positions of a browser that dates them by it.
CLOCK = """
window.ahead = %s;
const Right = Date;
window.Date = class extends Right {
  constructor(...moment) { if (moment.length) super(...moment); else super(Right.now() + ahead); }
  static now() { return Right.now() + ahead; }
};
const watch = navigator.geolocation.watchPosition.bind(navigator.geolocation);
navigator.geolocation.watchPosition = (take, ...rest) => watch(
  ({ coords, timestamp }) => take({ coords, timestamp: timestamp + (%s ? ahead : 0) }), ...rest);
"""
# The latitudes that the page is told from now on, and when the last came. The app's own watch is told at the same time.
LISTEN = """() => {
  if (window.heard) return;
  window.heard = [];
  window.heardAt = performance.now();
  navigator.geolocation.watchPosition(({ coords }) => { heard.push(coords.latitude); heardAt = performance.now(); });
}"""
HEARD = "(latitude) => heard.some((each) => Math.abs(each - latitude) < 1e-9)"


def positions(phone, count):
    """The positions of the phone's driver, oldest first, as soon as there are so many."""
    found = phone.driver.positions.order_by("recorded_at")
    until(phone.page, lambda: len(found.all()) >= count)
    return list(found.all())


def reaches(phone, metres):
    """Wait until the phone's driver has been seen so far north."""
    until(phone.page, lambda: phone.driver.positions.filter(latitude__gt=north(metres - 1).latitude).exists())


def move_to(phone, point, **more):
    """The app takes at most one position a second."""
    phone.page.evaluate(LISTEN)
    phone.page.wait_for_function("() => performance.now() - heardAt > 1_050")
    phone.stand_at(point, **more)
    phone.page.wait_for_function(HEARD, arg=point.latitude)


def tells_of(point, answer):
    """Whether this is the service's answer to a position at this latitude."""
    return answer.url.endswith("/driver/positions/") and str(point.latitude)[:12] in (answer.request.post_data or "")


def wait_for_looks(phone):
    """Wait until the app has looked for something to send, and has sent it: every fourth time while nobody watches."""
    before = phone.page.evaluate("looks")
    phone.page.wait_for_function("before => looks >= before + 5", arg=before)
    phone.page.wait_for_load_state("networkidle")


def pauses(phone, count):
    """So many numbers of looks between two requests, while the driver moves by some hundred metres."""
    before, moved = phone.page.evaluate("sent.length"), 0
    while len(found := phone.page.evaluate("before => sent.slice(before)", before)) <= count:
        moved += 15
        phone.stand_at(north(abs((moved + 400) % 800 - 400)), accuracy=5)  # to and fro
        phone.page.wait_for_function("looked => looks > looked + 1", arg=phone.page.evaluate("looks"))
    return [later - earlier for earlier, later in pairwise(found)]


class TestPosition:
    def test_is_reported_on_duty_with_its_accuracy(self, open_phone):
        ana = open_phone(on_duty=True, script=QUICK)
        assert [(each.point, each.accuracy_m) for each in positions(ana, 1)] == [(PICKUP, 8)]

        move_to(ana, north(15), accuracy=5)
        move_to(ana, north(30), accuracy=5)

        found = positions(ana, 3)
        assert [each.point.latitude for each in found] == pytest.approx([north(m).latitude for m in (0, 15, 30)])
        assert found[-1].recorded_by == f"driver {ana.driver.name}"
        assert ana.complaints == []

    def test_is_sent_in_batches_until_somebody_looks(self, open_phone):
        ana = open_phone(on_duty=True, script=LESS_OFTEN + SENT)
        positions(ana, 1)
        ana.page.wait_for_function("() => sent.length")

        assert min(pauses(ana, 2)) >= 4
        looks.note(ana.driver.pk)
        assert min(pauses(ana, 3)) < 4
        assert ana.complaints == []

    def test_is_sent_often_near_the_next_point(self, open_phone):
        ana = open_phone(on_duty=True, script=LESS_OFTEN + SENT)
        positions(ana, 1)
        DeliveryFactory.create(accepted=True, driver=ana.driver)
        ana.page.reload()
        ana.page.get_by_role("button", name="Collected").wait_for()

        assert min(pauses(ana, 3)) < 4

    def test_shows_the_route_of_which_no_message_came(self, open_phone):
        ana = open_phone(on_duty=True, script=QUICK)
        positions(ana, 1)
        route = DeliveryFactory.create(accepted=True, driver=ana.driver)
        collected = ana.page.get_by_role("button", name="Collected")

        move_to(ana, north(15), accuracy=5)
        collected.wait_for(timeout=5_000)
        Delivery.objects.filter(pk=route.pk).update(route_status=RouteStatus.COLLECTED, status=Status.COLLECTED)
        move_to(ana, north(30), accuracy=5)
        collected.wait_for(state="detached", timeout=5_000)
        assert ana.complaints == []

    def test_is_not_repeated_while_standing(self, open_phone):
        ana = open_phone(on_duty=True, script=OFTEN)  # for half a minute of the page
        positions(ana, 1)

        for metres in (2, 5, 3):
            move_to(ana, north(metres))
        wait_for_looks(ana)

        assert ana.driver.positions.count() == 1

    def test_is_nobodys_business_off_duty(self, open_phone):
        ana = open_phone(script=QUICK)

        move_to(ana, north(100))
        wait_for_looks(ana)
        assert not DriverPosition.objects.exists()
        ana.go_on_duty()
        positions(ana, 1)
        ana.press("Go off duty")
        ana.page.get_by_role("heading", name="You are off duty").wait_for()
        move_to(ana, north(200))
        wait_for_looks(ana)

        assert ana.driver.positions.count() == 1

    def test_of_the_time_without_a_signal_is_sent_after_a_reload(self, open_phone):
        ana = open_phone(on_duty=True, script=OFTEN)
        positions(ana, 1)
        ana.lose_signal()
        for metres in (50, 100):
            move_to(ana, north(metres))
        ana.kept("positions", "(positions) => positions?.length === 2")  # sending them has failed
        assert ana.driver.positions.count() == 1

        ana.page.reload()
        ana.find_signal()

        found = positions(ana, 3)
        assert [each.point.latitude for each in found][:3] == pytest.approx([north(m).latitude for m in (0, 50, 100)])

    def test_is_reported_off_duty_during_a_route(self, open_phone):
        ana = open_phone(on_duty=True, script=QUICK)
        positions(ana, 1)
        DeliveryFactory.create(stops=1, accepted=True, driver=ana.driver)
        drivers.set_duty([ana.driver], on_duty=False)
        expect(ana.page.get_by_text("Off duty")).to_be_visible()
        expect(ana.page.get_by_role("button", name="Collected")).to_be_visible()

        move_to(ana, north(15))

        assert positions(ana, 2)[-1].latitude == pytest.approx(north(15).latitude)

    def test_of_long_ago_tells_how_far_an_offer_is_and_when_that_was(self, open_phone):
        ana = open_phone(on_duty=True, located=False, at_point=north(2_000), at_point__age=7_200)

        DeliveryFactory.create(stops=1)

        expect(ana.page.locator(".offer")).to_contain_text("2 km to A")
        expect(ana.page.locator(".offer")).to_contain_text(re.compile(r"from where you were:\s+\d+/\d+/\d+, \d+:\d+"))

    def test_that_is_unknown_is_said_with_an_offer(self, open_phone):
        ana = open_phone(on_duty=True, located=False)

        DeliveryFactory.create(stops=1)

        expect(ana.page.locator(".offer")).to_contain_text("Your position is unknown")


class TestClock:
    @pytest.mark.parametrize("ahead", [-30_000, 900_000])
    def test_that_is_wrong_silences_no_positions_of_satellites(self, open_phone, ahead):
        ana = open_phone(on_duty=True, script=QUICK + CLOCK % (ahead, "false"))

        (found,) = positions(ana, 1)

        assert abs(timezone.now() - found.recorded_at) < timedelta(seconds=20)

    def test_that_is_put_right_on_the_way_stops_no_positions(self, open_phone):
        ana = open_phone(on_duty=True, script=QUICK + CLOCK % (7_200_000, "true"))
        positions(ana, 1)

        ana.page.evaluate("ahead = 0")
        move_to(ana, north(50))

        assert positions(ana, 2)[-1].point.latitude == pytest.approx(north(50).latitude)


class TestTwoTabs:
    def test_report_from_the_one_that_is_seen(self, open_phone):
        """Browsers tell hidden pages no positions. Headless ones hide none, so the first is made deaf instead."""
        ana = open_phone(on_duty=True, script=OFTEN)
        positions(ana, 1)
        first = ana.page
        first.evaluate("navigator.geolocation.clearWatch(1)")

        ana.page = ana.context.new_page()
        ana.go("/driver/").locator(".duty.on").wait_for()
        move_to(ana, north(50))

        reaches(ana, 50)
        first.evaluate("document.dispatchEvent(new Event('visibilitychange'))")
        ana.page.close()
        ana.page = first
        move_to(ana, north(100))
        reaches(ana, 100)


class TestWithoutUse:
    def test_is_told_and_ends_with_the_next_position_that_can_be_true(self, open_phone):
        ana = open_phone(on_duty=True, script=QUICK)
        positions(ana, 1)
        notice = ana.page.get_by_text("Nobody sees where you are.")

        for metres in (20, 40, 60):
            with ana.page.expect_response(partial(tells_of, north(metres))):  # one request for each
                move_to(ana, north(metres), accuracy=5_000)

        notice.wait_for()
        assert ana.driver.positions.count() == 1
        move_to(ana, north(80))
        notice.wait_for(state="detached")

    def test_is_told_of_positions_that_the_service_fails_at(self, open_phone):
        tries = []

        def fail(route):
            tries.append(route.request.url)
            route.fulfill(status=500, content_type="text/plain", body="")

        ana = open_phone(script=QUICK.replace("250", "20"))
        ana.page.route("**/driver/positions/", fail)
        ana.go_on_duty()

        ana.page.get_by_text("Nobody sees where you are.").wait_for()

        assert len(tries) == 6

    def test_of_one_wrong_position_lasts_for_three_right_ones(self, open_phone):
        ana = open_phone(script=QUICK)
        ana.stand_at(north(33_000))
        ana.go_on_duty()
        (wrong,) = positions(ana, 1)

        for metres in (20, 40, 60):
            move_to(ana, north(metres))
            wait_for_looks(ana)

        assert wrong.point.latitude == pytest.approx(north(33_000).latitude)
        assert positions(ana, 4)[-1].point.latitude == pytest.approx(north(60).latitude)


class TestWithoutPermission:
    def test_the_page_says_how_to_allow_it_and_work_goes_on(self, open_phone):
        ana = open_phone(located=False, on_duty=True)

        told = [("iPhone", "Open Settings"), ("SamsungBrowser", "Sites and downloads"), ("Firefox", "lock")]
        for agent, words in [*told, ("", "Permissions")]:
            property_ = f"{{ get: () => {agent!r}, configurable: true }}"
            ana.page.add_init_script(f"Object.defineProperty(navigator, 'userAgent', {property_})")
            ana.page.reload()
            expect(ana.page.locator(".notice")).to_contain_text(words)

        notice = ana.page.locator("details.notice")
        notice.locator("summary").focus()
        ana.page.keyboard.press("Enter")
        delivery = DeliveryFactory.create(stops=1)
        ana.page.locator(".offer button.prime").wait_for()
        first = notice.element_handle()
        ana.page.locator(".offer button.prime").evaluate("(button) => button.click()")  # without the focus
        ana.page.locator(".now").wait_for()
        assert not first.evaluate("(each) => each.isConnected")  # it was drawn again
        expect(notice).to_have_attribute("open", "")
        expect(notice.locator("summary")).to_be_focused()
        delivery.refresh_from_db()
        assert delivery.driver == ana.driver


class TestTwoPhones:
    def test_one_reports_and_the_other_can_take_over(self, open_phone, chromium, site):
        first = open_phone(on_duty=True, script=QUICK)
        second = DriverPhone(chromium.new_context(permissions=["geolocation"]), site, first.driver)
        second.stand_at(north(40))
        second.enter()
        second.page.get_by_text("Another phone of yours sends where you are.").wait_for()

        second.press("Send from this phone")

        first.page.get_by_text("Another phone of yours sends where you are.").wait_for()
        north_of = {"latitude__gt": north(39).latitude, "latitude__lt": north(41).latitude}
        until(second.page, lambda: first.driver.positions.filter(**north_of).exists())
        second.context.close()


class TestSession:
    def test_that_a_dispatcher_ends_leaves_nothing_of_the_route_on_the_phone(self, open_phone):
        ana = open_phone(on_duty=True, script=QUICK)
        DeliveryFactory.create(stops=1, accepted=True, driver=ana.driver)
        ana.page.locator(".now").wait_for()

        driver_devices.end(device=ana.driver.devices.get(), by="tester", at=timezone.now())
        ana.page.evaluate("document.dispatchEvent(new Event('visibilitychange'))")

        ana.page.get_by_role("heading", name="You are not logged in").wait_for()
        ana.kept("state", "(state) => state === null")
        ana.lose_signal()
        ana.page.reload()
        ana.page.locator("#screen h1").wait_for()
        assert "3333" not in ana.page.locator("main").inner_text()
        assert ana.page.locator(".now").count() == 0
