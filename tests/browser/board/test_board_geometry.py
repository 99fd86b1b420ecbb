"""Where things are on the dispatch board: the map fills the window, the list scrolls alone, for few and many routes."""

import re
from datetime import timedelta

import pytest
from django.utils import timezone
from playwright.sync_api import expect

from delivery.actions import deliveries
from delivery.geo.distance import Point
from delivery.models import Integrator, Token
from tests.browser.tab import WIDTHS
from tests.browser.waiting import resize, until
from tests.factories import BY, PICKUP, DeliveryFactory, DriverFactory, validated_payload

BOX = """(selector) => {
    const box = document.querySelector(selector).getBoundingClientRect();
    return [box.x, box.y, box.right, box.bottom].map(Math.round);
}"""
# Whether a turn of the wheel, from now on, has been worked off.
WHEEL = """() => {
    const wheel = { isDone: false };
    const frame = (next) => requestAnimationFrame(next);
    addEventListener("wheel", () => frame(() => frame(() => { wheel.isDone = true; })), { capture: true, once: true });
    return wheel;
}"""
TABS = ("all", "late", "waiting", "to-collect", "on-the-way", "returning")


def make_routes(shop, count):
    """So many routes, each 200 m farther east than the one before, every second one with a driver."""
    Integrator.objects.filter(pk=shop.integrator_id).update(allow_any_pickup=True)
    shop = Token.objects.select_related("integrator").get(pk=shop.pk)
    made = []
    for number in range(count):
        place = validated_payload().pickup
        point = Point(PICKUP.latitude, PICKUP.longitude + number * 0.002)
        payload = validated_payload(stops=1, pickup=type(place)(point=point, address={"street": f"Rua {number}"}))
        delivery = DeliveryFactory.create(token=shop, payload=payload)
        if number % 2:
            deliveries.accept(delivery=delivery, driver=DriverFactory.create(), by=BY, at=timezone.now())
        made.append(delivery)
    return made


def shows_all(page, count):
    """How many routes each marker stands for, if they are so many together and some markers stand for several."""
    texts = page.locator("#map .board-marker").all_inner_texts()
    numbers = [int(text) if text.isdecimal() else 1 for text in texts]
    return numbers if sum(numbers) == count > len(numbers) else []


@pytest.fixture
def board(open_board):
    return lambda: open_board(locale="pt-BR").page


@pytest.mark.parametrize("count", [0, 3, 60])
def test_the_page_never_scrolls_and_the_map_fills_its_part(board, shop, count):
    make_routes(shop, count)
    page = board()
    expect(page.locator(".route")).to_have_count(min(count, 50))

    for columns, rows in WIDTHS.values():
        resize(page, columns, rows)
        before = page.evaluate(BOX, "#map")
        page.locator("#list").evaluate("list => list.scrollTo(0, list.scrollHeight)")
        page.mouse.move(columns / 2 if columns < 500 else 400, rows - 60)
        wheel = page.evaluate_handle(WHEEL)
        page.mouse.wheel(0, 4000)
        page.wait_for_function("wheel => wheel.isDone", arg=wheel)

        assert page.evaluate("[document.documentElement.scrollHeight, scrollY, scrollX]") == [rows, 0, 0]
        assert page.evaluate("document.documentElement.scrollWidth") == columns
        assert page.evaluate(BOX, "#map") == before
        assert page.locator("#list").evaluate("list => list.getBoundingClientRect().bottom") <= rows
        left, top, right, bottom = before
        assert right == columns
        if columns > 820:
            assert (top, bottom) == (0, rows)
            assert right - left > columns / 2
        else:
            assert (left, bottom) == (0, rows)
            assert page.locator("#map").is_hidden()
            page.locator("[data-view=map]").click()
            expect(page.locator("#map")).to_be_visible()
            assert page.evaluate(BOX, "#map") == before


def test_the_map_keeps_its_place_when_the_list_is_filtered_and_a_message_comes(board, shop):
    DriverFactory.create(at_point=PICKUP)
    first, *_others = make_routes(shop, 3)
    page = board()
    page.locator(f"#accept-{first.pk}").wait_for()
    before = page.evaluate(BOX, "#map"), page.evaluate(BOX, "#list")

    page.locator("#find").fill("nada assim")
    page.locator("#nothing-found:visible").wait_for()
    filtered = page.evaluate(BOX, "#map"), page.evaluate(BOX, "#list")
    page.locator("#show-all").click()
    page.locator(f"#accept-{first.pk}").click()
    page.locator("dialog[open] button.prime").click()
    page.locator("#board-message .success").wait_for()

    assert filtered == before
    assert (page.evaluate(BOX, "#map"), page.evaluate(BOX, "#list")) == before


def test_all_routes_can_be_reached(board, shop):
    make_routes(shop, 120)
    page = board()
    page.locator(".route").first.wait_for()

    def scroll():
        page.locator("#list").evaluate("list => list.scrollTo(0, list.scrollHeight)")
        return page.locator(".route").count() == 120

    until(page, scroll)
    assert page.locator("[data-tab=all] b").inner_text() == "120"


def test_tabs_count_and_show_the_routes_of_a_status(board, shop):
    made = make_routes(shop, 4)
    deliveries.collect(delivery=made[1], by=BY, at=timezone.now())
    late = DeliveryFactory.create(token=shop, at=timezone.now() - timedelta(minutes=20))
    page = board()
    page.locator(".route").first.wait_for()

    counts = {tab: page.locator(f"[data-tab={tab}] b").inner_text() for tab in TABS}
    page.locator("[data-tab=late]").click()

    assert counts == {"all": "5", "late": "1", "waiting": "3", "to-collect": "1", "on-the-way": "1", "returning": "0"}
    assert page.locator(".route").evaluate_all("cards => cards.map((card) => card.dataset.id)") == [str(late.pk)]


def test_the_latest_route_comes_first(board, shop):
    now = timezone.now()
    made = [DeliveryFactory.create(token=shop, at=now - timedelta(minutes=age)) for age in (1, 40, 12)]
    page = board()
    page.locator(".route").nth(2).wait_for()

    shown = page.locator(".route").evaluate_all("cards => cards.map((card) => card.dataset.id)")

    assert shown == [str(made[index].pk) for index in (1, 2, 0)]


def test_a_marker_selects_its_route_and_the_others_fade(board, shop):
    make_routes(shop, 12)
    page = board()
    page.locator(".route").nth(11).wait_for()
    page.locator("#list").evaluate("list => list.scrollTo(0, list.scrollHeight)")

    page.locator("#map .board-marker.available").first.click()

    card = page.locator(".route.chosen")
    expect(card).to_be_in_viewport(ratio=0.98)  # it is scrolled to
    expect(page.locator(".leaflet-marker-icon.point")).to_have_count(2)
    faded = "() => Number(getComputedStyle(document.querySelector('#map .board-marker')).opacity) < 0.5"
    page.wait_for_function(faded)
    box, of_list = card.bounding_box(), page.locator("#list").bounding_box()
    assert of_list["y"] <= box["y"] <= of_list["y"] + of_list["height"]


def test_markers_that_would_cover_each_other_are_one(board, shop):
    make_routes(shop, 34)
    page = board()
    page.locator(".route").first.wait_for()
    numbers = until(page, lambda: shows_all(page, 34))

    page.locator("#map .board-marker.many").first.click()

    expect(page.locator("#map .board-marker.many")).to_have_count(0)
    assert page.locator("#map .board-marker").count() >= next(number for number in numbers if number > 1)


def test_free_drivers_are_on_the_map(board, shop):
    DriverFactory.create(name="Livia", at_point=Point(PICKUP.latitude - 0.004, PICKUP.longitude + 0.004))
    make_routes(shop, 1)
    page = board()

    marker = page.locator("#map .board-marker.free")
    marker.wait_for(state="attached")

    marker.hover()
    expect(page.locator(".leaflet-tooltip")).to_have_text(re.compile(r"^Livia, livre, Moto, posição há \d+ s$"))
