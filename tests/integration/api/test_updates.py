"""Which changes of an order its `updated_at` tells of, and the list of those that have changed since a moment."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.utils import timezone

from integration.actions import forgetting, orders
from integration.bodies import utc
from integration.invoices import actions as invoices
from integration.lifecycle import Status
from integration.models import Order
from tests.cases import in_turn
from tests.integration.factories import BY, OTHER_COMPANY, assign, create_order, make_carrier, nfe_xml, send_invoice
from tests.tables import age

pytestmark = pytest.mark.django_db
URL = "/api/integration/orders"
NOON = datetime(2026, 7, 15, 15, 0, tzinfo=UTC)


def new(seller):
    return create_order(seller, at=NOON)


def with_invoice(seller):
    order = new(seller)
    send_invoice(seller, nfe_xml(status="").encode())
    return order


def failed(seller):
    order = new(seller)
    for status in (Status.COLLECTED, Status.DELIVERY_FAILED):
        move(order, status, at=NOON)
    return order


def move(order, status, at=None):
    details = orders.Details(reason_code="ABSENT") if status is Status.DELIVERY_FAILED else orders.NOTHING_MORE
    orders.move(order=order, to=status, by=BY, at=at or timezone.now(), details=details)


def unlink(order):
    invoices.unlink_by_hand(invoice=order.invoices.get(), order=order, by=BY, at=timezone.now())


def create_again(order):
    orders.cancel(order=order, by=BY, at=timezone.now())
    age(order, NOON)
    create_order(order.seller, orderId=order.code)


Case = tuple[Callable[[Any], Any], Callable[[Any], object]]  # what is made, and what then is done with it
SHOWN: dict[str, Case] = {
    "moved": (new, lambda order: move(order, Status.COLLECTED)),
    "reported again": (failed, lambda order: move(order, Status.DELIVERY_FAILED)),
    "cancelled": (new, lambda order: orders.cancel(order=order, by=BY, at=timezone.now())),
    "corrected": (
        new,
        lambda order: orders.correct(order=order, changes={"volumes": 7}, by=BY, at=timezone.now()),
    ),
    "carrier": (new, lambda order: assign(make_carrier()[0], order)),
    "invoice": (new, lambda order: send_invoice(order.seller, nfe_xml().encode())),
    "invoice taken away": (with_invoice, unlink),
    "invoice of another value": (
        with_invoice,
        lambda order: send_invoice(order.seller, nfe_xml(value="9.00").encode()),
    ),
    "forgotten": (
        new,
        lambda order: forgetting._forget(Order.objects.filter(pk=order.pk), at=timezone.now(), failed=None),
    ),
}
NOT_SHOWN: dict[str, Case] = {
    "events written": (new, lambda order: Order.objects.filter(pk=order.pk).update(unrecorded_at=None)),
    "invoice confirmed": (with_invoice, lambda order: send_invoice(order.seller, nfe_xml().encode())),
    "created again": (new, create_again),
}


class TestUpdatedAt:
    def test_is_at_first_the_moment_of_the_creation(self, api, seller):
        create_order(seller, at=NOON)

        (listed,), shown = api.get(URL).json()["data"], api.get(f"{URL}/A-1").json()["data"]

        assert (listed["updated_at"], shown["updated_at"]) == ("2026-07-15T15:00:00.000000Z",) * 2

    @in_turn("name", [*SHOWN, *NOT_SHOWN])
    def test_tells_of_what_sellers_are_shown(self, seller, name):
        make, act = {**SHOWN, **NOT_SHOWN}[name]
        order = make(seller)
        age(order, NOON)

        act(Order.objects.get(pk=order.pk))

        assert (Order.objects.get(pk=order.pk).updated_at > NOON) == (name in SHOWN)

    @pytest.mark.django_db(transaction=True)
    def test_of_an_order_that_is_created_after_its_invoice_is_that_of_the_link(self, api, seller):
        send_invoice(seller, nfe_xml().encode())
        order = create_order(seller)

        assert Order.objects.get().updated_at > order.created_at
        assert api.get(f"{URL}/A-1").json()["data"]["updated_at"] == utc(Order.objects.get().updated_at)


class TestUpdatedFrom:
    @pytest.fixture
    def three(self, seller):
        rows = [create_order(seller, orderId=code, at=NOON) for code in ("A-3", "A-1", "A-2")]
        for number, order in enumerate(rows):
            age(order, NOON + timedelta(minutes=number))
        return rows

    @pytest.mark.usefixtures("three")
    def test_lists_what_has_changed_since_and_the_oldest_change_first(self, api, other_seller):
        create_order(other_seller, company_document=OTHER_COMPANY)

        assert codes(api, updatedFrom="2026-07-15T15:01:00Z") == ["A-1", "A-2"]
        assert codes(api, updatedFrom="2026-07-15", orderId="A-3,A-2") == ["A-3", "A-2"]
        assert codes(api, updatedFrom="2026-07-15", status="pending,cancelled") == ["A-3", "A-1", "A-2"]
        assert codes(api, updatedFrom="2026-07-15T12:02:00.000001") == []

    def test_has_on_a_later_page_what_changes_meanwhile(self, api, three):
        query = {"updatedFrom": "2026-07-15", "limit": "2"}

        page = api.get(URL, query).json()
        orders.cancel(order=three[0], by=BY, at=timezone.now())

        assert [each["orderId"] for each in page["data"]] == ["A-3", "A-1"]
        assert codes(api, **query, cursor=page["nextCursor"]) == ["A-2", "A-3"]


def codes(api, **query):
    response = api.get(URL, query)
    assert response.status_code == 200, response.content
    return [each["orderId"] for each in response.json()["data"]]
