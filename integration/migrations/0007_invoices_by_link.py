"""Marks the invoices that have links, and makes the index of lists of invoices by that.

Outside a transaction, because the index is made while the table is in use. From the migration before, a trigger marks
the invoices of new links.
"""

from django.contrib.postgres.operations import AddIndexConcurrently
from django.db import migrations, models


class Migration(migrations.Migration):
    atomic = False
    dependencies = [("integration", "0006_invoice_is_linked")]
    operations = [
        migrations.RunSQL(
            """
            UPDATE integration_invoice SET is_linked = TRUE
            WHERE NOT is_linked AND id IN (SELECT invoice_id FROM integration_invoicelink)
            """,
            migrations.RunSQL.noop,
        ),
        AddIndexConcurrently(
            "invoice",
            models.Index(fields=["seller", "is_linked", "-received_at", "-id"], name="invoice_of_seller_linked"),
        ),
    ]
