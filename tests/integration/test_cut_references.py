"""A reference that is the beginning of longer orderIds: which order it means, whichever is received first."""

from itertools import permutations

import pytest
from django.utils import timezone

from integration.invoices import actions as invoices
from integration.invoices.models import InvoiceChange, InvoiceLink
from integration.models import SearchCode
from tests.cases import in_turn
from tests.integration.factories import (
    ACCESS_KEY,
    OTHER_COMPANY,
    access_key,
    create_order,
    nfe_xml,
    order_body,
    send_invoice,
)

CUT = "ENCOMENDA-72815"
FIRST, SECOND = f"{CUT}-01", f"{CUT}-02"
MARIA, JOAO = "52998224725", "11144477735"


def receiver(document):
    return {**order_body()["receiver"], "document": document}


def links():
    return sorted(InvoiceLink.objects.values_list("order__code", "reason"))


@pytest.fixture
def order(seller):
    """Make an order of 150.00, unless `changes` say otherwise."""

    def make(code, document="", **changes):
        return create_order(seller, orderId=code, receiver=receiver(document), **changes)

    return make


@pytest.fixture
def note(seller):
    def make(recipient="", value="999.00"):
        return send_invoice(seller, nfe_xml(items=(CUT,), recipient=recipient, value=value).encode())

    return make


def test_of_several_notes_are_all_linked_to_an_order_that_comes_later(seller, order):
    for number in range(2):
        send_invoice(seller, nfe_xml(key=access_key(number), items=(CUT,), recipient=MARIA).encode())

    order(FIRST, MARIA)

    assert links() == [(FIRST, "cut_reference")] * 2


class TestMeans:
    @in_turn("is_first", [True, False])
    @in_turn(
        ("of_order", "of_note", "is_linked"),
        [
            ({}, {}, False),
            ({"document": MARIA}, {"recipient": MARIA}, True),
            ({"document": "529.982.247-25"}, {"recipient": MARIA}, True),
            ({"document": MARIA}, {"recipient": JOAO}, False),
            ({}, {"value": "150.00"}, True),
            ({"orderCost": "150.005"}, {"value": "150.01"}, True),
            ({"invoice": {"value": "150.005"}}, {"value": "150.01"}, True),
            ({"document": MARIA}, {"value": "150.00"}, True),
            ({"invoice": {"value": 999}}, {}, True),
            # The document decides where both are known: two people may spend the same.
            ({"document": MARIA}, {"recipient": JOAO, "value": "150.00"}, False),
            # Of another note.
            ({"document": MARIA, "invoice": {"key": access_key(9)}}, {"recipient": MARIA, "value": "150.00"}, False),
            ({"orderCost": "150.004"}, {"value": "150.00"}, True),
            ({"orderCost": 0}, {"value": "0.00"}, False),
        ],
    )
    def test_an_order_that_something_else_agrees_with(self, order, note, of_order, of_note, is_linked, is_first):
        makes = [lambda: order(FIRST, **of_order), lambda: note(**of_note)]

        for make in reversed(makes) if is_first else makes:
            make()

        assert links() == ([(FIRST, "cut_reference")] if is_linked else [])

    @in_turn("places", [*permutations(range(3))])
    def test_the_order_of_the_recipient_in_any_sequence(self, order, note, places):
        """Also the one whose value agrees was linked, while it was the only one."""
        makes = [
            lambda: order(FIRST),
            lambda: order(SECOND, MARIA),
            lambda: note(recipient=MARIA, value="150.00"),
        ]

        for place in places:
            makes[place]()

        assert links() == [(SECOND, "cut_reference")]

    @in_turn("places", [*permutations(range(3))])
    def test_of_two_orders_of_the_recipient_the_one_of_the_value(self, order, note, places):
        makes = [
            lambda: order(FIRST, MARIA, orderCost=999),
            lambda: order(SECOND, MARIA),
            lambda: note(recipient=MARIA),
        ]

        for place in places:
            makes[place]()

        assert links() == [(FIRST, "cut_reference")]

    def test_no_order_where_two_agree(self, order, note):
        order(FIRST)
        order(SECOND)

        order(f"{CUT}-03", invoice={"key": access_key(9)})  # of another note
        order("ENCOMENDA-72816-01")

        invoice = note(value="150.00")

        assert links() == []
        assert sorted(each.code for each in invoices.uncertain_orders(invoice)) == [FIRST, SECOND]
        invoices.mark_void(invoice=invoice, text="x", by="maria", at=timezone.now())
        assert invoices.uncertain_orders(invoice) == []

    @pytest.mark.parametrize("alike", [10, 11])
    def test_no_order_where_more_than_ten_begin_so(self, order, note, alike):
        for number in range(alike):
            order(f"{CUT}-{number:02}", MARIA if number == 5 else "")

        note(recipient=MARIA)

        assert links() == ([(f"{CUT}-05", "cut_reference")] if alike == 10 else [])

    def test_the_order_that_names_the_note(self, order, note):
        order(FIRST)
        note(value="150.00")

        order(SECOND, invoice={"key": ACCESS_KEY})

        assert links() == [(SECOND, "access_key")]
        assert not SearchCode.objects.filter(order__code=FIRST, kind__startswith="invoice").exists()
        removed = InvoiceChange.objects.filter(kind="unlinked").values_list("order__code", "reason")
        assert [*removed] == [(FIRST, "other_order")]

    def test_no_later_order_instead_of_one_that_was_linked_by_hand(self, order, note):
        first, invoice = order(FIRST), note(recipient=MARIA)
        invoices.link_by_hand(invoice=invoice, order=first, by="maria", at=timezone.now())

        order(SECOND, MARIA)

        assert links() == [(FIRST, "by_hand"), (SECOND, "cut_reference")]

    def test_no_order_of_another_seller_or_environment(self, seller, other_seller, note):
        create_order(seller, "sandbox", orderId=FIRST)
        create_order(other_seller, company_document=OTHER_COMPANY, orderId=FIRST)
        note(value="150.00")

        create_order(seller, "sandbox", orderId=SECOND)

        assert links() == []
