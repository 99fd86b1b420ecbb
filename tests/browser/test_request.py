"""The form that requests a delivery: what its script fills in, and what it leaves alone."""

import re
from dataclasses import replace

import pytest
from playwright.sync_api import expect

from delivery.payload import Place
from tests.delivery.places.table import fill as fill_table
from tests.delivery.places.table import houses
from tests.factories import DROPOFFS, PICKUP, DeliveryFactory, TariffFactory, validated_payload

PLACE = Place(
    point=DROPOFFS[0],
    address={"street": "Rua Conceição", "number": "1", "city": "Campinas", "state": "SP", "zipcode": "13010-050"},
    contact_name="Ana",
    contact_phone="+55 19 97777-0001",
)
LINK = "https://waze.com/ul?ll={}%2C{}&navigate=yes"


@pytest.fixture
def page(member, shop):
    """The form of a delivery like an earlier one, with its price."""
    earlier = DeliveryFactory.create(token=shop, payload=validated_payload(dropoffs=[PLACE]))
    with member.page.expect_response("**/request/price/"):
        member.go(f"/panel/accounts/{shop.integrator.pk}/live/deliveries/request/?again={earlier.pk}")
    member.page.locator(".price").wait_for()
    yield member.page
    assert member.complaints == []


def fill(page, name, text):
    """Type into a field, wherever it is folded, and wait for the price of what the form has then."""
    with page.expect_response("**/request/price/") as answer:
        page.locator(f"#id_{name}").evaluate(
            "(field, text) => { field.value = text; field.dispatchEvent(new Event('change', { bubbles: true })); }",
            text,
        )
    answer.value.finished()


def test_a_city_that_came_with_its_cep_stays_and_one_of_another_cep_does_not(page):
    city, state = page.locator("#id_b-city"), page.locator("#id_b-state")
    fill(page, "b-number", "2")  # whose price comes after the first one was read
    expect(city).to_have_value("Campinas")

    fill(page, "b-zipcode", "40010-000")
    expect(city).to_have_value("Salvador")
    expect(state).to_have_value("BA")
    fill(page, "b-city", "")
    fill(page, "b-number", "3")
    expect(page.locator("details", has=city).locator("summary span").last).to_have_text("BA")
    expect(city).to_have_value("")
    fill(page, "b-zipcode", "13010-050")
    expect(state).to_have_value("SP")
    expect(city).to_have_value("")


def test_a_link_becomes_the_coordinates_in_it_and_not_those_of_the_one_before(page):
    first, second = (LINK.format(*point) for point in DROPOFFS[:2])

    fill(page, "b-position", first)
    expect(page.locator("#id_b-position")).to_have_value("{:.6f}, {:.6f}".format(*DROPOFFS[0]))
    page.locator("#id_b-position").evaluate("(field, text) => { field.value = text; }", second)
    page.evaluate("htmx.trigger(document.body, 'htmx:afterSettle')")  # as of the search for a place
    assert page.locator("#id_b-position").input_value() == second
    fill(page, "b-number", "2")

    expect(page.locator("#id_b-position")).to_have_value("{:.6f}, {:.6f}".format(*DROPOFFS[1]))


class TestAddressFirst:
    @pytest.fixture
    def form(self, member, shop):
        TariffFactory.create()
        fill_table(houses("Rua Augusta", range(400, 600), postcode="01304001", start=(-23.5565, -46.6629)))
        page = member.go(f"/panel/accounts/{shop.integrator.pk}/live/deliveries/request/")
        yield page
        assert member.complaints == []

    def test_needs_cep_number_and_street_and_shows_the_pin_which_can_be_moved(self, form):
        for name, text in (("b-zipcode", "01304-001"), ("b-number", "500"), ("b-street", "Rua Augusta")):
            fill(form, name, text)
        form.locator(".price").wait_for()
        pin = form.locator("#points-map .point", has_text="B")
        expect(pin).to_be_visible()
        expect(form.locator("#id_b-position")).to_have_value("")
        expect(form.locator("#id_b-position")).to_have_attribute("placeholder", re.compile("From the address"))

        pin.hover()  # waits for the map, which draws its pins anew with each answer
        box = pin.bounding_box()
        with form.expect_response("**/request/price/"):
            form.mouse.down()
            form.mouse.move(box["x"] + 60, box["y"] - 30, steps=6)
            form.mouse.up()

        expect(form.locator("#id_b-position")).to_have_value(re.compile(r"^-23\.\d{5}, -46\.\d{5}$"))

    def test_serves_for_a_that_is_no_pickup_point_too(self, form, shop):
        """The contact of the pickup point stays, its address does not."""
        shop.integrator.allow_any_pickup = True
        shop.integrator.save()
        at_the_shop = replace(PLACE, point=PICKUP, address={"street": "Avenida Paulista", "number": "1578"})
        DeliveryFactory.create(token=shop, payload=validated_payload(pickup=at_the_shop))
        form.reload()
        expect(form.locator("#id_a-street")).to_have_value("Avenida Paulista")

        form.get_by_label("Pickup point").select_option("Another place")
        expect(form.locator("#id_a-street")).to_have_value("")
        expect(form.locator("#id_a-name")).not_to_have_value("")
        for name, text in (("zipcode", "01304-001"), ("number", "500"), ("street", "Rua Augusta")):
            fill(form, f"a-{name}", text)
        fill(form, "b-position", "{:.6f}, {:.6f}".format(*DROPOFFS[0]))

        form.locator(".price").wait_for()
        expect(form.locator("#id_a-position")).to_have_attribute("placeholder", re.compile("From the address"))
        expect(form.locator("#points-map .point", has_text="A")).to_be_visible()

    def test_asks_which_holds_where_the_pin_is_far_from_the_address(self, form):
        for name, text in (("zipcode", "01304-001"), ("number", "500"), ("street", "Rua Augusta")):
            fill(form, f"b-{name}", text)
        fill(form, "b-position", "-23.5465, -46.6629")
        question = form.get_by_role("group", name="The place of B on the map is 0.6 km from its address. Which holds?")

        question.get_by_label("The place on the map").check()
        form.wait_for_function("() => document.querySelector('[name=b-far]')?.hasAttribute('checked')")  # by the server
        with form.expect_response("**/request/price/"):
            question.get_by_role("button", name="The address").click()

        expect(question).to_have_count(0)
        expect(form.locator("#id_b-position")).to_have_value("")

    def test_takes_errors_away_that_were_put_right(self, form, member):
        form.get_by_role("button", name="Show the price").last.click()
        place, name = form.locator("#id_b-position"), form.locator("#id_a-name")
        expect(place).to_have_attribute("aria-invalid", "true")
        expect(name).to_have_attribute("aria-invalid", "true")

        fill(form, "b-position", "{:.6f}, {:.6f}".format(*DROPOFFS[0]))

        expect(place).not_to_have_attribute("aria-invalid", "true")
        expect(form.locator("#id_b-position_error")).to_have_count(0)
        expect(name).to_have_attribute("aria-invalid", "true")
        expect(form.locator("[data-errors]")).to_have_count(1)
        for field, text in (("a-name", "Loja"), ("a-phone", "+55 11 3333-0000")):
            fill(form, field, text)
        expect(form.locator("[data-errors]")).to_have_count(0)
        assert ["422" in text for text in member.complaints] == [True]
        member.complaints.clear()
