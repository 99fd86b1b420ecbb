"""Uploading an invoice by hand: the checks and the messages are the API's."""

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile as File

from integration import nfe
from integration.models import Invoice, InvoiceLink
from tests.integration.factories import (
    create_order,
    key_of,
    nfe_xml,
)
from tests.panel.seller_pages import said, url


def upload(client, seller, raw, name="nfe"):
    return client.post(url("seller_invoices", seller), {name: File("n.xml", raw)}, follow=True)


class TestUpload:
    def test_stores_and_links_as_the_api_does(self, member, seller):
        order = create_order(seller)

        response = upload(member, seller, nfe_xml().encode())

        stored = Invoice.objects.get()
        assert (bytes(stored.raw), stored.received_by) == (nfe_xml().encode(), "user member")
        assert stored.orders.get() == order
        assert said(response) == "The invoice is saved and linked."

    def test_of_an_invoice_without_its_order_says_what_happens_next(self, member, seller):
        assert "will be linked when an order" in said(upload(member, seller, nfe_xml().encode()))
        assert InvoiceLink.objects.count() == 0

    @pytest.mark.parametrize(
        "raw",
        [
            b"", b"no XML", b"<NFe/>", b"x" * (nfe.MAX_BYTES + 1), b"<!DOCTYPE a><NFe/>",
            nfe_xml(items=[""]).encode(), nfe_xml(key="1").encode(),
        ],
        ids=["empty", "text", "no invoice", "too large", "doctype", "no reference", "wrong key"],
    )  # fmt: skip  # a list
    def test_is_refused_with_the_messages_of_the_api(self, member, seller, client, raw):
        answer = client.post(
            "/api/integration/invoices/marketplace",
            {"nfe": File("n.xml", raw)},
            headers={"Authorization": f"Basic {key_of(seller)}"},
        )

        response = upload(member, seller, raw)

        assert said(response) == answer.json()["message"]
        assert Invoice.objects.count() == 0

    def test_without_a_file_is_refused(self, member, seller):
        assert "Envie exatamente um arquivo XML" in said(upload(member, seller, b"x", name="other"))

    def test_of_a_file_whose_end_the_server_has_cut_off_is_too_large(self, member, seller):
        response = upload(member, seller, b"x" * (nfe.MAX_BYTES + 1), name="other")

        assert said(response) == "O arquivo é maior que 2 MiB"

    def test_of_the_same_key_with_another_content_keeps_the_first(self, member, seller, invoice):
        response = upload(member, seller, nfe_xml(compra="B-2").encode())

        assert "This one was not saved" in said(response)
        assert bytes(Invoice.objects.get().raw) == nfe_xml().encode()

    def test_is_refused_while_the_seller_is_suspended(self, member, seller, suspended_seller):
        response = upload(member, seller, nfe_xml().encode())

        assert "The seller is suspended" in said(response)
        assert Invoice.objects.count() == 0
