"""Storage of tables that grow with every order, and indexes that Django makes and nothing uses.

The tables are analysed after a number of changes and not after a share of their rows, so that a plan that was made for
few rows is replaced within a minute of their becoming many. The indexes are for LIKE.
"""

from django.db import migrations

_GROWING = (
    "integration_order", "integration_searchcode", "integration_statuslog", "integration_invoice",
    "integration_invoicereference", "integration_invoicelink", "integration_idempotencyrecord",
)  # fmt: skip  # a list of names


class Migration(migrations.Migration):
    initial = True
    dependencies = [("integration", "0003_default_tariff")]
    operations = [
        *(
            migrations.RunSQL(
                f"ALTER TABLE {table} SET (autovacuum_analyze_scale_factor = 0, autovacuum_analyze_threshold = 1000)",
                migrations.RunSQL.noop,
            )
            for table in _GROWING
        ),
        *(
            migrations.RunSQL(f"DROP INDEX {name}", migrations.RunSQL.noop)
            for name in ("integration_company_document_4c1cc66f_like", "integration_seller_reference_a0d45c18_like")
        ),
    ]
