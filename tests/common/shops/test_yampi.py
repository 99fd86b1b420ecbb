from datetime import UTC, datetime
from decimal import Decimal

import pytest

from common.shops import yampi
from common.shops.order import Address, Item, Person, Stage, UnknownForm
from tests.cases import in_turn
from tests.common.shops import yampi_orders
from tests.common.shops.sources import without_source
from tests.common.shops.yampi_orders import item, order, with_status


def test_each_field_name_of_the_sample_has_a_source():
    body = order()
    body["merchant"] = body["resource"]["updated_at"] = {}
    body["resource"]["status"]["data"].pop("id")

    assert without_source(body, yampi_orders.SOURCES) == []


class TestAnOrder:
    def test_is_read_whole(self):
        found = yampi.read(order())

        assert (found.id, found.number, found.stage) == ("102855369", "739383970908649", Stage.PAID)
        assert found.placed_at == datetime(2026, 3, 2, 13, 30, tzinfo=UTC)
        assert found.changed_at == datetime(2026, 3, 2, 13, 31, tzinfo=UTC)
        assert found.receiver == Person(
            name="Bento Sá", phone="71991234567", email="ana@example.com", document="52998224725"
        )
        assert found.address == Address(
            postal_code="40020000", street="Rua Chile", number="21", complement="apto 302", district="Centro",
            city="Salvador", state="BA", country="BR",
        )  # fmt: skip  # a table
        assert found.note == "Ao lado do elevador"
        assert found.shipping_methods == ("Motoboy", "29")
        assert found.total == Decimal("80.97")
        assert found.items == (
            Item(
                sku="CAN-1", name="Caneca azul", quantity=3, unit_price=Decimal("21.99"), weight_g=350,
                size_cm=(Decimal("12.50"), Decimal("10.00"), Decimal("9.75")),
            ),
        )  # fmt: skip  # a table
        assert (found.is_test, found.pays_at_door) == (False, False)

    @in_turn(
        ("alias", "stage"),
        [
            ("waiting_payment", Stage.UNPAID),
            ("authorized", Stage.UNPAID),
            ("a status to come", Stage.UNPAID),
            ("paid", Stage.PAID),
            ("invoiced", Stage.PAID),
            ("handling_products", Stage.PAID),
            ("ready_for_shipping", Stage.PAID),
            ("on_carriage", Stage.PAID),
            ("cancelled", Stage.CANCELLED),
            ("refused", Stage.CANCELLED),
            ("refunded", Stage.CANCELLED),
        ],
    )
    def test_has_the_stage_of_its_status(self, alias, stage):
        assert yampi.read(with_status(alias)).stage is stage

    def test_is_paid_by_its_event(self):
        assert yampi.read(with_status("a status to come", event="order.paid")).stage is Stage.PAID

    @pytest.mark.parametrize(
        ("moment", "read"),
        [
            ("2026-03-02 10:30:00", datetime(2026, 3, 2, 13, 30, tzinfo=UTC)),
            ({"date": "2026-03-02 13:30:00.000000", "timezone_type": 3, "timezone": "UTC"},
             datetime(2026, 3, 2, 13, 30, tzinfo=UTC)),
            ({"date": "2018-12-02 10:30:00.000000", "timezone": "America/Sao_Paulo"},  # summer time
             datetime(2018, 12, 2, 12, 30, tzinfo=UTC)),
            ({"date": "0001-01-01 00:00:00", "timezone": "../../etc/passwd"}, datetime(1, 1, 1, 3, 6, 28, tzinfo=UTC)),
            ({"date": "9999-12-31 23:59:59"}, None),
            ("yesterday", None),
            (None, None),
        ],
    )  # fmt: skip  # a table
    def test_was_placed_in_the_shops_zone(self, moment, read):
        assert yampi.read(order(created_at=moment)).placed_at == read

    @pytest.mark.parametrize("alias", ["on_carriage", "delivered"])
    def test_that_was_sent_has_nothing_to_ship(self, alias):
        assert yampi.read(with_status(alias)).items == ()

    def test_has_no_digital_products(self):
        lines = {"data": [item(is_digital=True), item(item_sku="P-2")]}

        assert [found.sku for found in yampi.read(order(items={"data": lines["data"]})).items] == ["P-2"]

    @pytest.mark.parametrize(
        ("sku", "weight", "size"),
        [
            ({"weight": 0, "width": 0}, None, None),
            ({"weight": "0.5", "width": "20"}, 500, (Decimal("20.00"), Decimal("10.00"), Decimal("9.75"))),
            ({"weight": Decimal("0.0001"), "height": None}, 1, None),
            ({"weight": 5_000, "length": 5_000}, None, None),
            ({"weight": "heavy", "length": None}, None, None),
            ({"weight": 1_000, "width": 1_000, "height": 1_000, "length": 1_000}, 10**6, (Decimal("1000.00"),) * 3),
        ],
    )
    def test_has_weights_in_kilograms_and_sizes_in_centimetres(self, sku, weight, size):
        [found] = yampi.read(order(items={"data": [item(sku)]})).items

        assert (found.weight_g, found.size_cm) == (weight, size)


class TestTheReceiver:
    @pytest.mark.parametrize(
        ("customer", "document"),
        [
            ({"cpf": "52998224725", "cnpj": None}, "52998224725"),
            ({"type": "j", "cpf": "52998224725", "cnpj": "11222333000181"}, "11222333000181"),
            ({"cpf": None, "cnpj": "11222333000181"}, "11222333000181"),
            ({"cpf": None, "cnpj": None}, "52998224725"),  # of the lines for spreadsheets
        ],
    )
    def test_has_the_document_in_these_forms(self, customer, document):
        assert yampi.read(order(customer=customer)).receiver.document == document

    def test_is_the_customer_if_no_other_is_named(self):
        body = order(shipping_address={"receiver": None}, customer={"name": None, "phone": "71 3322-1100"})

        found = yampi.read(body)

        assert (found.receiver.name, found.receiver.phone) == ("Ana d'Ávila", "71 3322-1100")

    def test_may_be_left_out(self):
        body = order()
        body["resource"]["customer"] = {"data": []}
        del body["resource"]["spreadsheet"]

        receiver = yampi.read(body).receiver
        assert (receiver.phone, receiver.document) == ("", "")


class TestTheAddress:
    @pytest.mark.parametrize(
        ("changes", "number", "district"),
        [
            ({}, "21", "Centro"),
            ({"number": "s/n", "neighborhood": "Sé"}, "s/n", "Sé"),
            ({"number": None, "neighborhood": ""}, "22", "Comércio"),  # of the lines for spreadsheets
        ],
    )
    def test_has_number_and_district_in_these_forms(self, changes, number, district):
        body = order(shipping_address=changes)
        body["resource"]["spreadsheet"]["data"][0].update(shipping_number="22", shipping_neighborhood="Comércio")

        found = yampi.read(body)

        assert (found.address.street, found.address.number, found.address.district) == ("Rua Chile", number, district)

    def test_may_have_the_number_in_the_line_of_the_street(self):
        found = yampi.read(order(shipping_address={"number": None, "street": "Rua Chile, 21, loja 2"}))

        assert (found.address.street, found.address.number) == ("Rua Chile", "21")
        assert found.address.complement == "apto 302, loja 2"


class TestABodyThatIsNoOrder:
    @pytest.mark.parametrize(
        ("body", "missing"),
        [
            ({}, ("id", "status.data.alias", "value_total", "shipping_address.data", "items.data")),
            ({"event": "customer.created", "resource": {"id": 1, "email": "ana@example.com"}},
             ("status.data.alias", "value_total", "shipping_address.data", "items.data")),
            (order(value_total=None), ("value_total",)),
            (order(shipping_address=None), ("shipping_address.data",)),
            (order(items={"data": {}}), ("items.data",)),
        ],
    )  # fmt: skip  # a table
    def test_is_of_an_unknown_form(self, body, missing):
        with pytest.raises(UnknownForm) as refused:
            yampi.read(body)

        assert refused.value.missing == tuple(f"resource.{path}" for path in missing)

    def test_with_too_many_items_is_taken_in_part_by_nobody(self):
        with pytest.raises(UnknownForm) as refused:
            yampi.read(order(items={"data": [item()] * 501}))

        assert refused.value.missing == ("resource.items.data[:500]",)
