"""A seller's invoices in the panel: list, page, export, upload by hand, link to an order by hand."""

from datetime import timedelta

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile as File
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone
from django.utils.html import strip_tags

from integration.accounts import sellers
from integration.invoices import nfe
from integration.invoices.models import Invoice, InvoiceChange, InvoiceLink
from integration.models import SearchCode
from panel.sellers.views import invoices as views
from tests.cases import in_turn
from tests.integration.factories import (
    ACCESS_KEY,
    BY,
    OTHER_COMPANY,
    access_key,
    cancellation_file,
    create_order,
    key_of,
    nfe_xml,
    send_invoice,
)
from tests.panel.sellers.pages import plans_of, said, url

KEY_2 = access_key(2)


class TestList:
    def page(self, client, seller, **query):
        return client.get(url("seller_invoices", seller), query).content.decode()

    def listed(self, client, seller, **query):
        return [row.access_key for row in client.get(url("seller_invoices", seller), query).context["rows"]]

    def test_shows_the_sellers_invoices_newest_first(self, member, seller, invoice, foreign_seller):
        send_invoice(seller, nfe_xml(key=KEY_2, items=["B-2"]).encode())
        send_invoice(foreign_seller, nfe_xml().encode())

        assert self.listed(member, seller) == [KEY_2, ACCESS_KEY]

    def test_is_filtered_by_whether_they_are_linked(self, member, seller, invoice):
        create_order(seller, orderId="B-2")
        send_invoice(seller, nfe_xml(key=KEY_2, items=["B-2"]).encode())

        assert self.listed(member, seller, linked="yes") == [KEY_2]
        assert self.listed(member, seller, linked="no") == [ACCESS_KEY]

    @in_turn("term", [ACCESS_KEY, f" {ACCESS_KEY[:4]} {ACCESS_KEY[4:]}", "A-1", "C-3", "123"])
    def test_finds_a_key_a_reference_a_linked_order_or_a_number(self, member, seller, invoice, term):
        InvoiceLink.objects.create(
            invoice=invoice, order=create_order(seller, orderId="C-3"), linked_by=BY, linked_at=timezone.now()
        )
        send_invoice(seller, nfe_xml(key=KEY_2, items=["B-2"]).replace("<nNF>123<", "<nNF>1234<").encode())

        assert self.listed(member, seller, q=term) == [ACCESS_KEY]
        assert self.listed(member, seller, q="12") == []

    def test_marks_those_whose_value_is_not_that_of_their_orders(self, member, seller, invoice):
        create_order(seller, orderCost=1299)
        create_order(seller, orderId="B-2", orderCost=100)
        create_order(seller, orderId="B-3", orderCost="50.50")
        send_invoice(seller, nfe_xml(key=KEY_2, items=["B-2", "B-3"]).encode())  # of 150.50, as the other

        rows = member.get(url("seller_invoices", seller)).context["rows"]

        assert {row.access_key: row.differs for row in rows} == {ACCESS_KEY: True, KEY_2: False}
        assert self.page(member, seller).count("Another value") == 1

    def test_is_filtered_by_when_they_were_received(self, member, seller, invoice):
        Invoice.objects.filter(pk=invoice.pk).update(received_at=timezone.now() - timedelta(hours=2))

        assert self.listed(member, seller, period="hour") == []
        assert self.listed(member, seller, period="day") == [ACCESS_KEY]

    def test_reads_no_file_and_takes_no_query_for_each_invoice(self, member, seller, invoice):
        counts = []
        for _round in range(2):
            with CaptureQueriesContext(connection) as captured:
                self.listed(member, seller)
            counts.append(len(captured))
            assert not [row["sql"] for row in captured if '"raw"' in row["sql"]]
            send_invoice(seller, nfe_xml(key=KEY_2, items=["B-2"]).encode())

        assert counts[0] == counts[1]

    @pytest.mark.parametrize("query", [{}, {"linked": "no"}, {"q": "123"}, {"q": "A-1"}])
    def test_reads_no_table_as_a_whole(self, member, seller, invoice, query):
        with CaptureQueriesContext(connection) as captured:
            assert self.listed(member, seller, **query) == [ACCESS_KEY]

        plans = plans_of(captured, "integration_invoice")

        assert plans
        assert not [plan for plan in plans if "Seq Scan" in plan]


class TestPage:
    def test_shows_what_was_read(self, member, seller):
        invoice = send_invoice(seller, nfe_xml(items=["A-1", "B-2", "A-1"]).encode())

        page = member.get(url("seller_invoice", seller, invoice.pk))

        assert page.context["items"] == 3
        assert page.context["references"] == ["A-1", "B-2"]
        for text in (ACCESS_KEY, "11.222.333/0001-81", "R$ 150.50", "4.00"):
            assert text in strip_tags(page.content.decode()), text

    @pytest.mark.parametrize(
        ("order", "items", "why"),
        [
            ({"orderId": "A-1"}, ["A-1"], "The invoice names this orderId (xPed)."),
            (
                {"orderId": "MARKETPLACE-12345", "orderCost": "150.5"},
                ["MARKETPLACE-123"],
                "the first 15 characters of this orderId",
            ),
            ({"orderId": "X", "invoice": {"key": ACCESS_KEY}}, [""], "The order names the access key"),
        ],
        ids=["reference", "cut reference", "access key"],
    )
    def test_says_why_an_order_is_linked(self, member, seller, order, items, why):
        create_order(seller, **order)
        invoice = send_invoice(seller, nfe_xml(items=items).encode())

        assert why in member.get(url("seller_invoice", seller, invoice.pk)).content.decode()

    def test_gives_the_file_as_a_download(self, member, seller, invoice):
        response = member.get(url("seller_invoice_file", seller, invoice.pk))

        assert response.content == nfe_xml().encode()
        assert response["Content-Disposition"] == f'attachment; filename="{ACCESS_KEY}.xml"'
        assert response["Content-Type"] == "application/octet-stream"


class TestExport:
    def test_has_references_and_linked_orders(self, member, seller):
        create_order(seller)
        send_invoice(seller, nfe_xml(items=["A-1", "=B2"]).encode())

        lines = member.get(url("seller_invoices_export", seller)).getvalue().decode("utf-8-sig").splitlines()

        assert len(lines) == 2
        assert lines[1].startswith(f'"{ACCESS_KEY}","123","1","11222333000181","150.50"')
        assert lines[1].endswith('"A-1 =B2","A-1"')


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
        create_order(seller, orderId="B-2")
        linked = send_invoice(seller, nfe_xml(key=KEY_2, items=["B-2"]).encode())

        response = upload(member, seller, nfe_xml().encode())

        assert "It is linked to it when it arrives" in said(response)
        assert said(response).endswith("The invoice is saved.")
        assert InvoiceLink.objects.get().invoice == linked

    @in_turn(
        "raw",
        [
            b"", b"no XML", b"<NFe/>", b"x" * nfe.MAX_BYTES, b"x" * (nfe.MAX_BYTES + 1), b"<!DOCTYPE a><NFe/>",
            nfe_xml(items=[""]).encode(), nfe_xml(key="1").encode(),
        ],
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

    def test_without_a_file_or_with_two_is_refused(self, member, seller):
        files = [File("n.xml", nfe_xml(key=key).encode()) for key in (ACCESS_KEY, KEY_2)]

        two = member.post(url("seller_invoices", seller), {"nfe": files}, follow=True)

        assert "Envie exatamente um arquivo XML" in said(upload(member, seller, b"x", name="other"))
        assert "Envie exatamente um arquivo XML" in said(two)
        assert Invoice.objects.count() == 0

    def test_of_a_file_whose_end_the_server_has_cut_off_is_too_large(self, member, seller):
        response = upload(member, seller, b"x" * (nfe.MAX_BYTES + 1), name="other")

        assert said(response) == "O arquivo é maior que 2 MiB"

    def test_of_the_same_key_with_another_value_keeps_the_first(self, member, seller, invoice):
        response = upload(member, seller, nfe_xml(value="1.00").encode())

        assert "An earlier file of this access key has another" in said(response)
        assert bytes(Invoice.objects.get().raw) == nfe_xml().encode()

    def test_of_a_cancellation_says_that_the_invoice_is_void(self, member, seller, invoice):
        response = upload(member, seller, cancellation_file().encode())

        assert "This invoice was denied or cancelled" in said(response)
        assert "Void" in response.content.decode()

    def test_of_two_invoices_leads_to_the_list(self, member, seller):
        other = nfe_xml(key=KEY_2)
        inside = other[other.index("<NFe>") : other.index("</nfeProc>")]

        response = upload(member, seller, nfe_xml().replace("</nfeProc>", f"{inside}</nfeProc>").encode())

        assert "The file has 2 invoices; all of them were read." in said(response)
        assert len(response.context["rows"]) == 2

    def test_is_refused_while_the_seller_is_suspended(self, member, seller, suspended_seller):
        response = upload(member, seller, nfe_xml().encode())

        assert "The seller is suspended" in said(response)
        assert Invoice.objects.count() == 0


class TestLink:
    def link(self, client, seller, invoice, order):
        return client.post(url("seller_invoice", seller, invoice.pk), {"order": order}, follow=True)

    def test_finds_an_order_and_links_it(self, member, seller, invoice):
        order = create_order(seller, orderId="B-2")

        found = member.get(url("seller_invoice", seller, invoice.pk), {"q": "maria"}).context["orders"]
        response = self.link(member, seller, invoice, found[0].pk)

        assert found == [order]
        link = InvoiceLink.objects.get()
        assert (link.invoice, link.order, link.linked_by) == (invoice, order, "user member")
        assert "The invoice is linked to order B-2." in said(response)
        assert "By hand." in response.content.decode()
        assert SearchCode.objects.filter(order=order, value=ACCESS_KEY).exists()

    def test_shows_by_what_an_order_is_told_from_another(self, member, seller, invoice):
        order = create_order(seller, orderId="B-2")

        content = member.get(url("seller_invoice", seller, invoice.pk), {"q": "maria"}).content.decode()

        for text in ("R$ 150.00", "529.982.247-25", "São Paulo/SP", url("seller_order", seller, order.pk)):
            assert text in content

    def test_names_the_orders_that_do_not_exist(self, member, seller, invoice):
        content = member.get(url("seller_invoice", seller, invoice.pk)).content.decode()

        assert "The invoice names A-1; no order has this code." in content

    def test_offers_the_newest_of_those_that_fit_and_are_not_linked_already(self, member, seller, invoice, monkeypatch):
        _older, newer, newest = (create_order(seller, orderId=f"B-{number}") for number in range(3))
        create_order(seller)  # which the invoice names
        monkeypatch.setattr(views, "_MOST_FOUND", 2)
        page = url("seller_invoice", seller, invoice.pk)

        offered = [member.get(page, {"q": words}).context["orders"] for words in ("maria", "A-1", "")]

        assert offered == [[newest, newer], [], []]

    @in_turn("key", ["", "x", "0", "٣", "9" * 5000, "-1", "9" * 19])
    def test_of_no_order_is_not_found(self, member, seller, invoice, key):
        assert self.link(member, seller, invoice, key).status_code == 404
        assert InvoiceLink.objects.count() == 0

    def test_of_another_sellers_order_is_not_found(self, member, seller, invoice, foreign_seller):
        order = create_order(foreign_seller, company_document=OTHER_COMPANY, orderId="F-1")

        offered = member.get(url("seller_invoice", seller, invoice.pk), {"q": "F-1"}).context["orders"]

        assert offered == []
        assert self.link(member, seller, invoice, order.pk).status_code == 404
        assert InvoiceLink.objects.count() == 0

    def test_is_refused_while_the_seller_is_suspended(self, member, seller, invoice, suspended_seller):
        order = create_order(seller, orderId="B-2")

        response = self.link(member, seller, invoice, order.pk)

        assert "The seller is suspended" in said(response)
        assert InvoiceLink.objects.count() == 0

    def test_offers_the_orders_that_a_cut_reference_may_mean(self, member, seller):
        orders = [create_order(seller, orderId=f"MARKETPLACE-0001-{number}") for number in range(2)]
        invoice = send_invoice(seller, nfe_xml(items=["MARKETPLACE-000"]).encode())

        page = member.get(url("seller_invoice", seller, invoice.pk))

        assert page.context["orders"] == orders
        assert "which may mean" in page.content.decode()

    def test_of_a_void_invoice_is_refused(self, member, seller, invoice):
        order = create_order(seller, orderId="B-2")
        Invoice.objects.update(is_void=True)

        assert "This invoice was denied or cancelled" in said(self.link(member, seller, invoice, order.pk))
        assert InvoiceLink.objects.count() == 0


class TestUnlink:
    def post(self, client, seller, invoice, **data):
        return client.post(url("seller_invoice_unlink", seller, invoice.pk), data, follow=True)

    def test_removes_the_link_and_shows_who_and_why(self, member, seller):
        order, invoice = create_order(seller), send_invoice(seller, nfe_xml().encode())

        response = self.post(member, seller, invoice, order=order.pk, reason="Wrong order")

        assert said(response) == "The invoice is no longer linked to order A-1."
        assert InvoiceLink.objects.count() == 0
        assert "Wrong order" in response.content.decode()
        change = InvoiceChange.objects.latest("pk")
        assert (change.kind, change.text, change.by) == ("unlinked", "Wrong order", "user member")

    def test_of_another_sellers_order_is_not_found(self, member, seller, invoice, foreign_seller):
        order = create_order(foreign_seller, company_document=OTHER_COMPANY, orderId="F-1")

        assert self.post(member, seller, invoice, order=order.pk).status_code == 404

    def test_is_of_the_order_that_is_chosen_and_not_for_a_suspended_seller(self, member, seller):
        chosen, other = create_order(seller), create_order(seller, orderId="B-2")
        invoice = send_invoice(seller, nfe_xml(items=["A-1", "B-2"]).encode())

        none = self.post(member, seller, invoice)
        sellers.suspend(seller=seller, reason="unpaid", by=BY, at=timezone.now())
        suspended = self.post(member, seller, invoice, order=chosen.pk)
        left = InvoiceLink.objects.count()
        sellers.lift_suspension(seller=seller, by=BY)
        self.post(member, seller, invoice, order=chosen.pk)

        assert said(none) == "Choose the order whose link is to be removed."
        assert "suspended" in said(suspended)
        assert left == 2
        assert InvoiceLink.objects.get().order == other


class TestMarkVoid:
    def post(self, client, seller, invoice, **data):
        return client.post(url("seller_invoice_void", seller, invoice.pk), data, follow=True)

    def test_is_of_staff_and_needs_a_reason(self, member, staff, seller):
        create_order(seller)
        invoice = send_invoice(seller, nfe_xml().encode())

        assert self.post(member, seller, invoice, reason="x").status_code == 403
        assert said(self.post(staff, seller, invoice, reason=" ")) == "Say why the invoice is void."
        assert Invoice.objects.get().status == "valid"

        response = self.post(staff, seller, invoice, reason="Cancelled at the tax office")

        assert said(response) == "The invoice is void, and linked to no order."
        assert (Invoice.objects.get().status, InvoiceLink.objects.count()) == ("void", 0)
        assert "Cancelled at the tax office" in response.content.decode()
        assert "Mark as void" not in response.content.decode()
