"""A CEP that is typed into the form of an order or of a shop's order."""

import pytest
from playwright.sync_api import expect

from tests.delivery.connections.shops import order, post
from tests.delivery.places.table import fill, houses
from tests.integration.connections.shops import shop as connected

UNKNOWN = "The street of this CEP is not known. Type the address."
ADDRESS = ("street", "district", "city", "state")


@pytest.fixture
def browser(tab, people, seller):
    augusta = houses("Rua Augusta", [500], postcode="01304001", district="Consolação")
    fill(augusta, houses("Rua Pamplona", [818], postcode="01405001", district="Jardim Paulista"))
    people("clara", seller=seller)
    browser = tab()
    browser.log_in("clara")
    yield browser
    assert browser.complaints == []


@pytest.fixture
def page(browser, seller):
    return browser.go(f"/panel/sellers/{seller.pk}/live/orders/new/")


def write(page, name, text):
    """Type in place of what stands there."""
    page.locator(f"#id_to-{name}").fill("")
    page.locator(f"#id_to-{name}").press_sequentially(text)


def expect_address(page, *texts):
    for name, text in zip(ADDRESS, texts, strict=True):
        expect(page.locator(f"#id_to-{name}")).to_have_value(text)


def test_fills_in_street_district_city_and_state_and_another_cep_replaces_them(page):
    write(page, "zipcode", "01304-001")
    expect_address(page, "Rua Augusta", "Consolação", "São Paulo", "SP")

    write(page, "zipcode", "01405001")
    expect_address(page, "Rua Pamplona", "Jardim Paulista", "São Paulo", "SP")


def test_leaves_alone_what_was_typed(page):
    write(page, "street", "Rua da Feira")
    write(page, "zipcode", "01304-001")
    expect_address(page, "Rua da Feira", "Consolação", "São Paulo", "SP")

    write(page, "district", "Baixo Augusta")
    write(page, "zipcode", "01405-001")
    write(page, "zipcode", "40010-000")  # of which the city alone is known
    expect_address(page, "Rua da Feira", "Baixo Augusta", "Salvador", "BA")
    expect(page.get_by_text(UNKNOWN)).to_have_count(0)


def test_says_that_a_street_is_not_known_until_another_cep_is_typed(page):
    said = page.get_by_role("status").filter(has_text=UNKNOWN)
    write(page, "zipcode", "01304-001")
    expect_address(page, "Rua Augusta", "Consolação", "São Paulo", "SP")
    expect(said).to_have_count(0)

    write(page, "zipcode", "40010-000")
    expect(said).to_be_visible()
    expect_address(page, "", "", "Salvador", "BA")

    write(page, "zipcode", "01405-001")
    expect(said).to_have_count(0)
    expect_address(page, "Rua Pamplona", "Jardim Paulista", "São Paulo", "SP")


def test_fills_in_what_an_order_of_a_shop_lacks(browser, seller):
    told = post(connected(seller=seller), order(shipping={"address_1": "", "neighborhood": ""}))
    page = browser.go(f"/panel/sellers/{seller.pk}/live/shop-orders/{told.json()['id']}/")
    expect(page.locator("#id_to-zipcode")).to_have_value("01304-000")
    expect_address(page, "", "", "São Paulo", "SP")

    write(page, "zipcode", "01405-001")
    expect_address(page, "Rua Pamplona", "Jardim Paulista", "São Paulo", "SP")
