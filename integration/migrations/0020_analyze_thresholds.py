"""Tables that grow with every order are analysed after a number of changes and not after a share of their rows.

So a plan that was made for few rows is replaced within a minute of their becoming many. The statement waits for no
reader and no writer.
"""

from django.db import migrations

_TABLES = (
    "integration_order", "integration_searchcode", "integration_statuslog", "integration_invoice",
    "integration_invoicereference", "integration_invoicelink", "integration_idempotencyrecord",
)  # fmt: skip  # a list of names


class Migration(migrations.Migration):
    dependencies = [("integration", "0019_void_invoices")]

    operations = [
        migrations.RunSQL(
            f"ALTER TABLE {table} SET (autovacuum_analyze_scale_factor = 0, autovacuum_analyze_threshold = 1000)",
            f"ALTER TABLE {table} RESET (autovacuum_analyze_scale_factor, autovacuum_analyze_threshold)",
        )
        for table in _TABLES
    ]
