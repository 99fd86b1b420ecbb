"""Codes of orders that were cancelled before they were collected, created again."""

import pytest
from django.utils import timezone
from rest_framework.test import APIClient

from common.postgresql.invariants import find_broken
from integration import invariants
from integration.actions import orders
from integration.invoices.models import InvoiceLink
from integration.lifecycle import Status
from integration.models import Order, StatusLog
from tests.integration.factories import (
    ACCESS_KEY,
    BY,
    COMPANY,
    access_key,
    assign,
    create_order,
    make_carrier,
    nfe_xml,
    order_body,
    send_invoice,
)

URL = "/api/integration/orders"


def create(api, **changes):
    return api.post(URL, order_body(**changes))


def cancel(api, code="A-1"):
    assert api.post(f"{URL}/cancel", {"orderId": code}).status_code == 200


def shipping_ids(api, **query):
    return [each["shippingId"] for each in api.get(URL, query).json()["data"]]


def tracked(api, value, kind="order_number"):
    body = api.get(f"{URL}/tracking", {"type": kind, "value": value}).json()
    return [record["status_log"][0]["order_id"] for record in body.get("data", [])]


@pytest.fixture
def earlier(api, seller):
    """A cancelled order."""
    create(api)
    cancel(api)
    return Order.objects.get()


@pytest.fixture
def later(api, earlier):
    """The order that was created with the same codes."""
    assert create(api, orderCost=99).status_code == 201
    return Order.objects.get(cost=99)


@pytest.fixture(autouse=True)
def holds(db):
    """Every invariant, at the end of each test."""
    yield
    assert find_broken(invariants.ALL) == []


class TestOrderThatIsCreatedAgain:
    def test_is_found_by_its_codes_everywhere(self, api, earlier, later):
        carrier, key = make_carrier()
        assign(carrier, earlier, later)

        found = {
            "detail": api.get(f"{URL}/A-1").json()["data"]["shippingId"],
            "alike": api.get(f"{URL}/a1").json()["data"]["shippingId"],
            **{f"list by {name}": shipping_ids(api, **{name: value})
               for name, value in (("orderId", "A-1"), ("trackingCode", "TRACK-1"), ("status", "pending"))},
            **{value: tracked(api, value) for value in ("A-1", "TRACK-1", "track 1", ACCESS_KEY, "123")},
        }  # fmt: skip  # a table
        label = api.post("/api/integration/labels", {"orderIds": ["A-1"]})
        manifest = api.post("/api/integration/manifests", {"orderIds": ["A-1"]}).json()["data"]
        event = {"eventId": "1", "trackingCode": "TRACK-1", "status": "collected"}
        carried = APIClient(HTTP_AUTHORIZATION=f"Basic {key}").post(
            "/api/integration/carrier/events", {"events": [event]}
        )

        assert found == {name: later.pk if name in ("detail", "alike") else [later.pk] for name in found}
        assert (label.status_code, manifest["totals"]["orders"]) == (200, 1)
        assert carried.json()["data"][0]["code"] == "moved"
        assert dict(Order.objects.values_list("pk", "status")) == {earlier.pk: "cancelled", later.pk: "collected"}
        assert api.post(f"{URL}/cancel", {"orderId": "A-1"}).status_code == 200

    def test_leaves_the_earlier_one_readable_by_its_shipping_id(self, api, earlier, later):
        def shown(**query):
            return api.get(f"{URL}/A-1", query)

        data = shown(shippingId=earlier.pk).json()["data"]
        assert (data["shippingId"], data["status"], data["orderCost"]) == (earlier.pk, "cancelled", 150.5)
        assert shown(shippingId=later.pk).json()["data"]["shippingId"] == later.pk
        assert tracked(api, str(earlier.pk)) == [earlier.pk]
        assert tracked(api, "52998224725", "document") == [later.pk, earlier.pk]
        assert shipping_ids(api) == [later.pk, earlier.pk]
        assert shown(shippingId=later.pk + 1).status_code == 404
        assert api.get(f"{URL}/B-1", {"shippingId": earlier.pk}).status_code == 404
        assert shown(shippingId="x").status_code == 422
        assert StatusLog.objects.filter(order=earlier).count() == 2

    def test_can_be_cancelled_and_created_again_like_the_first(self, api, earlier, later):
        cancel(api)

        assert create(api, orderCost=7).status_code == 201
        assert tracked(api, "A-1") == [Order.objects.get(cost=7).pk]
        assert create(api).status_code == 400

    @pytest.mark.parametrize(
        ("changes", "by_code", "by_tracking_code"),
        [({"trackingCode": "T-2"}, 1, 0), ({"orderId": "B-1"}, 0, 1), ({"trackingCode": None}, 1, 0)],
    )
    def test_takes_one_code_and_leaves_the_other(self, api, earlier, changes, by_code, by_tracking_code):
        assert create(api, **changes).status_code == 201

        keys = [earlier.pk, Order.objects.exclude(pk=earlier.pk).get().pk]
        assert api.get(f"{URL}/A-1").json()["data"]["shippingId"] == keys[by_code]
        assert tracked(api, "TRACK-1") == [keys[by_tracking_code]]

    @pytest.mark.parametrize("way", [[], [Status.COLLECTED, Status.CANCELLED], [Status.DELIVERED]])
    def test_is_refused_unless_the_first_was_cancelled_before_it_was_collected(self, api, seller, way):
        create(api)
        for status in way:
            orders.move(order=Order.objects.get(), to=status, by=BY, at=timezone.now())

        response = create(api)

        assert (response.status_code, response.json()["code"]) == (400, "duplicate_order")
        assert response.json()["errors"].keys() == {"orderId", "trackingCode"}
        assert Order.objects.count() == 1

    def test_is_refused_for_a_code_that_another_one_has(self, api, earlier):
        create(api, orderId="B-1", trackingCode="T-2")

        response = create(api, trackingCode="T-2")

        assert response.json()["errors"].keys() == {"trackingCode"}
        assert tracked(api, "A-1") == [earlier.pk]


class TestInvoices:
    def linked(self):
        return [*InvoiceLink.objects.order_by("pk").values_list("order__cost", "reason")]

    @pytest.mark.parametrize("reference", ["A-1", "a 1"])
    def test_that_were_printed_before_are_linked_to_the_later_one(self, api, seller, reference):
        create(api, invoice=None)
        send_invoice(seller, nfe_xml(items=(reference,)).encode())
        cancel(api)

        create(api, orderCost=99, invoice=None)

        assert self.linked() == [(99, "reference")]
        assert tracked(api, ACCESS_KEY) == tracked(api, "123") == [Order.objects.get(cost=99).pk]

    def test_of_several_all_are_linked_to_the_later_one(self, api, seller):
        create(api, invoice=None)
        for number in (1, 2):
            send_invoice(seller, nfe_xml(items=("A-1",), key=access_key(number)).encode())
        cancel(api)

        create(api, orderCost=99, invoice=None)

        assert self.linked() == [(99, "reference")] * 2

    def test_that_come_later_are_linked_to_it_alone(self, api, seller, later):
        send_invoice(seller, nfe_xml(items=("A-1",)).encode())
        send_invoice(seller, nfe_xml(items=("A-1",)).encode())

        assert self.linked() == [(99, "reference")]

    def test_of_the_key_that_only_the_earlier_one_names_stay_its_own(self, api, seller):
        create(api)
        create(api, orderId="B-1", trackingCode="T-2", invoice=None)
        send_invoice(seller, nfe_xml(items=("B-1",)).encode())
        cancel(api)
        first = Order.objects.get(code="A-1")

        create(api, orderCost=99, invoice={"key": access_key(5)})

        assert sorted(tracked(api, ACCESS_KEY)) == sorted([first.pk, Order.objects.get(code="B-1").pk])
        assert tracked(api, access_key(5)) == [Order.objects.get(cost=99).pk]

    def test_of_a_cut_reference_are_linked_to_the_one_that_fits(self, api, seller):
        code = "MARKETPLACE-12345"
        create(api, orderId=code, invoice=None)
        send_invoice(seller, nfe_xml(items=(code[:15],), recipient="52998224725").encode())
        assert self.linked() == [(150.5, "cut_reference")]
        cancel(api, code)

        create(api, orderId=code, orderCost=99, invoice=None)

        assert self.linked() == [(99, "cut_reference")]


def test_pages_lead_from_the_earlier_order_to_the_later_one(client, admin_user, seller, api, earlier, later):
    client.force_login(admin_user)

    page = client.get(f"/panel/sellers/{seller.pk}/live/orders/{earlier.pk}/").content.decode()

    assert f"/panel/sellers/{seller.pk}/live/orders/{later.pk}/" in page
    assert create_order(seller, orderId="C-1", company_document=COMPANY).pk > later.pk
