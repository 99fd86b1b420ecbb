"""A seller's pages in a browser; linking an invoice that matched nothing, with the clicks counted."""

import re

import pytest
from django.utils import timezone

from integration.actions import orders
from integration.lifecycle import Status
from integration.models import InvoiceLink
from tests.browser.waiting import resize
from tests.integration.factories import ACCESS_KEY, BY, create_order, load_tariff, nfe_xml, send_invoice

pytestmark = pytest.mark.django_db(transaction=True)


def test_a_seller_links_an_invoice(tab, people, seller, clicks, locale, say):
    order = create_order(seller, orderId="LUA-2026-000017")
    invoice = send_invoice(seller, nfe_xml(items=["PEDIDO-17"]).encode())
    people("clara", seller=seller)
    browser = tab(locale)
    browser.log_in("clara")
    page = browser.go(f"/panel/sellers/{seller.pk}/")
    counted = clicks(page)

    page.get_by_role("link", name=say("Invoices")).click()
    page.get_by_role("link", name="123 / 1").click()
    page.fill("#id_q", "maria")
    with page.expect_navigation():
        page.keyboard.press("Enter")
    page.get_by_role("button", name=say("Link order %(code)s") % {"code": order.code}).wait_for()
    browser.keep(f"link-invoice-{locale}")
    problems = browser.findings(f"link-invoice-{locale}")
    page.get_by_role("button", name=say("Link order %(code)s") % {"code": order.code}).click()
    page.get_by_text(say("The invoice is linked to order %(order)s.") % {"order": order.code}).wait_for()

    link = InvoiceLink.objects.get()
    assert (link.invoice, link.order, link.linked_by) == (invoice, order, "user clara")
    assert counted() == 3
    assert problems == []
    assert browser.complaints == []


def test_a_seller_uploads_an_invoice(tab, people, seller, locale, say):
    create_order(seller)
    people("clara", seller=seller)
    browser = tab(locale)
    browser.log_in("clara")
    page = browser.go(f"/panel/sellers/{seller.pk}/invoices/")

    page.set_input_files("#id_nfe", {"name": "n.xml", "mimeType": "text/xml", "buffer": b"no XML"})
    page.get_by_role("button", name=say("Upload"), exact=True).click()
    refused = page.locator(".notice.error").inner_text()
    page.set_input_files("#id_nfe", {"name": "n.xml", "mimeType": "text/xml", "buffer": nfe_xml().encode()})
    page.get_by_role("button", name=say("Upload"), exact=True).click()
    page.get_by_text(say("The invoice is saved and linked.")).wait_for()

    assert refused == "O arquivo não é um XML bem-formado"
    assert ACCESS_KEY in page.locator("main").inner_text()
    assert browser.complaints == []


def test_pages(tab, people, seller, locale):
    load_tariff()
    order = create_order(seller)
    orders.move(order=order, to=Status.OUT_FOR_DELIVERY, by=BY, at=timezone.now())
    invoice = send_invoice(seller, nfe_xml().encode())
    for number in range(3):
        create_order(seller, orderId=f"MARKETPLACE-2026-00000{number}", invoice={"number": "7", "key": ACCESS_KEY})
    people("clara", seller=seller)
    browser = tab(locale)
    browser.log_in("clara")
    base = f"/panel/sellers/{seller.pk}/"
    problems = []
    for name, path in {
        "seller-orders": f"{base}orders/",
        "seller-orders-none": f"{base}orders/?q=nothing",
        "seller-order": f"{base}orders/{order.pk}/",
        "seller-invoices": f"{base}invoices/",
        "seller-invoice": f"{base}invoices/{invoice.pk}/",
        "seller-simulator": f"{base}simulator/?origin=01310-100&destination=69005-070&weight=2,5&declared=300",
    }.items():
        browser.go(path)
        browser.keep(f"{name}-{locale}")
        problems += [f"{name}: {finding}" for finding in browser.findings(f"{name}-{locale}")]

    assert problems == []
    assert browser.complaints == []


DELIVERY = "/panel/simulators/delivery/"
POINTS = "a=-23.56141,-46.65588&b=-23.552,-46.65&c=-23.548,-46.638&returning=on"


def test_simulators_of_staff(tab, people, shop, locale):
    load_tariff()
    people("paula", group="Account staff")
    browser = tab(locale)
    browser.log_in("paula")
    problems = []
    for name, path in {
        "simulator-freight": "/panel/simulators/freight/?origin=01310-100&destination=69005-070&weight=x",
        "simulator-freight-price": "/panel/simulators/freight/?origin=01310-100&destination=69005-070&weight=2,5",
        "simulator-delivery": f"{DELIVERY}?way=distance&vehicle_type=MOTORCYCLE&distance=7&stops=2&returning=on",
        "simulator-delivery-points": f"{DELIVERY}?way=points&vehicle_type=MOTORCYCLE&{POINTS}",
    }.items():
        browser.go(path)
        browser.keep(f"{name}-{locale}")
        problems += [f"{name}: {finding}" for finding in browser.findings(f"{name}-{locale}")]

    assert problems == []
    assert browser.complaints == []


def test_staff_choose_the_points_of_a_simulated_delivery_on_the_map(tab, people, shop, locale, say):
    people("paula", group="Account staff")
    browser = tab(locale)
    browser.log_in("paula")
    page = browser.go(DELIVERY)
    resize(page, 390, 844)

    page.fill("#id_a", "-23.56141, -46.65588")
    for x in (120, 200):
        page.locator("#points-map").click(position={"x": x, "y": 90})
    typed = [page.locator(f"#id_{name}").input_value() for name in "bcd"]
    with page.expect_navigation():
        page.get_by_role("button", name=say("Calculate")).click()
    page.locator("#result .price").wait_for()

    assert [bool(re.fullmatch(r"-23\.\d{5}, -46\.\d{5}", text)) for text in typed] == [True, True, False]
    assert page.locator("#result .price").bounding_box()["y"] < 700  # in the window, which is 844 px high
    assert browser.complaints == []
