"""What stood in the database before a change of its shape."""

import pytest
from django.db import connection
from django.db.migrations.executor import MigrationExecutor

from integration.models import Seller
from tests.integration.factories import nfe_xml, send_invoice


@pytest.mark.django_db(transaction=True)
def test_invoices_that_are_kept_count_towards_the_quota(seller, other_seller):
    raw = nfe_xml().encode()
    try:
        MigrationExecutor(connection).migrate([("integration", "0006_suspension")])
        with connection.cursor() as cursor:
            cursor.execute(
                "INSERT INTO integration_invoice (seller_id, access_key, issuer_document, number, series, layout, raw,"
                " received_at, received_by)"
                " SELECT %s, n::text, '', '', '', '', %s, now(), 'x' FROM generate_series(1, 3) n",
                [seller.pk, raw],
            )
    finally:
        executor = MigrationExecutor(connection)
        executor.migrate(executor.loader.graph.leaf_nodes())

    send_invoice(seller, raw)
    assert Seller.objects.get(pk=seller.pk).invoice_bytes == 4 * len(raw)
    assert Seller.objects.get(pk=other_seller.pk).invoice_bytes == 0
