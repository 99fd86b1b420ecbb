"""The dispatch board and the choice of a driver, in a browser."""

import pytest
from django.utils import timezone

from delivery.actions import deliveries, drivers
from delivery.models import Delivery
from tests.delivery.drivers import create_many
from tests.factories import BY, PICKUP, DeliveryFactory, DriverFactory

pytestmark = pytest.mark.django_db(transaction=True)


def test_drives_a_delivery_from_the_board_to_its_end(tab, people, shop, locale, say):
    people("dora", group="Dispatchers")
    driver = DriverFactory.create(name="Ana Souza", at_point=PICKUP)
    delivery = DeliveryFactory.create(token=shop, stops=2)
    browser = tab(locale)
    browser.log_in("dora")
    page = browser.go("/panel/board/")
    card = page.locator(f"#route-{delivery.pk}")

    card.get_by_role("button", name=say("Assign driver…")).click()
    page.get_by_role("radio", name="Ana Souza").check()
    page.locator("dialog button.prime").click()
    card.get_by_text(say("On the way to A")).wait_for()
    card.get_by_role("button", name=say("Collect")).click()
    card.get_by_role("button", name=say("Deliver") + " B").click()
    card.get_by_role("button", name=say("Not delivered…") + " C").click()
    page.locator("dialog input[name=reason]").fill("Ninguém em casa")
    page.locator("dialog button.prime").click()
    card.get_by_role("button", name=say("Return to A")).click()
    card.wait_for(state="detached")

    found = Delivery.objects.get(pk=delivery.pk)
    assert (found.status, found.route_status, found.driver_id) == ("DELIVERED", "FINISHED", driver.pk)
    assert set(found.transitions.exclude(trigger="request").values_list("by", flat=True)) == {"user dora"}
    assert browser.complaints == []


def test_the_board_shows_moving_drivers_and_keeps_the_focus(tab, people, shop, locale, say):
    people("dora", group="Dispatchers")
    driver = DriverFactory.create(name="Ana Souza", at_point=PICKUP)
    delivery = DeliveryFactory.create(token=shop, stops=1, accepted=True, driver=driver)
    browser = tab(locale)
    browser.log_in("dora")
    page = browser.go("/panel/board/")
    page.locator(f"#collect-{delivery.pk}").focus()
    before = page.locator(".leaflet-marker-icon.driver").bounding_box()

    drivers.set_position(driver=driver, point=PICKUP._replace(latitude=-23.555), by=BY, at=timezone.now())
    other = DeliveryFactory.create(token=shop)
    page.locator(f"#route-{other.pk}").wait_for()

    assert page.locator(".leaflet-marker-icon.driver").bounding_box() != before
    assert page.evaluate("document.activeElement.id") == f"collect-{delivery.pk}"


def test_the_board_says_why_a_move_is_refused(tab, people, shop, locale, say):
    people("dora", group="Dispatchers")
    delivery = DeliveryFactory.create(token=shop, accepted=True)
    browser = tab(locale)
    browser.log_in("dora")
    page = browser.go("/panel/board/")
    button = page.locator(f"#cancel-{delivery.pk}")
    button.click()
    page.locator("dialog input[name=reason]").wait_for()
    deliveries.collect(delivery=delivery, by=BY, at=timezone.now())
    deliveries.deliver_point(delivery=delivery, point="B", by=BY, at=timezone.now())
    deliveries.deliver_point(delivery=delivery, point="C", by=BY, at=timezone.now())
    deliveries.deliver_point(delivery=delivery, point="D", by=BY, at=timezone.now())

    page.locator("dialog button.prime").click()

    page.locator("dialog").get_by_text(say("The delivery has ended; there is nothing left to cancel.")).wait_for()


def test_the_board_can_be_used_by_keyboard_alone(tab, people, shop, locale, say):
    people("dora", group="Dispatchers")
    delivery = DeliveryFactory.create(token=shop, stops=1, accepted=True)
    browser = tab(locale)
    browser.log_in("dora")
    page = browser.go("/panel/board/")

    for _press in range(40):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.id") == f"collect-{delivery.pk}":
            break
    page.keyboard.press("Enter")

    page.locator(f"#deliver-{delivery.stops.get().pk}").wait_for()


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


def test_the_board_shows_a_lost_connection_and_opens_the_log_in_after_the_session(tab, people, shop, locale, say):
    people("dora", group="Dispatchers")
    DeliveryFactory.create(token=shop)
    browser = tab(locale)
    browser.log_in("dora")
    page = browser.go("/panel/board/")

    page.context.set_offline(True)
    page.locator("#offline:visible").wait_for()
    page.context.set_offline(False)
    page.locator("#offline").wait_for(state="hidden")
    page.context.clear_cookies()

    page.wait_for_url("**/account/login/?next=%2Fpanel%2Fboard%2F")
