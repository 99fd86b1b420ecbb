"""Choosing a driver on the dispatch board and in the admin, by keyboard alone."""

import pytest

from delivery.models import Delivery
from tests.delivery.drivers import create_many
from tests.factories import DeliveryFactory, DriverFactory

pytestmark = pytest.mark.django_db(transaction=True)


def test_a_driver_is_searched_and_chosen_by_keyboard_alone(tab, people, shop, locale):
    people("dora", group="Dispatchers")
    create_many(30)
    driver = DriverFactory.create(name="Zoe Reis")  # without a position, so the last of all
    delivery = DeliveryFactory.create(token=shop)
    browser = tab(locale)
    browser.log_in("dora")
    page = browser.go("/panel/board/")
    page.locator(f"#accept-{delivery.pk}").focus()

    page.keyboard.press("Enter")
    page.locator("#driver-query:focus").wait_for()
    page.keyboard.type("zoe")
    page.get_by_role("radio", name="Zoe Reis").wait_for()
    with page.expect_response(f"**/{delivery.pk}/drivers/**"):
        page.keyboard.press("Enter")  # searches again, and does not accept
    page.keyboard.press("Tab")
    page.keyboard.press("ArrowDown")
    # A search that was under way when the driver was chosen.
    with page.expect_response(f"**/{delivery.pk}/drivers/**"):
        page.evaluate("htmx.trigger('#driver-search', 'submit')")
    page.wait_for_timeout(300)
    page.get_by_role("radio", name="Zoe Reis").focus()
    assert page.get_by_role("radio", name="Zoe Reis").is_checked()
    assert Delivery.objects.get(pk=delivery.pk).driver is None
    page.keyboard.press("Enter")
    page.locator(f"#collect-{delivery.pk}").wait_for()

    assert Delivery.objects.get(pk=delivery.pk).driver == driver
    assert browser.complaints == []


def test_a_driver_is_searched_and_chosen_in_the_admin(tab, people, shop, locale):
    people("dora", group="Dispatchers")
    create_many(30)
    driver = DriverFactory.create(name="Zoe Reis")
    delivery = DeliveryFactory.create(token=shop)
    browser = tab(locale)
    browser.log_in("dora")
    page = browser.go(f"/admin/delivery/delivery/{delivery.pk}/change/")

    page.locator("#moves .select2-selection").click()
    page.keyboard.type("zoe")
    page.locator(".select2-results__option--highlighted", has_text="Zoe Reis").wait_for()
    page.keyboard.press("Enter")
    page.locator("#moves form[action$='/accept/'] button").click()
    page.locator("#moves form[action$='/collect/']").wait_for()

    assert Delivery.objects.get(pk=delivery.pk).driver == driver
    assert browser.complaints == []
