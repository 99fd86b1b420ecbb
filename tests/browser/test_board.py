"""The dispatch board and the choice of a driver, in a browser."""

import pytest
from django.utils import timezone
from playwright.sync_api import expect

from common.page_updates import Message, publish
from delivery import page_updates
from delivery.actions import drivers
from delivery.models import Delivery
from delivery.payload import Place
from tests.browser.dispatch import open_board, wait_for_hold
from tests.browser.waiting import shown, until
from tests.factories import BY, DROPOFFS, PICKUP, DeliveryFactory, DriverFactory, validated_payload

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def site(web_server):
    return web_server


def test_drives_a_delivery_from_the_board_to_its_end(tab, people, shop):
    driver = DriverFactory.create(name="Ana Souza", at_point=PICKUP)
    delivery = DeliveryFactory.create(token=shop, stops=2)
    browser = open_board(tab, people)
    page = browser.page
    card = page.locator(f"#route-{delivery.pk}")

    card.get_by_role("button", name="Assign driver…").click()
    page.get_by_role("radio", name="Ana Souza").check()
    page.locator("dialog button.prime").click()
    card.get_by_role("button", name="Collect").click()
    wait_for_hold(page)
    card.get_by_role("button", name="Deliver B").click()
    wait_for_hold(page)
    card.get_by_role("button", name="All stops and moves").click()
    card.get_by_role("button", name="Couldn't deliver… C").click()
    page.get_by_role("radio", name="Nobody at the address").check()
    page.locator("dialog button.final").click()
    card.get_by_role("button", name="Return to A").click()
    wait_for_hold(page)
    card.wait_for(state="detached")

    found = Delivery.objects.get(pk=delivery.pk)
    assert (found.status, found.route_status, found.driver_id) == ("DELIVERED", "FINISHED", driver.pk)
    assert found.stops.get(index=1).failure_reason == "Nobody at the address"
    assert set(found.transitions.exclude(trigger="request").values_list("by", flat=True)) == {"user dora"}
    assert browser.complaints == []


def test_shows_moving_drivers_and_keeps_the_focus(tab, people, shop):
    driver = DriverFactory.create(name="Ana Souza", at_point=PICKUP)
    delivery = DeliveryFactory.create(token=shop, stops=1, accepted=True, driver=driver)
    page = open_board(tab, people).page
    page.locator(f"#collect-{delivery.pk}").focus()
    marker = page.locator(".board-marker.accepted")
    marker.wait_for()
    before = marker.bounding_box()

    drivers.set_position(driver=driver, point=PICKUP._replace(latitude=-23.555), by=BY, at=timezone.now())
    other = DeliveryFactory.create(token=shop)
    page.locator(f"#route-{other.pk}").wait_for()

    until(page, lambda: marker.count() and marker.bounding_box() not in (before, None))
    assert page.evaluate("document.activeElement.id") == f"collect-{delivery.pk}"


def test_reads_only_the_position_that_has_changed(tab, people, shop):
    moving, _standing = (
        DeliveryFactory.create(token=shop, accepted=True, driver=DriverFactory.create(at_point=PICKUP))
        for _route in range(2)
    )
    page = open_board(tab, people).page
    page.locator(".route").nth(1).wait_for()

    with page.expect_response(lambda answer: "/positions/" in answer.url and "ids=" in answer.url) as read:
        drivers.set_position(driver=moving.driver, point=PICKUP._replace(latitude=-23.555), by=BY, at=timezone.now())

    assert [*read.value.json()["positions"]] == [str(moving.pk)]


def test_a_search_goes_on_when_routes_change(tab, people, shop):
    def request(street):
        dropoff = Place(point=DROPOFFS[0], address={"street": street})
        return DeliveryFactory.create(token=shop, payload=validated_payload(dropoffs=[dropoff]))

    request("Rua Augusta")
    page = open_board(tab, people).page
    page.fill("#find", "consolação")
    page.locator("#nothing-found:visible").wait_for()

    other, found = request("Rua Pamplona"), request("Rua da Consolacao")

    page.locator(f"#route-{found.pk}").wait_for()
    expect(page.locator("[data-tab=all] b")).to_have_text("3")
    assert page.locator(f"#route-{other.pk}").count() == 0
    page.fill("#find", "")
    page.locator(f"#route-{other.pk}").wait_for()


def test_the_focus_goes_to_the_next_move_of_the_route(tab, people, shop):
    DriverFactory.create(at_point=PICKUP)
    first = DeliveryFactory.create(token=shop, stops=1)
    DeliveryFactory.create(token=shop, stops=1)
    page = open_board(tab, people).page

    page.locator(f"#accept-{first.pk}").click()
    page.locator("dialog[open] button.prime").click()
    page.locator(f"#collect-{first.pk}:focus").wait_for()
    page.keyboard.press("Enter")
    wait_for_hold(page)
    page.locator(f"#deliver-{first.stops.get().pk}:focus").wait_for()


def test_a_button_that_is_pressed_while_its_card_changes_is_clicked(tab, people, shop):
    delivery = DeliveryFactory.create(token=shop, stops=1, accepted=True)
    page = open_board(tab, people).page
    page.locator(f"#collect-{delivery.pk}").hover()
    page.mouse.down()

    with page.expect_response(lambda answer: f"ids={delivery.pk}" in answer.url) as answer:
        publish(Message(page_updates.board(delivery.environment), [f"delivery:{delivery.pk}"]))
    shown(page, answer.value)
    page.mouse.up()

    page.get_by_role("button", name="Undo").wait_for()


def test_a_position_is_set_by_a_click_on_the_map(tab, people, shop):
    delivery = DeliveryFactory.create(token=shop, stops=1, accepted=True)
    browser = open_board(tab, people)
    page = browser.page

    page.locator(f"#unfold-{delivery.pk}").click()
    page.locator(f"#position-{delivery.pk}").click()
    page.locator("#picker:visible").wait_for()
    page.locator("#map").click(position={"x": 300, "y": 500})
    page.locator("#board-message .success").wait_for()

    latest = delivery.driver.latest_position()
    assert latest is not None
    assert abs(latest.latitude - PICKUP.latitude) < 0.5
    assert page.locator("#picker").is_hidden()
    assert browser.complaints == []


def test_the_board_shows_a_lost_connection_and_opens_the_log_in_after_the_session(tab, people, shop):
    DeliveryFactory.create(token=shop)
    page = open_board(tab, people).page

    page.context.set_offline(True)
    page.locator("#offline:visible").wait_for()
    page.context.set_offline(False)
    page.locator("#offline").wait_for(state="hidden")
    page.context.clear_cookies()
    page.clock.fast_forward(16_000)  # it asks every 15 s

    page.wait_for_url("**/account/login/?next=%2Fpanel%2Fboard%2F")
