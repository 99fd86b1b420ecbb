"""A seller's order created by the form, and corrected by it."""

from decimal import Decimal

import pytest

from integration.actions.orders import NewOrder
from integration.freight.models import FreightRate
from integration.lifecycle import Status
from integration.models import Correction, Order, Simulation
from tests.cases import in_turn
from tests.integration.factories import COMPANY, OTHER_COMPANY, create_order, load_tariff, order_body
from tests.panel.sellers.pages import said, url

FIELDS = {
    "order-code": "P-1", "order-company": COMPANY, "order-service": "base", "order-volumes": "2",
    "to-name": "Ana Souza", "to-document": "529.982.247-25", "to-cellphone": "+55 11 97777-0001",
    "to-zipcode": "40.020-000", "to-street": "Rua Chile", "to-number": "5", "to-district": "Centro",
    "to-city": "Salvador", "to-state": "bahia", "item1-description": "Cafeteira", "item1-quantity": "2",
    "item1-price": "1.250,75", "item1-weight": "1,5", "item1-length": "30", "item1-width": "10", "item1-height": "20",
}  # fmt: skip  # a table


@pytest.fixture(autouse=True)
def origin(seller):
    load_tariff()
    seller.companies.update(postcode="01310100")


@pytest.fixture
def save(member, seller):
    """Send the form with the freight that its page shows, as a person does who reads it."""

    def send(name="seller_order_new", *arguments, **changes):
        address, fields = url(name, seller, *arguments), {**FIELDS, **changes}
        shown = member.post(address, fields)
        agreed = shown.context["priced"].agreed
        return member.post(address, {**fields, "step": "save", "agreed": agreed}, follow=True)

    return send


class TestNewOrder:
    def test_is_what_the_form_says(self, save, seller):
        save()

        made = Order.objects.get()
        assert NewOrder.of(made) == NewOrder(
            company_document=COMPANY,
            code="P-1",
            tracking_code=made.tracking_code,
            service="base",
            cost=Decimal("2501.50"),
            items=[
                {"description": "Cafeteira", "dimensions": "10x20x30,1.5", "quantity": 2, "price": Decimal("1250.75")}
            ],
            receiver={
                "name": "Ana Souza",
                "document": "529.982.247-25",
                "cellphone": "+55 11 97777-0001",
                "address": {
                    "zipCode": "40020000",
                    "street": "Rua Chile",
                    "streetNumber": "5",
                    "neighborhood": "Centro",
                    "city": "Salvador",
                    "state": "BA",
                },
            },
            invoice=None,
            volumes=2,
        )
        assert made.items[0]["price"] == "1250.7500"  # as of a call
        entry = made.status_log.get()
        assert (entry.status, entry.via_api, entry.by) == ("pending", False, "user member")

    def test_shows_the_freight_before_it_creates_anything(self, member, seller):
        page = member.post(url("seller_order_new", seller), FIELDS)

        assert "Create the order" in page.content.decode()
        assert not Order.objects.exists()
        fragment = member.post(url("seller_order_new_freight", seller), {**FIELDS, "to-name": "", "order-code": ""})
        assert fragment.context["priced"].price == page.context["priced"].price is not None

    def test_has_the_freight_that_was_shown(self, save, member, seller):
        shown = member.post(url("seller_order_new", seller), FIELDS).context["priced"].price

        page = save()

        assert Order.objects.get().freight == shown
        assert "The order is created." in said(page)

    def test_is_not_created_at_another_freight_than_was_shown(self, member, seller):
        agreed = member.post(url("seller_order_new", seller), FIELDS).context["priced"].agreed
        FreightRate.objects.update(base_centavos=99_900)

        page = member.post(url("seller_order_new", seller), {**FIELDS, "step": "save", "agreed": agreed})

        assert page.status_code == 422
        assert "The freight has changed meanwhile." in said(page)
        assert not Order.objects.exists()

    @pytest.mark.parametrize(
        ("changes", "reason"),
        [
            ({"order-service": "turbo"}, "no rate for this service and way"),
            ({"item1-weight": "90"}, "over the maximum of the tariff"),
        ],
    )
    def test_may_have_no_freight_where_the_page_says_so(self, save, member, seller, changes, reason):
        assert reason in member.post(url("seller_order_new", seller), FIELDS | changes).content.decode()

        save(**changes)

        assert Order.objects.get().freight is None

    @in_turn(
        ("field", "text", "fault"),
        [
            ("order-code", "", "This field is required."),
            ("order-code", "1.2E+13", "A spreadsheet has cut the digits of this number."),
            ("order-code", "x" * 256, "at most 255 characters"),
            ("order-code", "a\0b", "Null characters are not allowed."),
            ("order-company", OTHER_COMPANY, "Select a valid choice."),
            ("order-cost", "-1", "From 0 to"),
            ("order-volumes", "100", "less than or equal to 99"),
            ("to-zipcode", "1310-20", "A CEP has eight digits."),
            ("to-state", "Bahiana", "Write a state, such as SP."),
            ("to-email", "ana@", "Enter a valid email address."),
            ("item1-price", "1.250", "can be read in two ways"),
            ("item1-length", "30,5", "decimal places"),
            ("item1-weight", "0", "More than 0"),
            ("item2-description", "Livro", "This field is required."),
            ("invoice-issue_date", "20/11/2026", "Write it as 28/11/2026 14:30."),
        ],
    )
    def test_says_beside_a_field_what_is_wrong_and_keeps_the_rest(self, member, seller, field, text, fault):
        page = member.post(url("seller_order_new", seller), {**FIELDS, field: text, "step": "save", "agreed": "-"})

        assert page.status_code == 422
        form = page.context["form"]
        assert any(fault in each for _key, each in form.faults())
        assert form.receiver["street"].value() == "Rua Chile"
        assert not Order.objects.exists()

    def test_names_what_is_probably_a_mistake(self, member, seller):
        doubtful = {"to-document": "52998224700", "to-state": "SP", "invoice-key": "123", "order-cost": "1"}

        page = member.post(url("seller_order_new", seller), FIELDS | doubtful)

        labels = [label for label, _text in page.context["priced"].doubts]
        assert labels == ["Order value (R$)", "CPF or CNPJ", "CEP", "Access key"]

    def test_with_a_number_that_an_order_has_leads_to_that_order(self, member, seller):
        held = create_order(seller, orderId="P-1")

        page = member.post(url("seller_order_new", seller), FIELDS)

        assert page.context["form"].head.errors["code"] == ["You have an order with this number already."]
        assert page.context["holder"] == held
        fragment = member.post(url("seller_order_new_freight", seller), FIELDS | {"to-name": ""})
        assert fragment.context["faulty"] == ["id_order-code", "id_to-name"]

    def test_of_a_form_that_is_sent_twice_is_created_once(self, save):
        save()

        page = save()

        assert "It has created this order once." in said(page)
        assert Order.objects.count() == 1

    def test_takes_the_number_of_an_order_that_was_cancelled_before_it_was_collected(self, save, seller, member):
        cancelled = create_order(seller, orderId="P-1")
        member.post(url("seller_order_cancel", seller, cancelled.pk))

        save()

        assert Order.objects.filter(code="P-1", status=Status.PENDING).count() == 1

    def test_is_of_the_environment_of_the_page(self, member, seller):
        address = url("seller_order_new", seller).replace("/live/", "/sandbox/")
        create_order(seller, orderId="P-1")
        agreed = member.post(address, FIELDS).context["priced"].agreed

        member.post(address, {**FIELDS, "step": "save", "agreed": agreed})

        made = Order.objects.get(environment="sandbox")
        assert (made.code, Simulation.objects.get().order) == ("P-1", made)

    def test_is_none_of_a_seller_that_is_suspended(self, member, seller, suspended_seller):
        page = member.post(url("seller_order_new", seller), {**FIELDS, "step": "save", "agreed": "-"}, follow=True)

        assert "suspended" in said(page)
        assert not Order.objects.exists()

    def test_names_its_invoice_with_the_local_time(self, save):
        invoice = {"invoice-number": "123", "invoice-issue_date": "20/11/2026 10:00", "invoice-value": "150,5"}

        save(**invoice)

        assert Order.objects.get().invoice_data == {
            "number": "123",
            "issueDate": "2026-11-20 10:00:00",
            "value": "150.5000",
        }


def fields_of(page):
    """What the form of a page would send, without a change."""
    form = page.context["form"]
    return {bound.html_name: bound.value() or "" for part in form.parts for bound in part} | {
        "seen": page.context["seen"]
    }


class TestCorrection:
    @pytest.fixture
    def order(self, seller):
        invoice = order_body()["invoice"] | {"value": 150, "issueDate": "2026-11-20 10:00:30"}
        return create_order(seller, invoice=invoice)

    @pytest.fixture
    def correct(self, member, seller, order):
        def send(**changes):
            address = url("seller_order_correct", seller, order.pk)
            fields = fields_of(member.get(address)) | changes
            agreed = member.post(address, fields).context["priced"].agreed
            return member.post(address, {**fields, "step": "save", "agreed": agreed}, follow=True)

        return send

    def test_that_changes_nothing_writes_nothing(self, member, seller, correct, order):
        before = NewOrder.of(order)
        address = url("seller_order_correct", seller, order.pk)
        assert member.post(address, fields_of(member.get(address))).context["form"].changes == {}

        correct()

        assert not Correction.objects.exists()
        assert NewOrder.of(Order.objects.select_related("company").get()) == before

    @pytest.mark.parametrize(
        ("changes", "fields"),
        [
            ({"to-number": "902"}, ["receiver.address.streetNumber", "receiver.address.zipCode"]),
            ({"order-volumes": "3"}, ["volumes"]),
            ({"order-cost": "", "item1-price": "80,00"}, ["items", "orderCost"]),
            ({"invoice-series": "2"}, ["invoice.series"]),
        ],
    )
    def test_is_recorded_of_what_was_changed_alone(self, correct, changes, fields):
        correct(**changes)

        found = Correction.objects.get()
        assert (found.fields, found.corrected_by) == (fields, "user member")

    def test_of_an_item_leaves_the_others(self, member, seller):
        first, second = (
            {"description": name, "dimensions": "10x20x30,1", "quantity": 1, "price": 10} for name in ("One", "Two")
        )
        order = create_order(seller, orderId="B-1", orderCost=20, items=[first, second])
        address = url("seller_order_correct", seller, order.pk)
        fields = fields_of(member.get(address)) | {"item1-quantity": "3"}
        agreed = member.post(address, fields).context["priced"].agreed

        member.post(address, {**fields, "step": "save", "agreed": agreed})

        order.refresh_from_db()
        assert [(item["description"], item["quantity"]) for item in order.items] == [("One", 3), ("Two", 1)]

    def test_deletes_an_item_that_is_emptied_and_adds_another(self, correct):
        names = ("description", "quantity", "price", "weight", "length", "width", "height")
        book = dict(zip(names, ("Livro", "1", "40", "0,5", "20", "15", "3"), strict=True))

        correct(**{f"item1-{name}": "" for name in names}, **{f"item2-{name}": text for name, text in book.items()})

        (item,) = Order.objects.get().items
        assert (item["description"], item["dimensions"]) == ("Livro", "15x3x20,0.5")

    def test_of_an_order_without_any_item_is_refused(self, member, seller, order):
        address = url("seller_order_correct", seller, order.pk)
        fields = {
            name: "" if name.startswith("item") else text for name, text in fields_of(member.get(address)).items()
        }

        assert member.post(address, {**fields, "step": "save"}).status_code == 422

    def test_leaves_the_items_of_an_order_that_has_more_than_the_form(self, seller, member):
        many = create_order(
            seller,
            orderId="B-1",
            items=order_body(orderCost=1)["items"][:0]
            + [
                {"description": f"Item {number}", "dimensions": "10x20x30,1", "quantity": 1, "price": 1}
                for number in range(11)
            ],
        )
        address = url("seller_order_correct", seller, many.pk)
        fields = fields_of(member.get(address)) | {"to-number": "902"}
        agreed = member.post(address, fields).context["priced"].agreed

        member.post(address, {**fields, "step": "save", "agreed": agreed})

        many.refresh_from_db()
        assert (len(many.items), many.receiver["address"]["streetNumber"]) == (11, "902")

    def test_does_not_undo_what_somebody_else_has_corrected_meanwhile(self, member, seller, order, correct):
        address = url("seller_order_correct", seller, order.pk)
        seen = fields_of(member.get(address))
        correct(**{"to-name": "Bia"})

        page = member.post(
            address,
            {**seen, "to-number": "902", "step": "save", "agreed": f"{order.freight_centavos} {order.freight_days}"},
            follow=True,
        )

        assert "Somebody else has corrected the order meanwhile." in said(page)
        assert Correction.objects.count() == 1
        order.refresh_from_db()
        assert (order.receiver_name, order.receiver["address"]["streetNumber"]) == ("Bia", "1578")

    @pytest.mark.parametrize("moment", ["before the form", "after it"])
    def test_of_an_order_that_is_collected_is_refused(self, member, seller, order, moment):
        address = url("seller_order_correct", seller, order.pk)
        fields = fields_of(member.get(address)) | {"to-number": "902", "step": "save"}
        fields["agreed"] = f"{order.freight_centavos} {order.freight_days}"
        collected = Order.objects.filter(pk=order.pk)
        collected.update(status=Status.COLLECTED)

        page = (
            member.get(address, follow=True)
            if moment == "before the form"
            else member.post(address, fields, follow=True)
        )

        assert "does not wait for collection any more" in said(page)
        assert not Correction.objects.exists()

    def test_of_another_sellers_order_is_not_found(self, member, seller, foreign_seller):
        foreign = create_order(foreign_seller, company_document=OTHER_COMPANY)

        for name in ("seller_order_correct", "seller_order_correct_freight"):
            assert member.post(url(name, seller, foreign.pk), FIELDS).status_code == 404
