"""The form that requests a delivery: what its script fills in, and what it leaves alone."""

import pytest
from playwright.sync_api import expect

from delivery.payload import Place
from tests.factories import DROPOFFS, DeliveryFactory, validated_payload

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
