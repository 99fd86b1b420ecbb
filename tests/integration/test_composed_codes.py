"""Codes that differ in Unicode's composed and decomposed form alone are one, and are kept as they were sent."""

from unicodedata import normalize

import pytest
from django.utils import timezone

from integration.carriers import movements
from integration.carriers.movements import Movement
from integration.errors import DuplicateOrder
from integration.invoices.models import InvoiceLink
from integration.lifecycle import Status
from integration.models import Order
from tests.cases import in_turn
from tests.integration.factories import create_order, nfe_xml, order_body, send_invoice

COMPOSED = normalize("NFC", "PÃO-É-1")
DECOMPOSED = normalize("NFD", COMPOSED)
ORDERS = "/api/integration/orders"
BOTH = pytest.mark.parametrize(("kept", "sent"), [(COMPOSED, DECOMPOSED), (DECOMPOSED, COMPOSED)])


@BOTH
class TestCode:
    def test_is_taken_in_either_form(self, seller, kept, sent):
        create_order(seller, orderId=kept, trackingCode=f"T{kept}")

        for changes in ({"orderId": sent}, {"orderId": "X", "trackingCode": f"T{sent}"}):
            with pytest.raises(DuplicateOrder):
                create_order(seller, **changes)

        assert [*Order.objects.values_list("code", "tracking_code")] == [(kept, f"T{kept}")]

    def test_is_found_in_either_form(self, api, seller, kept, sent):
        create_order(seller, orderId=kept, trackingCode=f"T{kept}")

        for value in (sent, f"T{sent}"):
            tracked = api.get(f"{ORDERS}/tracking", {"type": "order_number", "value": value}).json()
            assert [order["tracking_code"] for order in tracked["data"]] == [f"T{kept}"]
        assert api.get(f"{ORDERS}/{sent}").json()["data"]["orderId"] == kept
        for query in ({"orderId": sent}, {"trackingCode": f"T{sent}"}):
            assert [order["orderId"] for order in api.get(ORDERS, query).json()["data"]] == [kept]
        assert api.post(f"{ORDERS}/cancel", {"orderId": sent}, format="json").status_code == 200

    def test_is_that_of_an_event_in_either_form(self, seller, kept, sent):
        order = create_order(seller, trackingCode=kept)

        (outcome,) = movements.record(
            [Movement(event_id="e", tracking_code=sent, status=Status.COLLECTED)],
            orders=Order.objects.all(), source="s", by="x", at=timezone.now(),
        )  # fmt: skip  # arguments

        assert (outcome.code, outcome.order) == ("moved", order)

    @in_turn("is_first", [True, False])
    @in_turn("rest", ["", "-SEGUNDA-PARTE"])
    def test_is_named_by_an_invoice_in_either_form(self, seller, kept, sent, rest, is_first):
        code = f"{kept}{rest}"
        reference = sent if not rest else normalize("NFC", code)[:15]
        makes = [
            lambda: create_order(seller, orderId=code, orderCost="150.5"),
            lambda: send_invoice(seller, nfe_xml(items=(reference,)).encode()),
        ]

        for make in makes if is_first else reversed(makes):
            make()

        assert [*InvoiceLink.objects.values_list("order__code", flat=True)] == [code]

    def test_is_answered_as_it_was_sent(self, api, kept, sent):
        api.post(ORDERS, order_body(orderId=kept), format="json")

        assert api.get(f"{ORDERS}/{sent}").json()["data"]["orderId"] == kept
