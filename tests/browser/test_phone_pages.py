"""Every page of the panel on a phone: no button, link or status lies beyond the right edge, not even within a table."""

import pytest
from django.utils import timezone

from delivery.actions import driver_devices
from delivery.models import WebhookEvent
from integration.actions import keys
from tests.browser.test_pages import refuse_calls
from tests.browser.waiting import resize
from tests.factories import BY, PICKUP, DeliveryFactory, DriverFactory
from tests.integration.factories import create_order, nfe_xml, send_invoice

pytestmark = pytest.mark.django_db(transaction=True)

# Elements that can be seen, but not within the window and within what scrolls or cuts them off. With their text.
_BEYOND_THE_EDGE = """() => {
  const edgeOf = (element) => {
    const boxes = [];
    for (let each = element.parentElement; each; each = each.parentElement) {
      if (getComputedStyle(each).overflowX !== "visible") boxes.push(each.getBoundingClientRect().right);
    }
    return Math.min(innerWidth, ...boxes);
  };
  return [...document.querySelectorAll("main :is(a, button, .badge, input, select):not(.unseen, .leaflet-container *)")]
    .filter((element) => element.checkVisibility({ visibilityProperty: true }) && !element.closest(".unseen"))
    .filter((element) => {
      const { left, right } = element.getBoundingClientRect();
      return left < 0 || right > edgeOf(element) + 1;
    })
    .map((element) => element.textContent.trim() || element.outerHTML);
}"""


@pytest.mark.parametrize("locale", ["en-US", "pt-BR"])
def test_nothing_to_press_and_no_status_lies_beyond_the_edge(tab, people, shop, seller, busy, locale):
    people("maria", account=shop.integrator, seller=seller)
    people("bia", account=shop.integrator, seller=seller)
    key = keys.issue(seller=seller, by=BY, at=timezone.now()).clear_text
    order = create_order(seller)
    invoice = send_invoice(seller, nfe_xml().encode())
    of_token, of_key = refuse_calls(shop, key)
    failing = WebhookEvent.objects.in_state("failing").latest("created_at")
    base, of_seller = f"/panel/accounts/{shop.integrator.pk}/live/", f"/panel/sellers/{seller.pk}/"
    pages = ["/panel/", base]
    pages += [f"{base}{name}/" for name in (
        "deliveries", f"deliveries/{busy.pk}", "report", "report/deliveries", "events", f"events/{failing.pk}",
        "webhook", "tokens", f"tokens/{shop.pk}",
        "quickstart", "alerts", "team", "activity", "refused-calls", f"refused-calls/{of_token.pk}",
    )]  # fmt: skip  # a list
    pages += [of_seller, *(f"{of_seller}{name}/" for name in (
        "orders", f"orders/{order.pk}", "invoices", f"invoices/{invoice.pk}", "simulator", "team", "quickstart",
        "refused-calls", f"refused-calls/{of_key.pk}",
    ))]  # fmt: skip  # a list
    pages += ["/account/two-factor/", "/account/sessions/", "/account/password/"]
    browser = tab(locale)
    browser.log_in("maria")
    resize(browser.page, 390, 844)
    beyond = {}
    for path in pages:
        response = browser.page.goto(f"{browser.base}{path}")
        assert response.status == 200, path
        if texts := browser.page.evaluate(_BEYOND_THE_EDGE):
            beyond[path] = texts

    assert beyond == {}


@pytest.mark.parametrize("locale", ["en-US", "pt-BR"])
def test_dispatchers_pages_of_drivers_lie_within_it(tab, people, locale):
    people("dora", group="Dispatchers")
    driver = DriverFactory.create(name="Ana Lima de Albuquerque e Souza", phone="+55 11 98888-0000", at_point=PICKUP)
    token = driver_devices.issue_link(driver=driver, by=BY, at=timezone.now())
    driver_devices.log_in(token=token, phone="Samsung Internet, Android", language="pt-br", at=timezone.now())
    DeliveryFactory.create(accepted=True, driver=driver)
    browser = tab(locale)
    browser.log_in("dora")
    beyond, problems = {}, []
    for name, path in {"drivers": "/panel/drivers/", "driver": f"/panel/drivers/{driver.pk}/"}.items():
        browser.go(path)
        if name == "driver":
            browser.page.locator("form[action$='/link/'] button").click()
            browser.page.locator(".qr").wait_for()
        resize(browser.page, 390, 844)
        if texts := browser.page.evaluate(_BEYOND_THE_EDGE):
            beyond[name] = texts
        browser.keep(f"{name}-{locale}")
        problems += browser.findings(name)

    assert beyond == {}
    assert problems == []
    assert browser.complaints == []
