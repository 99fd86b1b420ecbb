"""Migrations beside the application, and what they compute from rows of before."""

import re
from importlib import import_module
from types import SimpleNamespace

import pytest
from django.core.management import call_command
from django.db import connection
from django.utils import timezone

from integration.invoices import actions as invoices
from integration.invoices.models import Invoice, InvoiceChange, InvoiceLink, LinkReason
from integration.models import SearchCode
from tests.integration.factories import ACCESS_KEY, access_key, cancellation, create_order, nfe_xml

_STORED = import_module("integration.migrations.0009_read_stored_invoices")
# Of the application, in statements that lock more than a row.
_LOCKED = re.compile(r'(?:LOCK TABLE|ALTER TABLE|REFERENCES|\bON) "?(integration_(?:seller|order|invoice|statuslog))\b')


@pytest.mark.django_db
class TestMigration:
    @pytest.mark.parametrize("number", ["0005", "0006", "0010", "0012"])
    def test_locks_sellers_first_as_who_creates_an_order(self, capsys, number):
        call_command("sqlmigrate", "integration", number)

        tables = _LOCKED.findall(capsys.readouterr().out)
        assert len(set(tables)) > 1
        assert tables[0] == "integration_seller"


@pytest.mark.django_db
class TestStoredInvoices:
    """Files that an earlier version has stored: without what was not read then, and linked whatever they say."""

    @pytest.fixture
    def stored(self, seller):
        def make(code, key, **changes):
            order, raw = create_order(seller, orderId=code), nfe_xml(key=key, items=(code,), **changes).encode()
            invoice = Invoice.objects.create(
                seller=seller, access_key=key, number="123", raw=raw, received_at=timezone.now(), received_by="x"
            )
            self.link(invoice, order)
            return invoice

        return make

    def link(self, invoice, order):
        invoices.link([(invoice, order, LinkReason.BY_HAND)], by="x", at=timezone.now())
        InvoiceLink.objects.update(reason="")

    def migrate(self):
        for step in (_STORED.find_reasons, _STORED.read_files):
            step(None, SimpleNamespace(connection=connection))

    def test_are_read_again(self, stored):
        invoice = stored("A-1", ACCESS_KEY, recipient="52998224725", ide="<finNFe>4</finNFe>")

        for _run in range(2):
            self.migrate()

        invoice.refresh_from_db()
        assert (invoice.protocol, invoice.is_return, invoice.recipient_document) == ("100", True, "52998224725")
        assert invoice.status == "valid"

    @pytest.mark.parametrize(
        "changes",
        [{"status": "101"}, {"beside": cancellation()}, {"beside": f"<procEventoNFe>{cancellation()}</procEventoNFe>"}],
    )
    def test_that_are_cancelled_lose_their_links(self, stored, changes):
        void, valid = stored("A-1", ACCESS_KEY, **changes), stored("B-1", access_key(2))

        for _run in range(2):
            self.migrate()

        states = Invoice.objects.order_by("pk").values_list("pk", "is_void", "is_linked")
        assert [*states] == [(void.pk, True, False), (valid.pk, False, True)]
        codes = SearchCode.objects.filter(kind__startswith="invoice").values_list("order__code", "value")
        assert sorted(codes) == [("B-1", "123"), ("B-1", access_key(2))]
        changed = InvoiceChange.objects.exclude(kind="linked").values_list("invoice", "kind", "by")
        assert [*changed] == [(void.pk, "unlinked", "migration"), (void.pk, "marked_void", "migration")]

    def test_that_cannot_be_read_are_left_and_logged(self, stored, caplog):
        invoice = stored("A-1", ACCESS_KEY)
        Invoice.objects.filter(pk=invoice.pk).update(raw=b"<NFe>", protocol="1")  # changed with the protocol alone
        Invoice.objects.filter(pk=invoice.pk).update(protocol="")

        self.migrate()

        invoice.refresh_from_db()
        assert (invoice.protocol, invoice.is_linked) == ("", True)
        assert f"the file of invoice {invoice.pk} cannot be read" in caplog.text

    def test_have_the_reasons_of_their_links(self, seller, stored):
        by_hand = stored("A-1", ACCESS_KEY)
        create_order(seller, orderId="K-1", invoice={"key": ACCESS_KEY})
        for order in (
            create_order(seller, orderId="MARKETPLACE-0001-LONG"),
            create_order(seller, orderId="H-1"),
        ):
            self.link(by_hand, order)
        by_hand.references.create(seller=seller, value="MARKETPLACE-000")
        by_hand.references.create(seller=seller, value="A-1")

        self.migrate()

        assert dict(InvoiceLink.objects.values_list("order__code", "reason")) == {
            "A-1": "reference", "K-1": "access_key", "MARKETPLACE-0001-LONG": "cut_reference", "H-1": "by_hand",
        }  # fmt: skip  # a table
