"""What people do, done in a browser: tokens, webhooks, sending again."""

from datetime import timedelta

from django.utils import timezone
from playwright.sync_api import expect

from common.webhooks import endpoints
from delivery.connections.models import Draft
from delivery.models import Delivery
from tests.browser.waiting import copied
from tests.delivery.connections.shops import shop as connected
from tests.delivery.many_drivers import create_many
from tests.factories import BY, DeliveryFactory, DriverFactory
from tests.integration.factories import load_tariff


def address(shop, page=""):
    return f"/panel/accounts/{shop.integrator.pk}/live/{page}"


def test_issues_a_token_and_copies_it(member, shop):
    page = member.go(address(shop, "tokens/"))

    with page.expect_navigation():
        page.get_by_role("button", name="Issue a token").click()
    text = page.locator("#token-text").inner_text()
    page.locator("[data-copy=token-text]").click()

    assert copied(page, text) == text
    assert member.complaints == []


def test_changes_the_language_of_the_documentation_at_the_same_heading(tab):
    browser = tab()
    page = browser.go("/docs/webhooks#verification")

    page.get_by_role("button", name="Português").first.click()

    page.wait_for_selector("html[lang=pt-br]")
    assert page.evaluate("location.pathname + location.hash") == "/docs/webhooks#verification"
    assert browser.complaints == []


def test_sets_a_url_and_sees_the_test_event_arrive(member, shop, sink):
    page = member.go(address(shop, "webhook/"))

    page.fill("#id_url", sink.url)
    page.get_by_role("button", name="Save and test").click()
    page.get_by_text("Your server answered as it should. Real events look the same.").wait_for()

    assert len(sink.received) == 1
    assert "204" in page.locator("#test-result").inner_text()
    # Of the last success. The page may have been rendered between the state and the answer; it then updates itself.
    expect(page.locator("#webhook-state")).not_to_contain_text("never")
    assert member.complaints == []


def test_sends_everything_that_failed_in_a_range_again_with_progress(member, shop, endpoint, sink):
    for _number in range(12):
        DeliveryFactory.create(token=shop, stops=1)
    endpoints.set_url(endpoint=endpoint, url=sink.url, by=BY, at=timezone.now())
    page = member.go(address(shop, "events/"))

    page.get_by_role("button", name="Recover failed events…").click()
    now = timezone.localtime()
    before = now - timedelta(days=1)  # at midnight, when the deliveries were requested
    page.locator("dialog input[value=range]").check()
    page.fill("#again_since", f"{before:%Y-%m-%d}T00:00")
    page.fill("#again_until", f"{now:%Y-%m-%d}T23:59")
    page.locator("dialog button.prime", has_text="12").click()

    page.locator("#progress h2", has_text="12").wait_for()
    expect(page.locator("#progress")).not_to_have_attribute("hx-trigger", "every 1s")
    assert len(sink.received) == 12


def test_a_double_click_issues_one_token(member, shop):
    page = member.go(address(shop, "tokens/"))

    page.get_by_role("button", name="Issue a token").dblclick(delay=5)
    page.locator("#token-text").wait_for()

    assert shop.integrator.tokens.count() == 2


def test_a_driver_is_searched_and_chosen_in_the_admin(dispatcher, shop):
    create_many(30)
    driver = DriverFactory.create(name="Zoe Reis")
    delivery = DeliveryFactory.create(token=shop)
    page = dispatcher.go(f"/admin/delivery/delivery/{delivery.pk}/change/")

    page.locator("#moves .select2-selection").click()
    page.locator(".select2-search__field:focus").wait_for()
    page.keyboard.type("zoe")
    page.locator(".select2-results__option--highlighted", has_text="Zoe Reis").wait_for()
    page.keyboard.press("Enter")
    page.locator("#moves form[action$='/accept/'] button").click()
    page.locator("#content-main button").click()
    page.locator("#moves form[action$='/collect/']").wait_for()

    assert Delivery.objects.get(pk=delivery.pk).driver == driver
    assert dispatcher.complaints == []


def test_j_and_k_move_over_the_rows_of_a_page(dispatcher, shop):
    for _ in range(3):
        DeliveryFactory.create(token=shop)
    page = dispatcher.go("/panel/board/")
    page.locator(".route").nth(2).wait_for()
    at = "selector => [...document.querySelectorAll(selector)].findIndex((row) => row.contains(document.activeElement))"

    def here(row):
        return page.evaluate(at, row)

    places = []
    for key in "jjkj":
        page.keyboard.press(key)
        places.append(here(".route"))
    assert places == [0, 1, 0, 1]

    dispatcher.go("/panel/drivers/")
    DriverFactory.create(name="Ana")
    DriverFactory.create(name="Bia")
    page.reload()
    page.keyboard.press("j")
    page.keyboard.press("j")
    assert here("tbody tr") == 1
    assert dispatcher.complaints == []


def test_uploads_deliveries_and_goes_on_after_a_refusal(member, shop):
    rows = ["Order number;Recipient;Street;latitude;longitude", "P-1;Ana;Rua Augusta;-23.552;-46.65"]
    page = member.go(address(shop, "deliveries/upload/"))
    refusals = iter(
        [{"status": 429, "headers": {"Retry-After": "1"}}, {"status": 503, "headers": {"Retry-After": "1"}}]
    )
    page.route(
        "**/advance/", lambda route: route.fulfill(**answer) if (answer := next(refusals, {})) else route.continue_()
    )
    page.set_input_files("[name=file]", {"name": "a.csv", "mimeType": "text/csv", "buffer": "\n".join(rows).encode()})

    page.locator("form:has([name=file]) button").click()

    expect(page.locator("#upload")).to_contain_text("The service is busy with other files. This one goes on by itself")
    expect(page.locator("#upload")).to_contain_text("1 row has a fault")
    assert next(refusals, None) is None


def test_creates_an_order_whose_errors_go_when_they_are_put_right(tab, people, seller):
    load_tariff()
    seller.companies.update(postcode="01310100")
    people("clara", seller=seller)
    browser = tab()
    browser.log_in("clara")
    page = browser.go(f"/panel/sellers/{seller.pk}/live/orders/new/")
    fields = {
        "order-code": "P-1", "to-name": "Ana", "to-zipcode": "4002", "to-street": "Rua Chile", "to-number": "5",
        "to-district": "Centro", "to-city": "Salvador", "to-state": "BA", "item1-description": "Livro",
        "item1-price": "40.50", "item1-weight": "0.5", "item1-length": "20", "item1-width": "15", "item1-height": "3",
    }  # fmt: skip  # a table
    for name, text in fields.items():
        page.fill(f"#id_{name}", text)
    with page.expect_navigation():
        page.keyboard.press("Enter")
    expect(page.locator("#id_to-zipcode")).to_be_focused()

    page.fill("#id_to-zipcode", "40020-000")
    page.keyboard.press("Tab")
    expect(page.locator(".errorlist, [data-errors]")).to_have_count(0)
    page.get_by_role("button", name="Create the order").click()

    expect(page.locator("h1")).to_contain_text("P-1")


def test_counts_what_is_chosen_of_the_orders_that_a_filter_leaves(member, shop):
    connection = connected(integrator=shop.integrator)
    rows = [Draft(external_id=str(number), order_id=str(number), price=9) for number in range(2)]
    for row in rows:
        row.integrator, row.connection, row.environment = shop.integrator, connection, connection.environment
        row.payload, row.source, row.created_at = {"dropoffs": [{}]}, {}, timezone.now()
    Draft.objects.bulk_create(rows)
    page = member.go(address(shop, "shop-orders/"))
    page.locator("td.select input").first.check()
    expect(page.locator("[data-counts]")).to_have_text("1 selected")

    with page.expect_response(lambda answer: "status=open" in answer.url):
        page.locator("form.filters [name=status]").select_option("open")

    expect(page.locator("td.select input:checked")).to_have_count(0)
    expect(page.locator("[data-counts]")).to_have_text("0 selected")
