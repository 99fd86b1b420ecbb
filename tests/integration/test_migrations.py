"""Rows that are older than a migration keep their meaning."""

import pytest
from django.db import connection
from django.db.migrations.executor import MigrationExecutor

from integration.freight import Parameters, Service
from integration.models import FreightParameters, Seller
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


@pytest.mark.django_db(transaction=True)
def test_freight_parameters_keep_their_values(seller):
    try:
        MigrationExecutor(connection).migrate([("integration", "0008_invoice_received_index")])
        with connection.cursor() as cursor:
            cursor.execute(
                "INSERT INTO integration_freightparameter (name, value, unit, basis) VALUES"
                " ('max_weight_g', '20000', '', ''), ('remote_ufs', 'RR AC', '', ''),"
                " ('quote_service', 'express', '', '')"
            )
    finally:
        executor = MigrationExecutor(connection)
        executor.migrate(executor.loader.graph.leaf_nodes())

    assert FreightParameters.current() == Parameters(
        max_weight_g=20_000, remote_states=frozenset({"AC", "RR"}), quote_service=Service.EXPRESS
    )
