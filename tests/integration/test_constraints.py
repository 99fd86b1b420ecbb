"""Constraints and triggers of the database. Rows are changed here without the actions."""

import pytest
from django.db import IntegrityError, transaction

from integration.invoices.models import Invoice
from integration.models import Order, Seller
from tests.integration.factories import SellerFactory, create_order, nfe_xml, send_invoice


@pytest.mark.django_db
class TestOrder:
    @pytest.mark.parametrize(
        ("change", "constraint"),
        [
            ({"tracking_code": "T-2"}, "one_order_per_code_in_use"),
            ({"code": "A-2"}, "one_order_per_tracking_code_in_use"),
        ],
    )
    def test_shares_no_code_with_another_of_its_seller_and_environment(self, change, constraint):
        copy = Order.objects.get(pk=create_order(SellerFactory.create(), orderId="A-1").pk)
        copy.pk = None
        for column, value in change.items():
            setattr(copy, column, value)

        with pytest.raises(IntegrityError, match=constraint), transaction.atomic():
            copy.save(force_insert=True)

        assert Order.objects.count() == 1


@pytest.mark.django_db
class TestInvoice:
    def test_is_the_only_one_of_its_seller_and_environment_with_its_key(self):
        copy = Invoice.objects.get(pk=send_invoice(SellerFactory.create(), nfe_xml().encode()).pk)
        copy.pk = None

        with (
            pytest.raises(IntegrityError, match="one_invoice_of_environment_per_access_key"),
            transaction.atomic(),
        ):
            copy.save(force_insert=True)

        assert Invoice.objects.count() == 1

    def test_is_marked_and_counted_by_triggers(self):
        seller = SellerFactory.create()
        create_order(seller, orderId="A-1")
        invoice = Invoice.objects.get(pk=send_invoice(seller, nfe_xml(items=["A-1"]).encode()).pk)
        assert invoice.is_linked
        assert Seller.objects.get().invoice_bytes == len(invoice.raw)

        invoice.links.all().delete()

        assert not Invoice.objects.get().is_linked
