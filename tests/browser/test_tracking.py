"""The receiver's page, while a dispatcher moves the route: states, map, PIN, proof, and the end of the link."""

from datetime import timedelta
from uuid import uuid4

import pytest
from django.utils import timezone
from playwright.sync_api import expect

from delivery.actions import deliveries, drivers, proofs
from delivery.geo.distance import Point
from delivery.models import ArrivalEstimate, StopProof
from delivery.payload import Options
from tests.browser.looks import IN_BOTH_LANGUAGES
from tests.browser.waiting import until
from tests.delivery.receivers.links import delivery, driver_of, path_of
from tests.factories import BY, DROPOFFS, PICKUP, DriverFactory
from tests.photos import photo

POINTS = ".leaflet-marker-icon.destination"
DRIVER = ".leaflet-marker-icon.driver"


@pytest.fixture
def found(map_file, photo_folder):
    """A delivery with another stop before the receiver's, who has a PIN and instructions."""
    return delivery(Options(), Options(has_pin=True, instructions="Ring the bell of flat 42."))


def ask(page):
    """What the page does every ten seconds."""
    with page.expect_response(lambda answer: "/t/" in answer.url and ".pmtiles" not in answer.url):
        page.evaluate("window.dispatchEvent(new Event('online'))")


def move(name, found, **values):
    getattr(deliveries, name)(delivery=found, by=BY, at=timezone.now(), **values)


def expect_arrival(found):
    now = timezone.now()
    ArrivalEstimate.objects.update_or_create(
        stop=found.stops.get(index=1),
        defaults={
            "arrives_at": now + timedelta(minutes=14),
            "earliest": now + timedelta(minutes=10),
            "latest": now + timedelta(minutes=21),
            "computed_at": now,
            "engine": "distance",
        },
    )


class TestStates:
    """In both languages, and also at the width of the narrowest phones."""

    @IN_BOTH_LANGUAGES
    def test_can_be_read(self, walk, map_file, photo_folder):
        asked = Options(has_pin=True, instructions="Ring the bell of flat 42.")
        now = timezone.now()
        made = {
            name: delivery(Options(), asked, driver=None) for name in ("prepared", "to-the-shop", "before", "to-you")
        }
        for name in ("to-the-shop", "before", "to-you"):
            driver = DriverFactory.create(name="Ana Souza Lima", at_point=PICKUP)
            deliveries.accept(delivery=made[name], driver=driver, by=BY, at=now)
        for name in ("before", "to-you"):
            move("collect", made[name])
            expect_arrival(made[name])
        move("deliver", made["to-you"], point="B")
        delivered, failed, ended = (
            delivery(collected=True),
            delivery(collected=True),
            delivery(collected=True, at=now - timedelta(hours=49)),
        )
        prove(delivered, "B", received_by="Dona Rita")
        move("deliver", delivered, point="B")
        move("fail", failed, point="B", reason="Ninguém no endereço")
        paths = {name: path_of(found, 1) for name, found in made.items()}
        paths |= {"delivered": path_of(delivered), "failed": path_of(failed), "ended": path_of(ended)}
        deliveries.deliver(delivery=ended, point="B", by=BY, at=now - timedelta(hours=48))
        way = walk()
        way.widths = (*way.widths, "360")

        way.over({f"tracking-{name}": path for name, path in paths.items() if name != "ended"})
        way.over({"tracking-ended": paths["ended"]}, status=410)
        way.over({"tracking-unknown": "/t/nothing/"}, status=404)
        way.page.emulate_media(color_scheme="dark")
        way.over({f"tracking-{name}-dark": paths[name] for name in ("to-you", "failed")})

        assert way.problems == []


def prove(found, point, *, received_by):
    now = timezone.now()
    proofs.add(
        driver=driver_of(found), upload=uuid4(), delivery=found.pk, point=point, content=photo(size=(640, 480)),
        taken_at=now, at=now,
    )  # fmt: skip
    StopProof.objects.create(stop=found.stops.get(index="BCD".index(point)), received_by=received_by)


def test_a_receiver_follows_the_order_from_the_shop_to_the_proof(tab, found):
    browser = tab()
    path = path_of(found, 1)
    page = browser.go(path)
    title, mapped = page.locator("h1"), page.locator("#map")

    expect(title).to_have_text("The shop is preparing your order.")
    expect(page.locator(".digits")).to_have_text(found.stops.get(index=1).options.pin)
    expect(mapped).to_be_hidden()
    assert page.evaluate("typeof L") == "undefined"  # the map's files are not loaded yet

    move("accept", found, driver=None)
    ask(page)
    expect(title).to_have_text("Ana is on the way to the shop.")
    expect(mapped).to_be_hidden()

    move("collect", found)
    expect_arrival(found)
    ask(page)
    expect(title).to_contain_text("Ana")
    expect(title).to_contain_text("1")
    expect(page.locator(POINTS)).to_be_visible()
    expect(page.locator(DRIVER)).to_be_visible()
    expect(page.locator("#map .leaflet-tooltip")).to_have_text(["Your address", "Ana"])
    expect(page.locator(".arrival b")).to_be_visible()

    move("deliver", found, point="B")
    place = page.locator(DRIVER).bounding_box()
    on_the_way = Point((DROPOFFS[0][0] + DROPOFFS[1][0]) / 2, (DROPOFFS[0][1] + DROPOFFS[1][1]) / 2)
    drivers.set_position(driver=driver_of(found), point=on_the_way, by=BY, at=timezone.now())
    ask(page)
    expect(title).to_have_text("Ana is on the way to you.")
    until(page, lambda: page.locator(DRIVER).bounding_box() not in (place, None))
    expect(page.locator("[aria-current=step]")).to_have_text("On the way")
    expect(page.locator("#announcement")).to_have_text(title.inner_text())
    for marker in (POINTS, DRIVER):  # also after the changes of size
        expect(page.locator(marker)).to_be_in_viewport()

    prove(found, "C", received_by="Dona Rita")
    move("deliver", found, point="C")
    ask(page)
    expect(title).to_have_text("Your order was delivered.")
    expect(mapped).to_be_hidden()
    expect(page.locator(".digits")).to_have_count(0)
    expect(page.get_by_text("Dona Rita")).to_be_visible()
    page.locator("section img").scroll_into_view_if_needed()
    page.wait_for_function("() => document.querySelector('section img').naturalWidth === 640")

    assert browser.complaints == []


def test_goes_to_the_page_of_an_ended_link_by_itself(tab):
    found = delivery(collected=True, at=timezone.now() - timedelta(hours=50))
    browser = tab()
    page = browser.go(path_of(found))
    deliveries.deliver(delivery=found, point="B", by=BY, at=timezone.now() - timedelta(hours=48))

    page.evaluate("window.dispatchEvent(new Event('online'))")

    expect(page.locator("h1")).to_have_text("This link has ended")


def test_says_when_there_is_no_connection_and_goes_on_with_it(tab):
    found = delivery(collected=True)
    browser = tab()
    page = browser.go(path_of(found))
    page.locator(POINTS).wait_for()

    page.context.set_offline(True)
    for _try in range(2):
        with page.expect_event("requestfailed"):
            page.evaluate("window.dispatchEvent(new Event('online'))")
    expect(page.locator("#offline")).to_contain_text("No connection")
    page.context.set_offline(False)

    expect(page.locator("#offline")).to_be_hidden()
    expect(page.locator("h1")).to_have_text("Ana is on the way to you.")


def test_asks_every_ten_seconds_and_is_answered_that_nothing_has_changed(tab):
    found = delivery(collected=True)
    browser = tab()
    page = browser.page
    page.clock.install()
    browser.go(path_of(found))
    page.locator(POINTS).wait_for()

    statuses: list[int] = []
    page.on("response", lambda answer: statuses.append(answer.status) if "/t/" in answer.url else None)
    started = page.evaluate("Date.now()")
    for _second in range(120):
        page.clock.run_for(1_000)
        page.wait_for_timeout(50)  # an answer, and the script that reads it, take real time
        if len(statuses) == 3:
            break

    assert statuses == [200, 304, 304]
    assert page.evaluate("Date.now()") - started >= 30_000
