"""The dispatch board and the choice of a driver, in a browser."""

import re
from datetime import timedelta

from django.utils import timezone
from playwright.sync_api import expect

from common.pages.page_updates import Message, publish
from delivery import page_updates
from delivery.actions import arrivals, deliveries, drivers
from delivery.models import Delivery, LatestPosition
from delivery.payload import Place
from tests.browser.board.routes import wait_for_hold
from tests.browser.waiting import COUNT_EVENTS, until
from tests.delivery.many_drivers import create_many
from tests.delivery.scheduled import scheduled
from tests.factories import BY, DROPOFFS, PICKUP, DeliveryFactory, DriverFactory, validated_payload

# Counts the tones.
LISTEN = """
window.tones = 0;
const Real = AudioContext;
window.AudioContext = class extends Real {
  createOscillator() { tones += 1; return super.createOscillator(); }
};
"""
# How many lists of drivers have been put in their place from now on.
COUNT_LISTS = """() => {
  const lists = { count: 0 };
  document.addEventListener("htmx:afterSettle", ({ target }) => { lists.count += Number(target.id === "drivers"); });
  return lists;
}"""


def test_has_scheduled_routes_in_a_tab_of_their_own_until_they_are_offered(open_board, shop):
    at = timezone.now()
    late, soon = (scheduled(timedelta(hours=hours), at=at, token=shop) for hours in (5, 3))
    page = open_board().page
    expect(page.locator("[data-tab=all] b")).to_have_text("0")

    page.locator("[data-tab=scheduled]").click()
    expect(page.locator("#routes article")).to_have_count(2)
    assert page.locator("#routes article").first.get_attribute("data-id") == str(soon.pk)
    page.locator(f"#route-{late.pk}").get_by_role("button", name="Offer now").click()
    wait_for_hold(page)

    expect(page.locator(f"#route-{late.pk}")).to_have_count(0)
    page.locator("[data-tab=waiting]").click()
    expect(page.locator(f"#route-{late.pk}").get_by_role("button", name="Assign driver…")).to_be_visible()


def test_shows_its_first_cards_after_one_call_and_changes_after_none(open_board, shop):
    delivery = DeliveryFactory.create(token=shop, stops=1)
    other = DeliveryFactory.create(token=shop, stops=1)
    browser = open_board(script=COUNT_EVENTS)
    page, asked = browser.page, []
    page.wait_for_function("() => heard.ready")  # else the page before the reload asks while requests are counted
    page.on("request", lambda request: asked.append(request.url.partition("/board/")[2].partition("/")[0]))
    page.reload()
    page.locator(f"#route-{delivery.pk}").wait_for()
    page.wait_for_function("() => heard.ready")

    deliveries.accept(delivery=delivery, driver=DriverFactory.create(name="Ana Souza"), by=BY, at=timezone.now())
    deliveries.cancel(delivery=other, reason="", by=BY, at=timezone.now())

    page.locator(f"#route-{delivery.pk}").get_by_text("Ana Souza").wait_for()
    expect(page.locator(f"#route-{other.pk}")).to_have_count(0)
    expect(page.locator("[data-tab=all] b")).to_have_text("1")
    assert [each for each in asked if each in {"routes", "cards", "updates"}] == ["routes", "updates"]
    assert browser.complaints == []


def test_drives_a_delivery_from_the_board_to_its_end(open_board, shop):
    driver = DriverFactory.create(name="Ana Souza", at_point=PICKUP)
    delivery = DeliveryFactory.create(token=shop, stops=2)
    browser = open_board()
    page = browser.page
    card = page.locator(f"#route-{delivery.pk}")

    card.get_by_role("button", name="Assign driver…").click()
    page.get_by_role("radio", name="Ana Souza").check()
    page.locator("dialog button.prime").click()
    wait_for_hold(page)
    card.get_by_role("button", name="Collect").click()
    wait_for_hold(page)
    card.get_by_role("button", name="Deliver B").click()
    wait_for_hold(page)
    card.get_by_role("button", name="All stops and moves").click()
    card.get_by_role("button", name="Couldn't deliver… C").click()
    page.get_by_role("radio", name="Nobody there").check()
    page.locator("dialog button.final").click()
    wait_for_hold(page)
    card.get_by_role("button", name="Return to A").click()
    wait_for_hold(page)
    card.wait_for(state="detached")

    found = Delivery.objects.get(pk=delivery.pk)
    assert (found.status, found.route_status, found.driver_id) == ("DELIVERED", "FINISHED", driver.pk)
    assert found.stops.get(index=1).failure_code == "ABSENT"
    assert set(found.transitions.exclude(trigger="request").values_list("by", flat=True)) == {"user dora"}
    assert browser.complaints == []


def test_shows_moving_drivers_and_keeps_the_focus(open_board, shop):
    driver = DriverFactory.create(name="Ana Souza", at_point=PICKUP)
    delivery = DeliveryFactory.create(token=shop, stops=1, accepted=True, driver=driver)
    page = open_board().page
    page.locator(f"#collect-{delivery.pk}").focus()
    marker = page.locator("#map .board-marker.accepted")
    marker.wait_for()
    before = marker.bounding_box()

    drivers.set_position(driver=driver, point=PICKUP._replace(latitude=-23.555), by=BY, at=timezone.now())
    other = DeliveryFactory.create(token=shop)
    page.locator(f"#route-{other.pk}").wait_for()

    until(page, lambda: marker.count() and marker.bounding_box() not in (before, None))
    assert page.evaluate("document.activeElement.id") == f"collect-{delivery.pk}"


def test_says_that_a_silent_driver_is_late(open_board, shop):
    now = timezone.now()
    driver = DriverFactory.create(name="Ana Souza", at_point=PICKUP)
    delivery = DeliveryFactory.create(token=shop, stops=1, collected=True, driver=driver, at=now - timedelta(minutes=9))
    arrivals.renew(at=now)
    page = open_board().page
    page.locator(f"#route-{delivery.pk} .unfold-card").click()
    arrival = page.locator(f"#route-{delivery.pk} .arrives")
    expect(arrival).to_have_text(re.compile(r"^arrives at about \d\d:\d\d$"))

    page.clock.fast_forward(130_000)

    heard = timezone.localtime(LatestPosition.objects.get().recorded_at)
    expect(arrival).to_have_text(f"late, last signal {heard:%H:%M}")


def test_reads_only_the_position_that_has_changed(open_board, shop):
    moving, _standing = (
        DeliveryFactory.create(token=shop, accepted=True, driver=DriverFactory.create(at_point=PICKUP))
        for _route in range(2)
    )
    page = open_board().page
    page.locator(".route").nth(1).wait_for()

    with page.expect_response(lambda answer: "/positions/" in answer.url and "ids=" in answer.url) as read:
        drivers.set_position(driver=moving.driver, point=PICKUP._replace(latitude=-23.555), by=BY, at=timezone.now())

    assert [*read.value.json()["positions"]] == [str(moving.pk)]


def test_a_search_goes_on_when_routes_change(open_board, shop):
    def request(street):
        dropoff = Place(point=DROPOFFS[0], address={"street": street})
        return DeliveryFactory.create(token=shop, payload=validated_payload(dropoffs=[dropoff]))

    request("Rua Augusta")
    page = open_board().page
    page.fill("#find", "consolação")
    page.locator("#nothing-found:visible").wait_for()

    other, found = request("Rua Pamplona"), request("Rua da Consolacao")

    page.locator(f"#route-{found.pk}").wait_for()
    expect(page.locator("[data-tab=all] b")).to_have_text("3")
    assert page.locator(f"#route-{other.pk}").count() == 0
    page.fill("#find", "")
    page.locator(f"#route-{other.pk}").wait_for()


def test_the_focus_goes_to_the_next_move_of_the_route(open_board, shop):
    DriverFactory.create(at_point=PICKUP)
    first = DeliveryFactory.create(token=shop, stops=1)
    DeliveryFactory.create(token=shop, stops=1)
    page = open_board().page

    page.locator(f"#accept-{first.pk}").click()
    page.locator("dialog[open] button.prime").click()
    wait_for_hold(page)
    page.locator(f"#collect-{first.pk}:focus").wait_for()
    page.keyboard.press("Enter")
    wait_for_hold(page)
    page.locator(f"#deliver-{first.stops.get().pk}:focus").wait_for()


def test_a_button_that_is_pressed_while_its_card_changes_is_clicked(open_board, shop):
    delivery = DeliveryFactory.create(token=shop, stops=1, accepted=True)
    page = open_board(script=COUNT_EVENTS).page
    page.wait_for_function("() => heard.ready")
    page.locator(f"#collect-{delivery.pk}").hover()
    page.mouse.down()

    publish(Message(page_updates.board(delivery.environment), [f"delivery:{delivery.pk}"]))
    page.wait_for_function("() => heard.content")
    page.mouse.up()

    page.locator(".route .held").wait_for()


def test_a_position_is_set_by_a_click_on_the_map(open_board, shop):
    delivery = DeliveryFactory.create(token=shop, stops=1, accepted=True)
    browser = open_board()
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


def test_the_board_shows_a_lost_connection_and_opens_the_log_in_after_the_session(open_board, shop):
    DeliveryFactory.create(token=shop)
    page = open_board().page

    page.context.set_offline(True)
    page.locator("#offline:visible").wait_for()
    page.context.set_offline(False)
    page.locator("#offline").wait_for(state="hidden")
    page.context.clear_cookies()
    page.clock.fast_forward(16_000)  # it asks every 15 s

    page.wait_for_url("**/account/login/?next=%2Fpanel%2Fboard%2F")


def test_a_new_offer_is_announced_in_the_title(open_board, shop):
    page = open_board().page
    page.locator("#nothing").wait_for()
    assert page.title().startswith("Dispatch board")

    DeliveryFactory.create(token=shop)

    expect(page).to_have_title(re.compile(r"\(1\) Dispatch board"))


def test_a_new_offer_is_heard_once_sound_is_switched_on(open_board, shop):
    DeliveryFactory.create(token=shop)
    browser = open_board(script=LISTEN)
    page = browser.page
    page.locator(".route").wait_for()
    DeliveryFactory.create(token=shop)
    page.locator(".route").nth(1).wait_for()
    assert page.evaluate("tones") == 0

    page.locator("#sound").click()
    page.wait_for_function("() => tones === 1")  # how it sounds
    expect(page.locator("#sound")).to_have_attribute("aria-pressed", "true")
    expect(page.locator("#sound")).to_have_attribute("title", re.compile("^Sound is on"))
    DeliveryFactory.create(token=shop)
    page.locator(".route").nth(2).wait_for()

    page.wait_for_function("() => tones === 2")
    page.locator("#sound").click()
    DeliveryFactory.create(token=shop)
    page.locator(".route").nth(3).wait_for()
    assert page.evaluate("tones") == 2
    assert browser.complaints == []


def test_a_driver_is_searched_and_chosen_by_keyboard_alone(open_board, shop):
    create_many(30)
    driver = DriverFactory.create(name="Zoe Reis")  # without a position, so the last of all
    delivery = DeliveryFactory.create(token=shop)
    browser = open_board()
    page = browser.page
    page.locator(f"#accept-{delivery.pk}").focus()

    page.keyboard.press("Enter")
    page.locator("#driver-query:focus").wait_for()
    page.keyboard.type("zoe")
    page.get_by_role("radio", name="Zoe Reis").wait_for()
    expect(page.locator("#drivers input")).to_have_count(2)  # and the recommended one, who is chosen
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
    page.locator(f"#accept-{delivery.pk}.held:focus").wait_for()
    wait_for_hold(page)
    page.locator(f"#collect-{delivery.pk}").wait_for()

    assert Delivery.objects.get(pk=delivery.pk).driver == driver
    assert browser.complaints == []


def test_a_card_is_dragged_onto_a_free_driver(open_board, shop):
    driver = DriverFactory.create(name="Ana Souza", at_point=PICKUP)
    DriverFactory.create(name="Bia", vehicle_type="CAR")
    delivery = DeliveryFactory.create(token=shop, stops=1)
    browser = open_board()
    page = browser.page
    page.locator("#show-drivers").click()
    address = page.locator(f"#route-{delivery.pk} .address").first

    address.drag_to(page.locator(".duty", has_text="Bia"))
    page.get_by_text("Bia has another vehicle than the route needs.").wait_for()
    address.drag_to(page.locator(f"#duty-{driver.pk}"))
    page.locator("#holds").get_by_text("Assign driver: Ana Souza").wait_for()
    wait_for_hold(page)
    page.locator(f"#collect-{delivery.pk}").wait_for()

    assert Delivery.objects.get(pk=delivery.pk).driver == driver
    assert browser.complaints == []


def test_a_route_that_the_tab_leaves_out_is_not_chosen_any_more(open_board, shop):
    chosen = DeliveryFactory.create(token=shop, stops=1)
    waiting = scheduled(timedelta(hours=3), at=timezone.now(), token=shop)
    browser = open_board()
    page = browser.page
    page.locator(f"#unfold-{chosen.pk}").click()
    expect(page.locator(".leaflet-marker-icon.point")).to_have_count(2)

    page.locator("[data-tab=scheduled]").click()

    page.locator(f"#route-{waiting.pk}").wait_for()
    expect(page.locator(".leaflet-marker-icon.point")).to_have_count(0)
    assert "route=" not in page.url
    page.locator("[data-tab=all]").click()
    expect(page.locator(f"#route-{chosen.pk}:not(.chosen)")).to_have_count(1)
    assert browser.complaints == []


def test_five_keys_lead_to_the_first_move(open_board, shop):
    first, then = (DeliveryFactory.create(token=shop, stops=1, **traits) for traits in ({}, {"collected": True}))
    page = open_board().page
    page.locator(".route").nth(1).wait_for()

    for key in ("Tab", "Enter", "Tab", "Tab", "Tab"):
        page.keyboard.press(key)

    expect(page.locator(f"#accept-{first.pk}")).to_be_focused()
    assert page.locator(".route").nth(1).get_attribute("data-id") == str(then.pk)


def test_an_address_opens_the_board_at_a_route_and_finds_one_that_has_ended(open_board, shop):
    ended, *_others, wanted = (DeliveryFactory.create(token=shop, stops=1) for _route in range(12))
    deliveries.cancel(delivery=ended, reason="", by=BY, at=timezone.now())
    browser = open_board()

    page = browser.go(f"/panel/board/?environment=live&route={wanted.pk}")
    expect(page.locator(".route.chosen")).to_have_attribute("data-id", str(wanted.pk))
    expect(page.locator(".leaflet-marker-icon.point")).to_have_count(2)
    page.locator(f"#unfold-{wanted.pk}").click()
    page.wait_for_url("**/panel/board/?environment=live")
    browser.go(f"/panel/board/?route={ended.pk}")

    page.locator(f"#ended [href*='{ended.pk}']").wait_for()
    assert browser.complaints == []
