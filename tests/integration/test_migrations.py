"""Migrations beside the application, and what they compute from rows of before."""

import re
from importlib import import_module

import pytest
from django.core.management import call_command
from django.db import connection

from integration.models import Seller
from tests.integration.factories import ACCESS_KEY, nfe_xml, send_invoice

_COUNT = import_module("integration.migrations.0024_sandbox_invoice_bytes")._COUNT
# Of the application, in statements that lock more than a row.
_LOCKED = re.compile(r'(?:ALTER TABLE|REFERENCES|\bON) "?(integration_(?:seller|order|invoice|statuslog))\b')


@pytest.mark.django_db
class TestMigration:
    @pytest.mark.parametrize("number", ["0019", "0023"])
    def test_locks_sellers_first_as_who_creates_an_order(self, capsys, number):
        call_command("sqlmigrate", "integration", number)

        tables = _LOCKED.findall(capsys.readouterr().out)
        assert len(set(tables)) > 1
        assert tables[0] == "integration_seller"

    def test_separates_the_bytes_of_the_sandbox(self, seller, other_seller):
        raw = nfe_xml().encode()
        send_invoice(seller, raw)
        send_invoice(seller, raw, environment="sandbox")
        send_invoice(seller, nfe_xml(key=f"{ACCESS_KEY[:-1]}0").encode(), environment="sandbox")
        rows = Seller.objects.order_by("pk").values_list("invoice_bytes", "sandbox_invoice_bytes")
        expected, size = list(rows), len(raw)
        # As if the second one of the sandbox had been sent after the migration before.
        Seller.objects.filter(pk=seller.pk).update(invoice_bytes=2 * size, sandbox_invoice_bytes=size)

        for _run in range(2):
            with connection.cursor() as cursor:
                cursor.execute(_COUNT)

        assert expected == list(rows.all()) == [(size, 2 * size), (0, 0)]
