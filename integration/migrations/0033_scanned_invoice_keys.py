"""Finds an order by the access key of its invoice that was scanned, whatever its seller.

Outside a transaction, because the index is made while the table is in use. Each step can be repeated, so that an
interrupted migration is simply run again.
"""

from django.db import migrations, models

_NAME = "search_code_invoice_key"
_DROP = f"DROP INDEX CONCURRENTLY IF EXISTS {_NAME}"


class Migration(migrations.Migration):
    atomic = False
    dependencies = [("integration", "0032_read_stored_invoices")]

    operations = [
        migrations.RunSQL(
            [
                _DROP,
                f"CREATE INDEX CONCURRENTLY {_NAME} ON integration_searchcode (value) WHERE kind = 'invoice_key'",
            ],
            _DROP,
            state_operations=[
                migrations.AddIndex(
                    "searchcode", models.Index(fields=["value"], name=_NAME, condition=models.Q(kind="invoice_key"))
                )
            ],
        )
    ]
