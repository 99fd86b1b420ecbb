"""Orders in the form in which each platform posts them, from the signature to the delivery, and to the order."""

import json
from datetime import timedelta

import pytest
from django.utils import timezone

from common.shops.platforms import Platform
from delivery.connections import drafts
from delivery.connections.models import Draft
from delivery.models import Delivery, Stop
from tests.common.shops import shopify_orders, woocommerce_orders, yampi_orders
from tests.delivery.connections.shops import post, shop
from tests.factories import BY

_PLACE = {"city": "São Paulo"}
RECORDED = {
    Platform.WOOCOMMERCE: woocommerce_orders.order(
        shipping={
            **_PLACE, "address_1": "Rua Augusta", "number": "500", "address_2": "Ap. 12", "neighborhood": "Consolação",
            "state": "SP", "postcode": "01304-000",
        }
    ),
    Platform.SHOPIFY: shopify_orders.order(
        shipping_address={
            **_PLACE, "address1": "Rua Augusta, \u2060500", "address2": "Ap. 12, \u2060Consolação", "zip": "01304-000",
            "province_code": "SP",
        }
    ),
    Platform.YAMPI: yampi_orders.order(
        shipping_address={
            **_PLACE, "street": "Rua Augusta", "number": "500", "complement": "Ap. 12", "neighborhood": "Consolação",
            "uf": "SP", "zip_code": "01304000",
        }
    ),
}  # fmt: skip  # a table
CANCELLED = {
    Platform.WOOCOMMERCE: woocommerce_orders.order(status="cancelled"),
    Platform.SHOPIFY: shopify_orders.order(cancelled_at="2026-03-02T11:00:00-03:00"),
    Platform.YAMPI: yampi_orders.with_status("cancelled"),
}
NUMBERS = {Platform.WOOCOMMERCE: "L-727", Platform.SHOPIFY: "#1001", Platform.YAMPI: "739383970908649"}


def sent(body):
    return json.dumps(body, default=float).encode()


@pytest.mark.django_db
@pytest.mark.parametrize("platform", Platform)
class TestARecordedOrder:
    def test_becomes_a_delivery(self, platform, settings, geocoder):
        settings.GEOCODER_URL = geocoder.url
        connection = shop(platform=platform)

        answer = post(connection, sent(RECORDED[platform]))
        again = post(connection, sent(RECORDED[platform]))
        drafts.check_due()

        draft = Draft.objects.select_related("connection__integrator", "connection__pickup", "delivery").get()
        assert (answer.status_code, answer.json()["result"]) == (200, "draft")
        assert again.json()["id"] == answer.json()["id"] == str(draft.pk)
        assert draft.missing == []
        delivery, _is_earlier = drafts.request(draft=draft, seen=draft.revision, by=BY, at=timezone.now())
        stop = Stop.objects.get(delivery=delivery)
        assert (stop.external_id, stop.contact_name) == (NUMBERS[platform], "Bento Sá")
        assert {key: stop.address[key] for key in ("street", "number", "complement", "district", "city", "state")} == {
            "street": "Rua Augusta", "number": "500", "complement": "Ap. 12", "district": "Consolação",
            "city": "São Paulo", "state": "SP",
        }  # fmt: skip  # an address
        assert Delivery.objects.count() == 1

    def test_that_is_cancelled_is_none(self, platform):
        connection = shop(platform=platform)
        post(connection, sent(RECORDED[platform]))

        answer = post(connection, sent(CANCELLED[platform]))

        assert answer.json()["result"] == "cancelled"
        assert Draft.objects.get().status == "dropped"


@pytest.mark.django_db
def test_an_order_of_woocommerce_is_cancelled_by_its_id_alone_and_open_again_once_it_is_restored():
    connection = shop(shipping_method="motoboy")
    made = post(connection, sent(RECORDED[Platform.WOOCOMMERCE])).json()

    trashed = post(connection, {"id": RECORDED[Platform.WOOCOMMERCE]["id"]}).json()
    restored = post(
        connection, sent({**RECORDED[Platform.WOOCOMMERCE], "date_modified_gmt": "2026-03-02T14:00:00"})
    ).json()

    assert (made["result"], trashed["result"], restored["result"]) == ("draft", "cancelled", "draft")
    assert made["id"] == trashed["id"] == restored["id"]
    assert Draft.objects.get().external_id == NUMBERS[Platform.WOOCOMMERCE]


@pytest.mark.django_db
def test_an_order_of_woocommerce_that_was_in_the_trash_before_anything_was_known_of_it_becomes_a_draft():
    connection = shop()
    order = {**RECORDED[Platform.WOOCOMMERCE], "date_modified_gmt": timezone.now().isoformat()[:19]}

    trashed = post(connection, {"id": order["id"]}).json()
    Draft.objects.update(shop_cancelled_at=timezone.now() - timedelta(minutes=1))
    restored = post(connection, sent(order)).json()

    assert (trashed["result"], restored["result"], restored["id"]) == ("cancelled", "draft", trashed["id"])


@pytest.mark.django_db
def test_what_was_deleted_of_another_kind_is_no_order_of_its_id():
    connection = shop()
    made = post(connection, sent(RECORDED[Platform.WOOCOMMERCE])).json()
    body = {"id": RECORDED[Platform.WOOCOMMERCE]["id"]}

    answer = post(connection, body, topic="customer.deleted")

    assert (answer.status_code, answer.json()["code"]) == (422, "unknown_form")
    assert "X-WC-Webhook-Topic: order.*" in answer.json()["detail"]
    assert Draft.objects.get(pk=made["id"]).status == "open"
    cancelled = post(connection, body, topic="order.deleted")
    assert cancelled.json()["result"] == "cancelled"
