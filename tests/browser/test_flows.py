"""What people do, done in a browser: tokens, webhooks, the board, sending again, log-in with two factors."""

import json
import re

import pytest
import requests
from allauth.mfa.totp.internal import auth as totp
from django.utils import timezone, translation
from django.utils.translation import gettext
from standardwebhooks import Webhook

from access import enrolment
from delivery.actions import deliveries, drivers, endpoints
from delivery.models import Delivery, EventState, WebhookEvent, WebhookQueueItem
from tests.delivery.drivers import create_many
from tests.factories import BY, PICKUP, DeliveryFactory, DriverFactory, payload

pytestmark = pytest.mark.django_db(transaction=True)

NOT_TAKEN = (
    "The endpoint did not take it; it is tried again by itself. Put right what stands below, then send another test."
)


@pytest.fixture(params=["en-US", "pt-BR"])
def locale(request):
    return request.param


@pytest.fixture
def say(locale):
    """A text of the pages in the browser's language."""

    def words(text):
        with translation.override(locale.lower()):
            return gettext(text)

    return words


def address(shop, page=""):
    return f"/panel/accounts/{shop.integrator.pk}/live/{page}"


def code_of(secret):
    return totp.format_hotp_value(totp.hotp_value(secret, next(iter(totp.yield_hotp_counters_from_time()))))


def test_issues_a_token_and_uses_it_by_http(tab, people, shop, live_server, locale, say):
    people("maria", account=shop.integrator)
    browser = tab(locale)
    browser.log_in("maria")
    page = browser.go(address(shop, "tokens/"))

    page.get_by_role("button", name=say("Issue a token")).click()
    text = page.locator("#token-text").inner_text()
    page.locator("[data-copy=token-text]").click()

    assert page.evaluate("navigator.clipboard.readText()") == text
    answer = requests.post(
        f"{live_server.url}/api/quotation-delivery",
        json=payload(),
        headers={"Authorization": f"Bearer {text}"},
        timeout=10,
    )
    assert answer.json()["shippingValue"] > 0
    assert browser.complaints == []


def test_sets_a_url_and_sees_the_test_event_arrive(tab, people, shop, endpoint, receiver, locale, say):
    people("maria", account=shop.integrator)
    browser = tab(locale)
    browser.log_in("maria")
    page = browser.go(address(shop, "webhook/"))

    page.fill("#id_url", receiver.url)
    page.get_by_role("button", name=say("Save and test")).click()
    page.get_by_text(say("The endpoint answered as it should. Real events look the same.")).wait_for()

    headers, body = receiver.received.get(timeout=10)
    endpoint.refresh_from_db()
    Webhook(endpoint.secret).verify(body, headers)
    assert headers["authorization"] == f"Bearer {shop.clear_text}"
    assert "204" in page.locator("#test-result").inner_text()
    assert browser.complaints == []


def test_says_what_an_endpoint_answered_that_does_not_take_it(tab, people, shop, receiver, locale, say):
    receiver.status = 500
    people("maria", account=shop.integrator)
    browser = tab(locale)
    browser.log_in("maria")
    page = browser.go(address(shop, "webhook/"))

    page.fill("#id_url", receiver.url)
    page.get_by_role("button", name=say("Save and test")).click()

    page.get_by_text(say(NOT_TAKEN)).wait_for()
    assert "500" in page.locator("#test-result").inner_text()


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


def test_the_board_moves_as_drivers_move_and_keeps_ones_place(tab, people, shop, locale, say):
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


def test_the_board_is_worked_by_keyboard_alone(tab, people, shop, locale, say):
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


def test_sends_a_failed_webhook_again(tab, people, shop, endpoint, receiver, locale, say):
    people("maria", account=shop.integrator)
    DeliveryFactory.create(token=shop)
    endpoints.set_url(endpoint=endpoint, url=receiver.url, by=BY, at=timezone.now())
    WebhookQueueItem.objects.all().delete()
    WebhookEvent.objects.update(state=EventState.DEAD)
    browser = tab(locale)
    browser.log_in("maria")
    page = browser.go(address(shop, "events/?state=dead"))

    page.get_by_role("link", name=re.compile("PENDING")).click()
    page.get_by_role("button", name=say("Send again")).click()

    headers, body = receiver.received.get(timeout=10)
    assert headers["webhook-id"] == str(WebhookEvent.objects.get().pk)
    assert json.loads(body)["status"] == "PENDING"
    for _look in range(20):
        if page.locator(".badge.good").count():
            break
        page.wait_for_timeout(250)
        page.reload()
    assert page.locator(".badge.good").count()


def test_sends_everything_that_failed_in_a_range_again_with_progress(
    tab, people, shop, endpoint, receiver, locale, say
):
    people("maria", account=shop.integrator)
    for _number in range(12):
        DeliveryFactory.create(token=shop, stops=1)
    endpoints.set_url(endpoint=endpoint, url=receiver.url, by=BY, at=timezone.now())
    browser = tab(locale)
    browser.log_in("maria")
    page = browser.go(address(shop, "events/"))

    page.get_by_role("button", name=say("Send failed ones again…")).click()
    now = timezone.localtime()
    page.fill("#id_since", f"{now:%Y-%m-%d}T00:00")
    page.fill("#id_until", f"{now:%Y-%m-%d}T23:59")
    page.locator("dialog button.prime").click()

    page.get_by_text(
        say("%(sent)s of %(total)s events of this time received, %(waiting)s waiting, %(dead)s given up.")
        % {"sent": 12, "total": 12, "waiting": 0, "dead": 0}
    ).wait_for()
    assert receiver.received.qsize() == 12


def test_sets_up_a_second_factor_and_logs_in_with_it(tab, people, settings, locale, say):
    settings.REQUIRE_TWO_FACTOR = True
    dora = people("dora", group="Dispatchers")
    enrolment_code = enrolment.issue(user=dora, by="ana", at=timezone.now())
    browser = tab(locale)
    page = browser.go("/account/login/")
    page.fill("#id_login", "dora")
    page.fill("#id_password", "a-good-password-1")
    page.click("main button.prime")

    page.locator("#authenticator_secret").wait_for()
    secret = page.locator("#authenticator_secret").input_value()
    page.fill("#id_enrolment_code", enrolment_code)
    page.fill("#id_code", code_of(secret))
    page.get_by_role("button", name=say("Activate")).click()
    assert len(page.locator("#recovery-codes").inner_text().split()) == 10
    browser.keep("recovery-codes")
    assert browser.findings("recovery-codes") == []

    again = tab(locale)
    page = again.go("/account/login/")
    page.fill("#id_login", "dora")
    page.fill("#id_password", "a-good-password-1")
    page.click("main button.prime")
    page.locator("#id_code").wait_for()
    again.keep("second-factor")
    page.fill("#id_code", code_of(secret))
    page.locator("main button.prime").first.click()
    page.wait_for_url("**/panel/**")
    assert page.get_by_role("heading", level=1).count() == 1


def test_a_double_click_issues_one_token(tab, people, shop, locale, say):
    people("maria", account=shop.integrator)
    browser = tab(locale)
    browser.log_in("maria")
    page = browser.go(address(shop, "tokens/"))

    page.get_by_role("button", name=say("Issue a token")).dblclick(delay=5)
    page.locator("#token-text").wait_for()

    assert shop.integrator.tokens.count() == 2


def test_the_board_says_when_nothing_is_heard_and_when_the_session_has_ended(tab, people, shop, locale, say):
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
