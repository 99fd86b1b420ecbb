"""Choosing a driver on the dispatch board and in the admin, by keyboard alone."""

import pytest
from playwright.sync_api import expect

from delivery.models import Delivery
from tests.delivery.drivers import create_many
from tests.factories import DeliveryFactory, DriverFactory

pytestmark = pytest.mark.django_db(transaction=True)
# How many lists of drivers have been put in their place from now on.
COUNT_LISTS = """() => {
  const lists = { count: 0 };
  document.addEventListener("htmx:afterSettle", ({ target }) => { lists.count += Number(target.id === "drivers"); });
  return lists;
}"""


def test_a_driver_is_searched_and_chosen_by_keyboard_alone(tab, people, shop):
    people("dora", group="Dispatchers")
    create_many(30)
    driver = DriverFactory.create(name="Zoe Reis")  # without a position, so the last of all
    delivery = DeliveryFactory.create(token=shop)
    browser = tab()
    browser.log_in("dora")
    page = browser.go("/panel/board/")
    page.locator(f"#accept-{delivery.pk}").focus()

    page.keyboard.press("Enter")
    page.locator("#driver-query:focus").wait_for()
    page.keyboard.type("zoe")
    page.get_by_role("radio", name="Zoe Reis").wait_for()
    expect(page.locator("#drivers input")).to_have_count(1)
    listed = page.evaluate_handle(COUNT_LISTS)
    page.keyboard.press("Enter")  # searches again, and does not accept
    page.wait_for_function("lists => lists.count === 1", arg=listed)
    page.keyboard.press("Tab")
    page.keyboard.press("ArrowDown")
    # A search that was under way when the driver was chosen.
    page.evaluate("htmx.trigger('#driver-search', 'submit')")
    page.wait_for_function("lists => lists.count === 2", arg=listed)
    page.get_by_role("radio", name="Zoe Reis").focus()
    expect(page.get_by_role("radio", name="Zoe Reis")).to_be_checked()
    assert Delivery.objects.get(pk=delivery.pk).driver is None
    page.keyboard.press("Enter")
    page.locator(f"#collect-{delivery.pk}").wait_for()

    assert Delivery.objects.get(pk=delivery.pk).driver == driver
    assert browser.complaints == []


def test_a_driver_is_searched_and_chosen_in_the_admin(tab, people, shop):
    people("dora", group="Dispatchers")
    create_many(30)
    driver = DriverFactory.create(name="Zoe Reis")
    delivery = DeliveryFactory.create(token=shop)
    browser = tab()
    browser.log_in("dora")
    page = browser.go(f"/admin/delivery/delivery/{delivery.pk}/change/")

    page.locator("#moves .select2-selection").click()
    page.locator(".select2-search__field:focus").wait_for()
    page.keyboard.type("zoe")
    page.locator(".select2-results__option--highlighted", has_text="Zoe Reis").wait_for()
    page.keyboard.press("Enter")
    page.locator("#moves form[action$='/accept/'] button").click()
    page.locator("#moves form[action$='/collect/']").wait_for()

    assert Delivery.objects.get(pk=delivery.pk).driver == driver
    assert browser.complaints == []
