"""Linking an invoice that matched nothing to an order of the same seller."""

import pytest

from integration.models import InvoiceLink, SearchCode
from tests.integration.factories import (
    ACCESS_KEY,
    OTHER_COMPANY,
    create_order,
)
from tests.panel.seller_pages import said, url


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
        assert "Linked by hand." in response.content.decode()
        assert SearchCode.objects.filter(order=order, value=ACCESS_KEY).exists()

    def test_shows_by_what_an_order_is_told_from_another(self, member, seller, invoice):
        order = create_order(seller, orderId="B-2")

        content = member.get(url("seller_invoice", seller, invoice.pk), {"q": "maria"}).content.decode()

        for text in ("R$ 150.00", "529.982.247-25", "São Paulo/SP", url("seller_order", seller, order.pk)):
            assert text in content

    def test_names_the_orders_that_do_not_exist(self, member, seller, invoice):
        content = member.get(url("seller_invoice", seller, invoice.pk)).content.decode()

        assert "The invoice names A-1; no order has this code." in content

    def test_does_not_offer_what_is_linked_already(self, member, seller, invoice):
        create_order(seller)

        assert member.get(url("seller_invoice", seller, invoice.pk), {"q": "A-1"}).context["orders"] == []

    @pytest.mark.parametrize("key", ["", "x", "0", "٣", "9" * 5000, "-1", "9" * 19])
    def test_of_no_order_is_not_found(self, member, seller, invoice, key):
        assert self.link(member, seller, invoice, key).status_code == 404
        assert InvoiceLink.objects.count() == 0

    def test_of_another_sellers_order_is_not_found(self, member, seller, invoice, foreign_seller):
        order = create_order(foreign_seller, company_document=OTHER_COMPANY, orderId="F-1")

        offered = member.get(url("seller_invoice", seller, invoice.pk), {"q": "F-1"}).context["orders"]

        assert offered == []
        assert self.link(member, seller, invoice, order.pk).status_code == 404
        assert InvoiceLink.objects.count() == 0

    def test_twice_is_one_link(self, member, seller, invoice):
        order = create_order(seller, orderId="B-2")

        for _time in range(2):
            self.link(member, seller, invoice, order.pk)

        assert InvoiceLink.objects.count() == 1

    def test_is_refused_while_the_seller_is_suspended(self, member, seller, invoice, suspended_seller):
        order = create_order(seller, orderId="B-2")

        response = self.link(member, seller, invoice, order.pk)

        assert "The seller is suspended" in said(response)
        assert InvoiceLink.objects.count() == 0
