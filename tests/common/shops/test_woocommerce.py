from datetime import UTC, datetime
from decimal import Decimal

import pytest

from common.shops import woocommerce
from common.shops.order import Address, Item, Person, Stage, UnknownForm
from tests.cases import in_turn
from tests.common.shops import woocommerce_orders
from tests.common.shops.sources import leaves, without_source
from tests.common.shops.woocommerce_orders import meta, of_block, order, without_plug_in


def test_each_field_name_of_the_sample_has_a_source():
    for sample in (order(), of_block()):
        assert without_source(sample, woocommerce_orders.SOURCES) == []
    assert leaves(woocommerce_orders.META_SOURCES) >= {"_billing_cpf", "_wc_other/loja/cpf"}


class TestAnOrder:
    def test_is_read_whole(self):
        found = woocommerce.read(order())

        assert (found.id, found.number, found.stage, found.is_test) == ("727", "L-727", Stage.PAID, False)
        assert found.placed_at == datetime(2026, 3, 2, 13, 30, tzinfo=UTC)
        assert found.changed_at == datetime(2026, 3, 2, 13, 32, 10, tzinfo=UTC)
        assert found.receiver == Person(
            name="Bento Sá", phone="(71) 99123-4567", email="ana@example.com", document="52998224725"
        )
        assert found.address == Address(
            postal_code="40020-000", street="Rua Chile", number="21", complement="apto 302", district="Centro",
            city="Salvador", state="BA", country="BR",
        )  # fmt: skip  # a table
        assert found.note == "Deixar na portaria, com o Sr. João.\nObrigada!"
        assert found.shipping_methods == ("Motoboy", "flat_rate")
        assert (found.total, found.pays_at_door) == (Decimal("113.85"), False)
        assert found.items == (
            Item(sku="CAN-1", name="Caneca – azul", quantity=3, unit_price=Decimal("21.99")),
            Item(sku="", name="Pôster", quantity=1, unit_price=Decimal("32.88")),
        )

    def test_of_the_checkout_block_is_read_whole_and_its_html_as_text(self):
        found = woocommerce.read(of_block())

        assert found.receiver == Person(
            name='Ana & Bia O\'Neil "Sá"', phone="11991234567", email="ana@example.com", document="529.982.247-25"
        )
        assert found.address == Address(
            postal_code="01304-001", street="Rua Augusta", number="900", complement="Cond. Sol & Mar – bl. 2",
            district="Centro & Sé", city="São Paulo", state="SP", country="BR",
        )  # fmt: skip  # a table
        assert found.note == "Sol & Mar, bloco 'x' \"y\""
        assert found.shipping_methods == ("Motoboy & cia", "flat_rate")
        assert found.items == (Item(sku="CAN-1", name="Pires & caneca", quantity=3, unit_price=Decimal("21.99")),)

    @pytest.mark.parametrize("typed", ["&#10;Rua&nbsp;", "&#" + "9" * 5_000 + ";"])
    def test_has_texts_without_blanks_around_them_whatever_html_stands_for_them(self, typed):
        street = woocommerce.read(order(shipping={"address_1": typed})).address.street

        assert street == street.strip()

    @pytest.mark.parametrize("typed", ["Sol & Mar", "Sol&paralelo", "R$ 5 &", "&;", "a&b;c"])
    def test_of_the_classic_checkout_is_no_html(self, typed):
        assert woocommerce.read(order(shipping={"address_1": typed})).address.street == typed

    def test_to_the_payers_address_if_it_has_no_other(self):
        blank = dict.fromkeys(order()["shipping"], "")

        found = woocommerce.read(order(shipping=blank))

        assert (found.receiver.name, found.address.street, found.address.number) == (
            "Ana d'Ávila", "Av. Sete de Setembro", "1500"
        )  # fmt: skip  # a pair
        assert len(found.items) == 2

    @pytest.mark.parametrize(
        ("status", "stage"),
        [
            ("pending", Stage.UNPAID),
            ("on-hold", Stage.UNPAID),
            ("failed", Stage.UNPAID),
            ("checkout-draft", Stage.UNPAID),
            ("processing", Stage.PAID),
            ("completed", Stage.PAID),
            ("cancelled", Stage.CANCELLED),
            ("refunded", Stage.CANCELLED),
            ("trash", Stage.CANCELLED),
        ],
    )
    def test_has_the_stage_of_its_status(self, status, stage):
        assert woocommerce.read(order(status=status)).stage is stage

    @pytest.mark.parametrize(("paid", "stage"), [("2026-03-02T13:32:08", Stage.PAID), (None, Stage.UNPAID)])
    def test_with_a_status_of_a_plug_in_is_paid_if_it_has_the_moment(self, paid, stage):
        assert woocommerce.read(order(status="em-separacao", date_paid_gmt=paid)).stage is stage

    def test_that_is_paid_at_the_door_says_so(self):
        found = woocommerce.read(order(payment_method="cod", date_paid_gmt=None))

        assert (found.pays_at_door, found.stage) == (True, Stage.PAID)

    def test_of_several_shipments_has_the_methods_of_each(self):
        methods = [
            {"method_title": "Motoboy", "method_id": "flat_rate"},
            {"method_title": "Retirada na loja", "method_id": "local_pickup"},
        ]

        found = woocommerce.read(order(shipping_lines=methods))

        assert found.shipping_methods == ("Motoboy", "flat_rate", "Retirada na loja", "local_pickup")
        assert len(found.items) == 2

    def test_may_have_500_lines(self):
        assert len(woocommerce.read(order(line_items=order()["line_items"] * 250)).items) == 500

    def test_is_reduced_by_refunds(self):
        refunds = [{"id": 1, "reason": "", "total": "-21.99"}, {"id": 2, "reason": "", "total": "-1.86"}]

        assert woocommerce.read(order(refunds=refunds)).total == Decimal("90.00")


class TestThereIsNothingToShip:
    @pytest.mark.parametrize("method", ["local_pickup", "pickup_location", "local_pickup_plus"])
    def test_if_the_customer_collects_it(self, method):
        assert woocommerce.read(order(shipping_lines=[{"method_title": "Retirada", "method_id": method}])).items == ()

    def test_if_it_was_sent(self):
        assert woocommerce.read(order(status="completed")).items == ()

    def test_if_all_is_virtual(self):
        blank = dict.fromkeys(order()["shipping"], "")

        assert woocommerce.read(order(shipping=blank, shipping_lines=[])).items == ()

    @pytest.mark.parametrize("checkout", ["checkout", "store-api"])
    def test_if_all_is_virtual_and_the_checkout_repeats_the_payers_address(self, checkout):
        """As the checkout block does, and the classic one of a shop that ships to the payer's address only."""
        assert woocommerce.read(order(created_via=checkout, shipping_lines=[])).items == ()

    @pytest.mark.parametrize("maker", ["admin", "rest-api", ""])
    def test_but_not_of_an_order_that_people_of_the_shop_made(self, maker):
        assert len(woocommerce.read(order(created_via=maker, shipping_lines=[])).items) == 2

    def test_of_a_line_of_no_pieces(self):
        lines = [{**order()["line_items"][0], "quantity": 0}, order()["line_items"][1]]

        assert [item.name for item in woocommerce.read(order(line_items=lines)).items] == ["Pôster"]


class TestAnOrderInTheTrash:
    def test_is_its_id_alone_and_cancelled(self):
        """What the topic *Order deleted* posts (WooCommerce 10.5.2); *Order updated* posts nothing then."""
        found = woocommerce.read({"id": 39})

        assert (found.id, found.number, found.stage, found.changed_at) == ("39", "39", Stage.CANCELLED, None)
        assert (found.items, found.total) == ((), Decimal("0.00"))


class TestPlugInsForBrazil:
    @pytest.mark.parametrize(
        ("meta_data", "number", "district"),
        [
            (meta(_shipping_number="21", _shipping_neighborhood="Centro"), "21", "Centro"),
            (meta(shipping_number="21", shipping_neighborhood="Centro"), "21", "Centro"),
            (meta(**{"_wc_shipping/loja/numero": "21", "_wc_shipping/loja/bairro": "Centro"}), "21", "Centro"),
            (meta(_billing_number="1500", _billing_neighborhood="Vitória"), "", ""),
            (meta(_shipping_number={"a": 1}, _shipping_neighborhood=None), "", ""),
        ],
    )  # fmt: skip  # a table
    def test_have_number_and_district_in_these_forms(self, meta_data, number, district):
        found = woocommerce.read({**without_plug_in(), "meta_data": meta_data})

        assert (found.address.street, found.address.number, found.address.district) == ("Rua Chile", number, district)

    @pytest.mark.parametrize(
        ("meta_data", "document"),
        [
            (meta(_billing_cpf="529.982.247-25"), "529.982.247-25"),
            (meta(billing_cpf="52998224725"), "52998224725"),
            (meta(_shipping_cpf="11144477735", _billing_cpf="52998224725"), "11144477735"),
            (meta(**{"_wc_other/loja/cpf": "52998224725"}), "52998224725"),
            (meta(_billing_cpf="", _billing_cnpj="11222333000181"), "11222333000181"),
            (meta(_billing_persontype="2", _billing_cpf="52998224725", _billing_cnpj="11222333000181"),
             "11222333000181"),
            (meta(cpf="52998224725"), "52998224725"),
            (meta(_billing_ie="123"), ""),
        ],
    )  # fmt: skip  # a table
    def test_have_the_document_in_these_forms(self, meta_data, document):
        found = woocommerce.read({**without_plug_in(), "meta_data": meta_data})

        assert found.receiver.document == document

    def test_tell_companies_from_persons(self):
        company = order(billing={"persontype": "J", "cpf": "52998224725", "cnpj": "11222333000181"})

        assert woocommerce.read(company).receiver.document == "11222333000181"

    def test_may_have_filled_the_payers_address_only(self):
        same = {"address_1": "Av. Sete de Setembro", "postcode": "40060-001", "number": "", "neighborhood": ""}

        found = woocommerce.read(order(shipping=same))

        assert (found.address.number, found.address.district) == ("1500", "Vitória")

    @pytest.mark.parametrize("other", [{"postcode": "40020-000"}, {"address_1": "Rua Chile"}])
    def test_may_not_have_filled_that_of_another_place(self, other):
        same = {"address_1": "Av. Sete de Setembro", "postcode": "40060-001", "number": "", "neighborhood": ""}

        found = woocommerce.read(order(shipping={**same, **other}))

        assert (found.address.number, found.address.district) == ("", "")

    def test_are_not_everywhere(self):
        found = woocommerce.read(without_plug_in(address_1="Rua Chile, 21", address_2="apto 302"))

        assert (found.address.street, found.address.number, found.address.complement) == ("Rua Chile", "21", "apto 302")
        assert (found.receiver.document, found.address.district) == ("", "")


class TestABodyThatIsNoOrder:
    @in_turn(
        ("body", "missing"),
        [
            ({}, ("id", "status", "total", "billing", "line_items")),
            ({"id": 5, "number": "5"}, ("status", "total", "billing", "line_items")),
            ({"id": None}, ("id",)),
            (order(id=None), ("id",)),
            (order(id="  "), ("id",)),
            (order(id=True), ("id",)),
            (order(total="many"), ("total",)),
            (order(total="NaN"), ("total",)),
            (order(total=Decimal("Infinity")), ("total",)),
            (order(total=12.5), ("total",)),
            (order(billing=None), ("billing",)),
            (order(line_items={}), ("line_items",)),
            (order(currency="USD"), ("currency=BRL",)),
            (order(line_items=[{}] * 501), ("line_items[:500]",)),
            ({"event": "order.paid", "resource": {}}, ("id", "status", "total", "billing", "line_items")),
        ],
    )
    def test_is_of_an_unknown_form(self, body, missing):
        with pytest.raises(UnknownForm) as refused:
            woocommerce.read(body)

        assert refused.value.missing == missing

    def test_tells_with_which_error_woocommerce_could_not_read_the_order(self):
        """As WooCommerce 10.5.2 posts it if who has created the webhook may not see orders any more."""
        body = {
            "code": "woocommerce_rest_cannot_view", "message": "Sorry, you cannot view this resource.",
            "data": {"status": 403},
        }  # fmt: skip  # a table

        with pytest.raises(UnknownForm) as refused:
            woocommerce.read(body)

        assert refused.value.missing == ("id (woocommerce_rest_cannot_view)",)
