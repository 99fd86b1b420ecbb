from datetime import UTC, datetime
from decimal import Decimal

import pytest

from common.shops import shopify
from common.shops.order import Address, Item, Person, Stage, UnknownForm
from tests.cases import in_turn
from tests.common.shops import shopify_orders
from tests.common.shops.shopify_orders import attributes, line, order
from tests.common.shops.sources import without_source


def test_each_field_name_of_the_sample_has_a_source():
    body = order()
    body["customer"].pop("id")

    assert without_source(body, shopify_orders.SOURCES) == []
    assert all(shopify_orders.FORMS.values())


class TestAnOrder:
    def test_is_read_whole(self):
        found = shopify.read(order())

        assert (found.id, found.number, found.stage, found.is_test) == (
            "820982911946154508", "#1001", Stage.PAID, False
        )  # fmt: skip  # a row
        assert found.placed_at == datetime(2026, 3, 2, 13, 30, tzinfo=UTC)
        assert found.changed_at == datetime(2026, 3, 2, 13, 31, 2, tzinfo=UTC)
        assert found.receiver == Person(
            name="Bento Sá", phone="+55 71 98888-7777", email="ana@example.com", document="529.982.247-25"
        )
        assert found.address == Address(
            postal_code="40020-000", street="Rua Chile", number="21-B", complement="apto 302", district="Centro",
            city="Salvador", state="BA", country="BR",
        )  # fmt: skip  # a table
        assert found.note == "Presente: não colocar a nota na caixa."
        assert found.shipping_methods == ("Motoboy", "entrega-local")
        assert (found.total, found.pays_at_door) == (Decimal("80.97"), False)
        # Three of 24.90 less 8.73.
        assert found.items == (
            Item(sku="CAN-1", name="Caneca - azul", quantity=3, unit_price=Decimal("21.99"), weight_g=350),
        )

    @pytest.mark.parametrize(
        ("changes", "stage"),
        [
            ({"financial_status": "pending"}, Stage.UNPAID),
            ({"financial_status": "authorized"}, Stage.UNPAID),
            ({"financial_status": "partially_paid"}, Stage.UNPAID),
            ({"financial_status": "partially_refunded"}, Stage.PAID),
            ({"financial_status": "refunded"}, Stage.CANCELLED),
            ({"financial_status": "voided"}, Stage.CANCELLED),
            ({"cancelled_at": "2026-03-02T11:00:00-03:00"}, Stage.CANCELLED),
        ],
    )
    def test_has_the_stage_of_its_payment(self, changes, stage):
        assert shopify.read(order(**changes)).stage is stage

    @pytest.mark.parametrize(
        ("gateways", "is_to_be_shipped"),
        [
            (["Cash on Delivery (COD)"], True),
            (["appmax_card", "Pagamento na entrega"], True),
            (["Cash on Delivery (COD)", "appmax_pix"], False),
            ([], False),
            (None, False),
        ],
    )
    def test_that_is_paid_at_the_door_is_shipped_before(self, gateways, is_to_be_shipped):
        found = shopify.read(order(financial_status="pending", payment_gateway_names=gateways))

        assert found.pays_at_door is is_to_be_shipped
        assert (found.stage is Stage.PAID) is is_to_be_shipped

    def test_of_the_shops_test_says_so(self):
        assert shopify.read(order(test=True)).is_test

    def test_has_the_place_that_the_platform_found(self):
        found = shopify.read(order(shipping_address={"latitude": Decimal("-12.9718"), "longitude": "-38.5132"}))

        assert (found.address.latitude, found.address.longitude) == (-12.9718, -38.5132)

    @pytest.mark.parametrize("latitude", [0, Decimal("0.0"), 91, "north", True, Decimal("NaN")])
    def test_has_no_place_that_is_none(self, latitude):
        assert shopify.read(order(shipping_address={"latitude": latitude})).address.latitude is None

    def test_after_a_partial_refund_has_what_is_left(self):
        lines = [line(current_quantity=2, fulfillable_quantity=2), line(current_quantity=0, fulfillable_quantity=0)]

        found = shopify.read(
            order(financial_status="partially_refunded", current_total_price="58.98", line_items=lines)
        )

        assert [item.quantity for item in found.items] == [2]
        assert found.items[0].unit_price == Decimal("21.99")
        assert found.total == Decimal("58.98")

    def test_of_an_older_version_of_the_api_has_what_was_ordered(self):
        older = line()
        del older["current_quantity"], older["fulfillable_quantity"]

        assert [item.quantity for item in shopify.read(order(line_items=[older])).items] == [3]


class TestThereIsNothingToShip:
    @pytest.mark.parametrize(
        "changes", [{"requires_shipping": False}, {"gift_card": True}, {"fulfillable_quantity": 0}, {"quantity": None,
        "current_quantity": None, "fulfillable_quantity": None}],
    )  # fmt: skip  # a table
    def test_of_a_line(self, changes):
        found = shopify.read(order(line_items=[line(**changes), line(sku="P-2")]))

        assert [item.sku for item in found.items] == ["P-2"]

    def test_without_an_address(self):
        assert shopify.read({**order(), "shipping_address": None}).items == ()


class TestBrazilianStores:
    @pytest.mark.parametrize(
        ("address1", "named", "street", "number"),
        [
            ("Rua Chile, \u206021", {}, "Rua Chile", "21"),
            ("Rua Chile \u206021", {}, "Rua Chile", "21"),
            ("Rua Chile, \u2060s/n", {"numero": "9"}, "Rua Chile", "s/n"),
            ("Rua Chile, 21", {}, "Rua Chile", "21"),
            ("Rua Chile", {"Número": "21"}, "Rua Chile", "21"),
            ("Rua Chile", {"shipping_number": "21", "billing_number": "1500"}, "Rua Chile", "21"),
            ("Rua Chile", {"billing_number": "1500"}, "Rua Chile", ""),
        ],
    )
    def test_have_the_number_in_these_forms(self, address1, named, street, number):
        found = shopify.read(order(shipping_address={"address1": address1}, note_attributes=attributes(**named)))

        assert (found.address.street, found.address.number) == (street, number)

    @in_turn(
        ("address2", "named", "complement", "district"),
        [
            ("apto 302, \u2060Centro", {}, "apto 302", "Centro"),
            ("\u2060Centro", {}, "", "Centro"),
            ("apto 302", {"Bairro": "Centro"}, "apto 302", "Centro"),
            ("apto 302", {"shipping_neighborhood": "Centro", "billing_neighborhood": "Vitória"}, "apto 302", "Centro"),
            ("apto 302, Pituba", {}, "apto 302", "Pituba"),
            ("bl. 2 - Stella Maris", {}, "bl. 2", "Stella Maris"),
            ("apto 302, Sé", {}, "apto 302", "Sé"),
            ("fundos, casa azul", {}, "fundos, casa azul", ""),
            ("apto 302, bloco 2", {}, "apto 302, bloco 2", ""),
            ("casa 5 - A", {}, "casa 5 - A", ""),
            ("casa 5, Térreo", {}, "casa 5, Térreo", ""),
            ("bloco B, apto 301", {}, "bloco B, apto 301", ""),
            ("529.982.247-25", {}, "", ""),
            (None, {}, "", ""),
        ],
    )
    def test_have_the_district_in_these_forms(self, address2, named, complement, district):
        found = shopify.read(order(shipping_address={"address2": address2}, note_attributes=attributes(**named)))

        assert (found.address.complement, found.address.district) == (complement, district)

    @pytest.mark.parametrize(
        ("named", "company", "address2", "document"),
        [
            ({"customer_document": "52998224725"}, None, "", "52998224725"),
            ({"CPF/CNPJ": "529.982.247-25"}, None, "", "529.982.247-25"),
            ({"billing_cpf": "52998224725"}, None, "", "52998224725"),
            ({"info_document": "11.222.333/0001-81"}, None, "", "11.222.333/0001-81"),
            ({}, "529.982.247-25", "", "529.982.247-25"),
            ({}, "", "52998224725", "52998224725"),
            ({}, "Padaria 24 horas", "apto 302", ""),
            ({"cpf": ""}, None, "", ""),
        ],
    )
    def test_have_the_document_in_these_forms(self, named, company, address2, document):
        address = {"company": company, "address2": address2}

        found = shopify.read(order(shipping_address=address, note_attributes=attributes(**named)))

        assert found.receiver.document == document


class TestABodyThatIsNoOrder:
    @pytest.mark.parametrize(
        ("body", "missing"),
        [
            ({}, ("id", "financial_status", "total_price", "line_items")),
            ({"id": 820982911946154508}, ("financial_status", "total_price", "line_items")),
            (order(total_price=None), ("total_price",)),
            (order(line_items="none"), ("line_items",)),
            (order(currency="USD"), ("currency=BRL",)),
            (order(line_items=[line()] * 501), ("line_items[:500]",)),
        ],
    )
    def test_is_of_an_unknown_form(self, body, missing):
        with pytest.raises(UnknownForm) as refused:
            shopify.read(body)

        assert refused.value.missing == missing
