from urllib.parse import quote

import pytest
from django.utils import timezone

from integration.actions import invoices
from integration.errors import InvalidInvoice, InvoiceUnreferenced
from integration.models import Invoice, InvoiceLink, SearchCode
from tests.integration.factories import ACCESS_KEY, COMPANY, OTHER_COMPANY, create_order, nfe_xml, send_invoice, upload

SAVED = {"success": True, "message": "Nota fiscal salva com sucesso"}
LONG = "MARKETPLACE-0001-LONG"


@pytest.fixture(params=["order first", "invoice first"])
def whichever_first(request):
    """Make an order and an invoice, in both orders."""

    def make(order, invoice):
        for step in (order, invoice) if request.param == "order first" else (invoice, order):
            step()

    return make


def codes_of(response):
    """The codes of the warnings in an answer."""
    return [warning["code"] for warning in response.json().get("warnings", [])]


def linked(invoice=None):
    links = InvoiceLink.objects.all() if invoice is None else invoice.links.all()
    return sorted(links.values_list("order__code", flat=True))


class TestUpload:
    def test_keeps_the_bytes_and_links_the_order(self, api, seller):
        create_order(seller)
        raw = nfe_xml().encode()

        response = upload(api, raw)

        assert response.status_code == 200
        assert response.json() == SAVED
        assert bytes(Invoice.objects.get().raw) == raw
        assert linked() == ["A-1"]

    def test_of_the_same_file_again_keeps_one_copy(self, api, seller):
        create_order(seller)
        upload(api, nfe_xml().encode())

        response = upload(api, nfe_xml().encode(), prefer="handling=strict")

        assert (response.status_code, response.json()) == (200, SAVED)
        assert "Rota-Warnings" not in response
        assert (Invoice.objects.count(), linked()) == (1, ["A-1"])

    def test_of_a_file_that_another_seller_has_sent_keeps_a_copy_of_their_own(self, seller, other_seller):
        first, second = (send_invoice(each, nfe_xml().encode()) for each in (seller, other_seller))

        assert [invoice.seller for invoice in (first, second)] == [seller, other_seller]
        assert Invoice.objects.count() == 2

    def test_of_another_file_with_a_stored_key_warns_that_it_was_not_saved(self, api, seller):
        create_order(seller)
        upload(api, nfe_xml().encode())

        response = upload(api, nfe_xml(compra="B").encode())

        assert (response.status_code, codes_of(response)) == (200, ["other_invoice_stored"])
        assert response["Rota-Warnings"] == '"#/nfe";code=other_invoice_stored'
        assert (bytes(Invoice.objects.get().raw), linked()) == (nfe_xml().encode(), ["A-1"])

    def test_of_another_file_with_a_stored_key_is_refused_strictly(self, api):
        upload(api, nfe_xml().encode())

        response = upload(api, nfe_xml(compra="B").encode(), prefer="handling=strict")

        assert (response.status_code, response.json()["code"]) == (422, "invalid_payload")
        assert response.json()["errors"] == {
            "nfe": ["Já existe uma nota fiscal com esta chave de acesso e outro conteúdo. Esta não foi salva."]
        }
        assert bytes(Invoice.objects.get().raw) == nfe_xml().encode()


class TestWarnings:
    """What is accepted and probably a mistake: in the body, in the header, and refused under strict handling."""

    @pytest.fixture(autouse=True)
    def orders(self, seller):
        return [create_order(seller), create_order(seller, orderId="B-1", invoice={"value": 200})]

    @pytest.mark.parametrize(
        ("written", "sent", "code", "about"),
        [
            (f"<CNPJ>{COMPANY}", f"<CNPJ>{OTHER_COMPANY}", "foreign_issuer", OTHER_COMPANY),
            ("<mod>55", "<mod>65", "consumer_invoice", ""),
            ("<xPed>A-1", "<xPed>C/ç", "unmatched_reference", "C/ç"),
            ("<xPed>A-1", "<xPed>B-1", "different_value", "B-1"),
        ],
    )
    def test_are_named_in_body_and_header(self, api, other_seller, written, sent, code, about):
        raw = nfe_xml().replace(written, sent).encode()

        for _repeated in range(2):
            response = upload(api, raw)

            assert response.status_code == 200
            (warning,) = response.json().pop("warnings")
            assert (warning["code"], about in warning["message"]) == (code, True)
            assert response.json() | {"warnings": []} == {**SAVED, "warnings": []}
            assert response["Rota-Warnings"].startswith(f'"#/nfe";code={code}')
            assert (f';about="{quote(about, safe="/")}"' in response["Rota-Warnings"]) == bool(about)

    def test_are_none_for_an_invoice_without_a_doubt(self, api):
        response = upload(api, nfe_xml().encode(), prefer="handling=strict")

        assert (response.status_code, response.json()) == (200, SAVED)

    def test_refuse_a_new_invoice_strictly_and_write_nothing(self, api):
        response = upload(api, nfe_xml(items=("A-1", "C-1")).encode(), prefer="handling=strict")

        assert (response.status_code, response.json()["code"]) == (422, "invalid_payload")
        assert "'C-1'" in response.json()["errors"]["nfe"][0]
        assert (Invoice.objects.count(), linked()) == (0, [])

    @pytest.mark.parametrize(
        ("invoice", "doubts"),
        [
            ({"value": "150.5000"}, []),
            ({"value": None}, []),
            ({"value": "150.51"}, ["different_value"]),
            ({"value": "150.51", "key": ACCESS_KEY}, ["different_value"]),
            ({"value": "150.51", "key": f"{ACCESS_KEY[:-1]}8"}, []),  # the order's value is that of another invoice
        ],
    )
    def test_compare_the_value_with_that_of_an_order_of_this_invoice(self, api, seller, invoice, doubts):
        create_order(seller, orderId="C-1", invoice=invoice)

        assert codes_of(upload(api, nfe_xml(items=("C-1",)).encode())) == doubts

    def test_find_the_order_of_a_cut_reference(self, api, seller):
        create_order(seller, orderId=LONG, invoice={"value": 1})

        assert codes_of(upload(api, nfe_xml(items=(LONG[:15],)).encode())) == ["different_value"]

    def test_name_at_most_twenty_references_and_no_more_than_their_beginning(self, api):
        items = [f"{number:0255}" for number in range(30)]

        response = upload(api, nfe_xml(items=items).encode())

        assert codes_of(response) == ["unmatched_reference"] * 20
        assert len(response["Rota-Warnings"]) < 4000


class TestVoidInvoices:
    """Denied or cancelled by the tax office: kept, and linked to nothing."""

    def test_are_kept_and_linked_to_no_order(self, api, seller):
        create_order(seller)
        create_order(seller, orderId="B-1", invoice={"key": ACCESS_KEY})

        response = upload(api, nfe_xml(status="101").encode())

        assert (response.status_code, codes_of(response)) == (200, ["void_invoice"])
        assert Invoice.objects.get().is_void
        assert linked() == []
        found = api.get("/api/integration/orders/tracking", {"type": "order_number", "value": "123"})
        assert found.json()["success"] is False

    def test_are_not_linked_to_orders_that_come_later(self, seller):
        send_invoice(seller, nfe_xml(items=("A-1", LONG[:15]), status="110").encode())

        for changes in ({}, {"orderId": LONG}, {"orderId": "A-3", "invoice": {"key": ACCESS_KEY}}):
            create_order(seller, **changes)

        assert linked() == []

    def test_are_linked_by_nobody(self, seller):
        order, invoice = create_order(seller), send_invoice(seller, nfe_xml(status="301").encode())

        with pytest.raises(InvalidInvoice, match="denegada ou cancelada"):
            invoices.link_by_hand(invoice=invoice, order=order, by="maria", at=timezone.now())

        assert linked() == []


class TestLinks:
    def test_many_orders(self, seller):
        for code in ("A-1", "A-2", "A-3"):
            create_order(seller, orderId=code)

        assert linked(send_invoice(seller, nfe_xml(items=("A-1", "A-2", "A-1"), compra="A-3").encode())) == [
            "A-1", "A-2", "A-3",
        ]  # fmt: skip  # a list of codes

    @pytest.mark.parametrize(
        ("changes", "reference", "code"),
        [({"invoice": {"key": ACCESS_KEY}}, "X", "A-1"), ({"orderId": LONG}, LONG[:15], LONG)],
        ids=["by its invoice key", "by fifteen characters"],
    )
    def test_an_order_that_it_does_not_name_whole(self, seller, changes, reference, code, whichever_first):
        whichever_first(
            lambda: create_order(seller, **changes),
            lambda: send_invoice(seller, nfe_xml(items=(reference,)).encode()),
        )

        assert linked() == [code]

    @pytest.mark.parametrize("xped", [LONG[:14], LONG[:16], LONG[:15]])
    def test_no_order_by_another_or_an_ambiguous_prefix(self, seller, xped):
        create_order(seller, orderId=LONG)
        create_order(seller, orderId=LONG + "-2")

        assert linked(send_invoice(seller, nfe_xml(items=(xped,)).encode())) == []

    def test_no_order_of_another_seller(self, seller, other_seller, whichever_first):
        whichever_first(
            lambda: create_order(seller, invoice={"key": ACCESS_KEY}),
            lambda: send_invoice(other_seller, nfe_xml().encode()),
        )

        assert linked() == []

    def test_as_many_as_it_names_with_the_same_number_of_queries(self, seller, django_assert_num_queries):
        codes = [f"MARKETPLACE-{number:03}-LONG" for number in range(6)]
        for code in codes:
            create_order(seller, orderId=code)

        for items in ([codes[0][:15]], [code[:15] for code in codes[1:]]):
            with django_assert_num_queries(12):
                send_invoice(seller, nfe_xml(items=items, key=f"35{len(items):042}").encode())

        assert linked() == codes

    def test_an_invoice_to_no_order_of_another_seller_with_its_key(self, seller, other_seller):
        create_order(other_seller, company_document=OTHER_COMPANY, invoice={"key": ACCESS_KEY})

        with pytest.raises(InvoiceUnreferenced):
            send_invoice(seller, nfe_xml(items=("",)).encode())

        assert not Invoice.objects.exists()

    @pytest.mark.parametrize("before", [LONG[:15], f"{LONG}-2"], ids=["whole code", "beginning"])
    def test_no_later_order_by_a_beginning_that_is_of_another_order(self, seller, before):
        create_order(seller, orderId=before)
        invoice = send_invoice(seller, nfe_xml(items=(LONG[:15],)).encode())

        create_order(seller, orderId=LONG)

        assert linked(invoice) == [before]

    def test_the_order_that_has_the_reference_as_its_whole_code(self, seller):
        for code in (LONG[:15], LONG):
            create_order(seller, orderId=code)

        assert linked(send_invoice(seller, nfe_xml(items=(LONG[:15],)).encode())) == [LONG[:15]]

    @pytest.mark.parametrize("key", [f"NFe{ACCESS_KEY}", f" nfe{ACCESS_KEY} ", " ".join(ACCESS_KEY)])
    def test_an_order_that_writes_the_key_in_another_form(self, seller, key):
        create_order(seller, invoice={"key": key})

        assert linked(send_invoice(seller, nfe_xml(items=("X",)).encode())) == ["A-1"]

    def test_make_the_order_found_by_the_invoices_key_and_number(self, seller, whichever_first):
        whichever_first(lambda: create_order(seller), lambda: send_invoice(seller, nfe_xml().encode()))

        assert linked() == ["A-1"]
        codes = SearchCode.objects.filter(kind__startswith="invoice").order_by("kind")
        assert [*codes.values_list("seller", "kind", "value")] == [
            (seller.pk, "invoice_key", ACCESS_KEY),
            (seller.pk, "invoice_number", "123"),
        ]

    def test_of_a_stored_invoice_are_not_searched_again(self, seller, django_assert_num_queries):
        create_order(seller)
        raw = nfe_xml().encode()
        invoice = send_invoice(seller, raw)

        with django_assert_num_queries(6):  # savepoint, lock, look-up, company and orders of the doubts, release
            assert send_invoice(seller, raw) == invoice
