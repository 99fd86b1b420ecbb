import pytest
from django.core.files.uploadedfile import SimpleUploadedFile as File
from django.utils import timezone

from integration.actions import invoices
from integration.errors import InvalidInvoice, InvoiceUnreferenced
from integration.models import Invoice, InvoiceLink, SearchCode
from tests.integration.factories import ACCESS_KEY, OTHER_COMPANY, create_order, nfe_xml, send_invoice, upload

URL = "/api/integration/invoices/marketplace"
SAVED = {"success": True, "message": "Nota fiscal salva com sucesso"}
LONG = "MARKETPLACE-0001-LONG"


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

        assert (response.status_code, response.json()) == (200, SAVED)
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

    def test_makes_the_order_found_by_the_access_key(self, api, seller):
        create_order(seller)
        upload(api, nfe_xml().encode())

        found = api.get("/api/integration/orders/tracking", {"type": "order_number", "value": ACCESS_KEY})

        assert found.json()["success"] is True


class TestVoidInvoices:
    """Denied or cancelled by the tax office: kept, and linked to nothing."""

    def test_are_kept_and_linked_to_no_order(self, api, seller):
        create_order(seller)
        create_order(seller, orderId="B-1", invoice={"key": ACCESS_KEY})

        response = upload(api, nfe_xml(status="101").encode())

        assert (response.status_code, response.json()) == (200, SAVED)
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

    def test_are_not_those_that_are_authorised(self, seller):
        create_order(seller)

        assert linked(send_invoice(seller, nfe_xml(status="100").encode())) == ["A-1"]

    @pytest.mark.parametrize("root", ["procEventoNFe", "nfe:procEventoNFe", "envEvento", "procCancNFe"])
    def test_are_not_sent_as_the_file_of_an_event(self, api, seller, root):
        create_order(seller, invoice={"key": ACCESS_KEY})
        event = f"<infEvento><chNFe>{ACCESS_KEY}</chNFe><tpEvento>110111</tpEvento></infEvento>"
        namespace = "http://www.portalfiscal.inf.br/nfe"
        raw = f'<{root} xmlns="{namespace}" xmlns:nfe="{namespace}" versao="1.00"><evento>{event}</evento></{root}>'

        response = upload(api, raw.encode())

        assert (response.status_code, response.json()["code"]) == (422, "invalid_invoice")
        assert "é um evento de NF-e (procEventoNFe)" in response.json()["message"]
        assert not Invoice.objects.exists()


class TestLinks:
    def test_many_orders(self, seller):
        for code in ("A-1", "A-2", "A-3"):
            create_order(seller, orderId=code)

        assert linked(send_invoice(seller, nfe_xml(items=("A-1", "A-2", "A-1"), compra="A-3").encode())) == [
            "A-1", "A-2", "A-3",
        ]  # fmt: skip  # a list of codes

    def test_an_order_that_comes_later(self, seller):
        invoice = send_invoice(seller, nfe_xml().encode())

        create_order(seller)

        assert linked(invoice) == ["A-1"]

    @pytest.mark.parametrize("order_first", [True, False])
    @pytest.mark.parametrize(
        ("changes", "reference", "code"),
        [({"invoice": {"key": ACCESS_KEY}}, "X", "A-1"), ({"orderId": LONG}, LONG[:15], LONG)],
        ids=["by its invoice key", "by fifteen characters"],
    )
    def test_an_order_that_it_does_not_name_whole(self, seller, changes, reference, code, order_first):
        steps = [
            lambda: create_order(seller, **changes),
            lambda: send_invoice(seller, nfe_xml(items=(reference,)).encode()),
        ]
        for step in steps if order_first else reversed(steps):
            step()

        assert linked() == [code]

    @pytest.mark.parametrize("xped", [LONG[:14], LONG[:16], LONG[:15]])
    def test_no_order_by_another_or_an_ambiguous_prefix(self, seller, xped):
        create_order(seller, orderId=LONG)
        create_order(seller, orderId=LONG + "-2")

        assert linked(send_invoice(seller, nfe_xml(items=(xped,)).encode())) == []

    def test_no_order_of_another_seller(self, seller, other_seller):
        create_order(seller)

        assert linked(send_invoice(other_seller, nfe_xml().encode())) == []

    def test_as_many_as_it_names_with_the_same_number_of_queries(self, seller, django_assert_num_queries):
        codes = [f"MARKETPLACE-{number:03}-LONG" for number in range(6)]
        for code in codes:
            create_order(seller, orderId=code)

        for items in ([codes[0][:15]], [code[:15] for code in codes[1:]]):
            with django_assert_num_queries(11):
                send_invoice(seller, nfe_xml(items=items, key=f"35{len(items):042}").encode())

        assert linked() == codes

    def test_an_invoice_to_no_order_of_another_seller_with_its_key(self, seller, other_seller):
        create_order(other_seller, company_document=OTHER_COMPANY, invoice={"key": ACCESS_KEY})

        with pytest.raises(InvoiceUnreferenced):
            send_invoice(seller, nfe_xml(items=("",)).encode())

        assert not Invoice.objects.exists()

    def test_invoices_with_an_order_of_the_same_seller_only(self, seller, other_seller):
        send_invoice(other_seller, nfe_xml().encode())

        create_order(seller, invoice={"key": ACCESS_KEY})

        assert linked() == []

    def test_no_later_order_by_a_beginning_that_is_another_orders_whole_code(self, seller):
        create_order(seller, orderId=LONG[:15])
        invoice = send_invoice(seller, nfe_xml(items=(LONG[:15],)).encode())

        create_order(seller, orderId=LONG)

        assert linked(invoice) == [LONG[:15]]

    def test_no_later_order_by_a_beginning_that_another_order_has_too(self, seller):
        create_order(seller, orderId=LONG + "-2")
        invoice = send_invoice(seller, nfe_xml(items=(LONG[:15],)).encode())

        create_order(seller, orderId=LONG)

        assert linked(invoice) == [LONG + "-2"]

    def test_the_order_that_has_the_reference_as_its_whole_code(self, seller):
        for code in (LONG[:15], LONG):
            create_order(seller, orderId=code)

        assert linked(send_invoice(seller, nfe_xml(items=(LONG[:15],)).encode())) == [LONG[:15]]

    @pytest.mark.parametrize("key", [f"NFe{ACCESS_KEY}", f" nfe{ACCESS_KEY} ", " ".join(ACCESS_KEY)])
    def test_an_order_that_writes_the_key_in_another_form(self, seller, key):
        create_order(seller, invoice={"key": key})

        assert linked(send_invoice(seller, nfe_xml(items=("X",)).encode())) == ["A-1"]

    @pytest.mark.parametrize("order_first", [True, False])
    def test_make_the_order_found_by_the_invoices_key_and_number(self, seller, order_first):
        steps = [lambda: create_order(seller), lambda: send_invoice(seller, nfe_xml().encode())]
        for step in steps if order_first else reversed(steps):
            step()

        codes = SearchCode.objects.filter(kind__startswith="invoice").order_by("kind")
        assert [*codes.values_list("seller", "kind", "value")] == [
            (seller.pk, "invoice_key", ACCESS_KEY),
            (seller.pk, "invoice_number", "123"),
        ]

    def test_of_a_stored_invoice_are_not_searched_again(self, seller, django_assert_num_queries):
        create_order(seller)
        raw = nfe_xml().encode()
        invoice = send_invoice(seller, raw)

        with django_assert_num_queries(4):  # savepoint, lock, look-up, release
            assert send_invoice(seller, raw) == invoice


class TestRefusal:
    @pytest.mark.parametrize(
        "files", [{}, {"xml": File("n.xml", b"<a/>")}, {"nfe": "text"}, {"nfe": [File("a", b"x"), File("b", b"y")]}]
    )
    def test_of_no_wrong_or_two_files(self, api, files):
        response = api.post(URL, files, format="multipart")

        assert response.status_code == 422
        assert response.json()["success"] is False
        assert not Invoice.objects.exists()

    @pytest.mark.parametrize("content_type", ["application/json", "text/xml", "multipart/form-data"])
    def test_of_a_request_that_is_not_a_form(self, api, content_type):
        assert api.generic("POST", URL, nfe_xml(), content_type=content_type).status_code == 422

    @pytest.mark.parametrize("size", [2 * 1024 * 1024 + 1, 50 * 1024 * 1024])
    def test_of_a_file_beyond_the_limit(self, api, size):
        assert upload(api, b" " * size).status_code == 413
        assert not Invoice.objects.exists()

    def test_without_any_reference_says_so(self, api):
        response = upload(api, nfe_xml(items=("",)).encode())

        assert response.status_code == 422
        assert "xPed" in response.json()["message"]
        assert not Invoice.objects.exists()

    def test_of_a_hostile_file(self, api):
        assert upload(api, b"<a>" * 100_000).status_code == 422
        assert not Invoice.objects.exists()
