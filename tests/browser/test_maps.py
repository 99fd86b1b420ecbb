"""The map of a delivery's page, and maps on which a place is chosen."""

import re
from math import hypot

import pytest
from django.utils import timezone
from playwright.sync_api import expect

from delivery.connections import actions as connections
from delivery.geo.distance import away_from
from delivery.payload import Place
from tests.browser.waiting import resize
from tests.delivery.connections.shops import shop as connected
from tests.factories import DROPOFFS, PICKUP, DeliveryFactory, DriverFactory, validated_payload

# The ends of the route's line, and the centres of the markers of A, B, C …, in pixels of the window.
LINE = """() => {
  const path = document.querySelector(".leaflet-overlay-pane path");
  const matrix = path.getScreenCTM();
  return [0, path.getTotalLength()].map((length) => {
    const { x, y } = path.getPointAtLength(length).matrixTransform(matrix);
    return [x, y];
  });
}"""
MARKERS = """() => [...document.querySelectorAll(".leaflet-marker-icon.point")].map((marker) => {
  const box = marker.getBoundingClientRect();
  return [box.x + box.width / 2, box.y + box.height / 2];
})"""

# Whether the map zooms when it opens, which lasts a quarter of a second from the next frame on.
ANIMATED = """
window.animated = [];
document.addEventListener("DOMContentLoaded", () => {
  const look = () => {
    animated.push(Boolean(document.querySelector(".leaflet-zoom-anim")));
    if (animated.length < 5) requestAnimationFrame(look);
  };
  requestAnimationFrame(look);
});
"""


def distance(one, other):
    return hypot(one[0] - other[0], one[1] - other[1])


class TestMapOfADelivery:
    @pytest.fixture
    def open_(self, member, shop):
        member.page.add_init_script(ANIMATED)

        def go(delivery):
            page = member.go(f"/panel/accounts/{shop.integrator.pk}/live/deliveries/{delivery.pk}/")
            page.locator(".leaflet-marker-icon.point").first.wait_for(state="attached")
            return page

        return go

    def test_shows_the_line_between_its_markers_at_once_and_after_a_change_of_size(self, open_, shop):
        page = open_(DeliveryFactory.create(token=shop))

        for columns in (1440, 390, 1440):
            resize(page, columns, 844)
            start, end = page.evaluate(LINE)
            markers = page.evaluate(MARKERS)
            box = page.locator("#map").bounding_box()

            assert distance(start, markers[0]) < 3
            assert distance(end, markers[-1]) < 3
            assert len(markers) == 4
            for x, y in markers:
                assert box["x"] < x < box["x"] + box["width"]
                assert box["y"] - 1 < y < box["y"] + box["height"]
        page.wait_for_function("() => animated.length === 5")
        assert not any(page.evaluate("animated"))

    def test_shows_the_driver_beside_a_point_that_it_would_cover_and_elsewhere_at_its_place(self, open_, shop):
        away = PICKUP._replace(latitude=(PICKUP.latitude + DROPOFFS[0].latitude) / 2 + 0.01)
        near, far = (
            DeliveryFactory.create(token=shop, accepted=True, driver=DriverFactory.create(at_point=point))
            for point in (PICKUP, away)
        )

        expect(open_(near).locator(".leaflet-marker-icon.driver")).to_have_class(re.compile("beside"))
        expect(open_(far).locator(".leaflet-marker-icon.driver")).not_to_have_class(re.compile("beside"))

    def test_shows_without_a_ground_rings_around_a_and_the_districts_but_no_coordinates(self, open_, shop):
        """A ring of 1 km is as far from A as a place that is 1 km away."""
        place = Place(point=away_from(PICKUP, metres=1000, bearing=90), address={"district": "<b>Consolação</b>"})
        pickup = Place(point=PICKUP, address={}, contact_name="Loja", contact_phone="1133330000")
        payload = validated_payload(pickup=pickup, dropoffs=[place])

        page = open_(DeliveryFactory.create(token=shop, payload=payload))

        assert page.locator(".ring-label").all_inner_texts() == ["500 m", "1 km", "2 km"]
        expect(page.locator(".district-label").last).to_have_text("<b>Consolação</b>")
        markers, ring = page.evaluate(MARKERS), page.locator("path.ring").nth(1).bounding_box()
        assert distance(markers[0], markers[1]) == pytest.approx(ring["width"] / 2, abs=3)
        assert not re.search(r"-?\d\d\.\d", page.locator("#map").inner_text())

    def test_has_no_rings_on_a_ground(self, map_file, open_, shop):
        assert open_(DeliveryFactory.create(token=shop)).locator(".ring").count() == 0


class TestPin:
    @pytest.fixture
    def page(self, tab, people):
        people("paula", group="Account staff")
        browser = tab("pt-BR")
        browser.log_in("paula")
        yield browser.go("/panel/accounts/new/")
        assert browser.complaints == []

    def test_is_shown_without_a_ground_from_the_first_place_on(self, page):
        expect(page.locator("[data-pin]")).to_be_hidden()
        page.fill("#id_position", "-23.561414, -46.655881")

        page.locator("[data-pin] .point").wait_for()
        assert page.locator("[data-pin] .leaflet-control-scale-line").inner_text() == "200 m"
        assert page.locator("[data-pin] .ring-label").all_inner_texts() == ["500 m", "1 km", "2 km"]

    def test_follows_a_click_on_the_map_and_stays_in_the_middle(self, page):
        page.fill("#id_position", "-23.561414, -46.655881")
        page.locator("[data-pin] .point").wait_for()

        page.locator("[data-pin]").click(position={"x": 100, "y": 100})
        expect(page.locator("#id_position")).to_have_value(re.compile(r"^-23\.5\d{4}, -46\.6\d{4}$"))
        resize(page, 390, 844)

        pin, box = page.locator("[data-pin] .point").bounding_box(), page.locator("[data-pin]").bounding_box()
        assert page.input_value("#id_position") != "-23.561414, -46.655881"
        assert abs(pin["x"] + pin["width"] / 2 - box["x"] - box["width"] / 2) < 3
        assert page.locator("[data-pin] path.leaflet-interactive").count() == 0
        assert (
            page.locator("[data-pin] .leaflet-overlay-pane path").bounding_box()["width"] > 50
        )  # the circle of the pickup's radius

    def test_can_be_set_on_a_ground(self, map_file, page):
        page.locator("[data-pin]").click(position={"x": 100, "y": 100})

        expect(page.locator("#id_position")).to_have_value(re.compile(r"^-2\d\.\d{5}, -4\d\.\d{5}$"))

    def test_of_another_point_is_seen_with_the_pickup_point(self, member, shop, map_file):
        pickup = shop.integrator.pickup_points.get()
        connection = connected(integrator=shop.integrator, pickup=pickup)
        connections.try_out(connection=connection, at=timezone.now())
        order = connection.drafts.get()
        page = member.go(f"/panel/accounts/{shop.integrator.pk}/live/shop-orders/{order.pk}/")

        page.locator("[data-point]").fill(f"{pickup.latitude + 0.05:.5f}, {pickup.longitude:.5f}")

        points = page.locator("[data-pin] .point")
        expect(points).to_have_text(["A", "B"])
        for each in points.all():
            expect(each).to_be_in_viewport()
