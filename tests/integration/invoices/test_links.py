"""Linking and unlinking orders and invoices by hand, and its history."""

from decimal import Decimal

import pytest
from django.utils import timezone

from integration.errors import OrderNotFound
from integration.invoices import actions as invoices
from integration.invoices.models import Invoice, InvoiceChange, InvoiceLink
from integration.models import SearchCode
from tests.cases import in_turn
from tests.integration.factories import (
    ACCESS_KEY,
    COMPANY,
    OTHER_COMPANY,
    access_key,
    create_order,
    nfe_xml,
    send_invoice,
    upload,
)

URL = f"/api/integration/invoices/{ACCESS_KEY}"


@pytest.fixture
def invoice(seller):
    return send_invoice(seller, nfe_xml(items=("X",)).encode())


@pytest.fixture
def order(seller):
    return create_order(seller)


def post(api, what, body, url=URL):
    return api.post(f"{url}/{what}", body, format="json")


class TestLink:
    def test_answers_with_the_orders_and_keeps_who_made_it(self, api, order, invoice):
        for url in (URL, URL.replace(ACCESS_KEY, f"NFe{ACCESS_KEY}")):  # and again
            response = post(api, "link", {"orderId": "A-1"}, url)

            assert response.status_code == 200
            assert (response.json()["data"]["orders"], response.json()["data"]["linked"]) == (["A-1"], True)
        (change,) = InvoiceChange.objects.all()
        assert (change.kind, change.reason, change.order) == ("linked", "by_hand", order)
        assert change.by.startswith("key rota_key_")

    @in_turn(
        ("url", "code", "error"),
        [
            (URL, "B-1", "order_not_found"), (URL, "F-1", "order_not_found"), (URL, "T-1", "order_not_found"),
            (f"/api/integration/invoices/{access_key(2)}", "A-1", "invoice_not_found"),
            (f"/api/integration/invoices/{access_key(3)}", "A-1", "invoice_not_found"),
        ],
    )  # fmt: skip  # a table
    def test_of_what_is_not_the_sellers_is_not_found(self, api, seller, other_seller, order, invoice, url, code, error):
        create_order(other_seller, company_document=OTHER_COMPANY, orderId="F-1")
        create_order(seller, "sandbox", orderId="T-1")
        send_invoice(other_seller, nfe_xml(key=access_key(2)).encode())

        for what in ("link", "unlink"):
            response = post(api, what, {"orderId": code}, url)

            assert (response.status_code, response.json()["code"]) == (404, error)
        assert InvoiceLink.objects.count() == 0

    def test_of_a_void_invoice_is_refused(self, api, order, invoice):
        Invoice.objects.update(is_void=True)

        response = post(api, "link", {"orderId": "A-1"})

        assert (response.status_code, response.json()["code"]) == (409, "void_invoice")
        assert InvoiceLink.objects.count() == 0


class TestUnlink:
    def test_is_of_one_order_and_keeps_who_and_why(self, api, seller, order, invoice):
        create_order(seller, orderId="A-2")
        for code in ("A-1", "A-2"):
            post(api, "link", {"orderId": code})

        for _again in range(2):
            response = post(api, "unlink", {"orderId": "A-1", "reason": "Outro pedido"})

            assert response.status_code == 200
            assert (response.json()["data"]["orders"], response.json()["data"]["linked"]) == (["A-2"], True)
        *linked, change = InvoiceChange.objects.all()
        assert [each.kind for each in linked] == ["linked"] * 2
        assert (change.kind, change.reason, change.text, change.order) == ("unlinked", "by_hand", "Outro pedido", order)
        found = SearchCode.objects.filter(value=ACCESS_KEY).values_list("order__code", flat=True)
        assert [*found] == ["A-2"]

    def test_is_not_undone_by_the_same_file(self, api, order):
        raw = nfe_xml().encode()
        upload(api, raw)
        post(api, "unlink", {"orderId": "A-1"})

        upload(api, raw)

        assert InvoiceLink.objects.count() == 0


class TestUploadForAnOrder:
    def test_links_it_to_a_note_that_has_none_yet_and_to_no_other(self, seller, order):
        for each in (order, create_order(seller, orderId="A-2")):
            invoices.receive(
                seller=seller, environment="live", raw=nfe_xml(items=("X",)).encode(), order=each, by="maria",
                at=timezone.now(),
            )  # fmt: skip  # arguments

        assert [*InvoiceLink.objects.values_list("order", "reason")] == [(order.pk, "by_hand")]

    @pytest.mark.parametrize(
        ("note", "links"),
        [
            ({"items": ("A-1",)}, [("A-1", "reference")]),
            ({"items": ("",)}, [("A-2", "by_hand")]),
            ({"items": ("X",), "status": "101"}, []),
        ],
    )
    def test_links_what_it_names_instead_and_a_void_one_to_nothing(self, seller, order, note, links):
        invoices.receive(
            seller=seller, environment="live", raw=nfe_xml(**note).encode(), by="maria", at=timezone.now(),
            order=create_order(seller, orderId="A-2"),
        )  # fmt: skip  # arguments

        assert [*InvoiceLink.objects.values_list("order__code", "reason")] == links

    def test_of_another_seller_or_environment_is_refused(self, seller, other_seller):
        for foreign in (
            create_order(other_seller, company_document=OTHER_COMPANY),
            create_order(seller, "sandbox"),
        ):
            with pytest.raises(OrderNotFound):
                invoices.receive(
                    seller=seller, environment="live", raw=nfe_xml().encode(), by="maria", at=timezone.now(),
                    order=foreign,
                )  # fmt: skip  # arguments

        assert not Invoice.objects.exists()


class TestMarkVoid:
    def test_removes_the_links_and_keeps_why(self, order):
        invoice = send_invoice(order.seller, nfe_xml().encode())
        other = send_invoice(order.seller, nfe_xml(key=access_key(2)).encode())
        stale = Invoice.objects.get(pk=invoice.pk)

        for each in (invoice, Invoice.objects.get(pk=invoice.pk), stale):
            invoices.mark_void(invoice=each, text="Cancelada no portal", by="maria", at=timezone.now())

        assert [each.status for each in Invoice.objects.order_by("pk")] == ["void", "valid"]
        assert InvoiceLink.objects.get().invoice == other
        changes = invoice.changes.values_list("kind", "reason", "text")
        assert [*changes] == [
            ("linked", "reference", ""), ("unlinked", "by_hand", "Cancelada no portal"),
            ("marked_void", "by_hand", "Cancelada no portal"),
        ]  # fmt: skip  # a table


class TestValueOfOrders:
    """Of which an invoice covers several: what the second one says counts as what the first one says."""

    @in_turn("first", ["A-1", "A-2"])
    @in_turn(
        ("stated", "has_another_note", "value"),
        [(None, False, "300"), ("310.50", False, "310.50"), (None, True, None), ("310.50", True, "310.50")],
    )
    def test_is_what_one_states_or_the_costs_of_all_unless_one_has_another_note(
        self, seller, first, stated, has_another_note, value
    ):
        for code in ("A-1", "A-2"):
            says = code != first and stated is not None
            create_order(seller, orderId=code, invoice={"value": stated} if says else None)
        invoice = send_invoice(seller, nfe_xml(items=["A-1", "A-2"]).encode())
        if has_another_note:
            other = "A-1" if first == "A-2" else "A-2"
            send_invoice(seller, nfe_xml(key=access_key(2), items=[other]).encode())

        assert invoice.value_of_orders == (None if value is None else Decimal(value))


class TestDiffers:
    @pytest.mark.parametrize(
        ("cost", "value", "differs"),
        [
            ("150.5049", "150.50", False), ("150.505", "150.50", True), ("150.505", "150.51", False),
            ("150.50", "", False),
        ],
    )  # fmt: skip  # a table
    def test_is_whether_the_value_is_not_that_of_its_order_to_the_centavo(self, seller, cost, value, differs):
        create_order(seller, orderCost=cost)

        assert send_invoice(seller, nfe_xml(value=value).encode()).differs is differs


class TestIssuer:
    @pytest.mark.parametrize(("issuer", "is_foreign"), [(COMPANY, False), (OTHER_COMPANY, True), ("", False)])
    def test_is_foreign_if_it_is_known_and_none_of_the_companies(self, issuer, is_foreign):
        assert Invoice(issuer_document=issuer).is_foreign({COMPANY, "52998224725"}) is is_foreign
