"""Indexes of the sandbox' orders, invoices and manifests, for the filter of the admin's lists.

Outside a transaction, because indexes are made while their tables are in use. Each step can be repeated, so that an
interrupted migration is simply run again.
"""

from django.db import migrations, models


def _index(name: str, model: str) -> migrations.RunSQL:
    drop = f"DROP INDEX CONCURRENTLY IF EXISTS {name}"
    index = models.Index(fields=["-id"], name=name, condition=models.Q(environment="sandbox"))
    return migrations.RunSQL(
        [
            drop,
            f"CREATE INDEX CONCURRENTLY {name} ON integration_{model} (id DESC) WHERE environment = 'sandbox'",
        ],
        drop,
        state_operations=[migrations.AddIndex(model, index)],
    )


class Migration(migrations.Migration):
    atomic = False
    dependencies = [("integration", "0024_sandbox_invoice_bytes")]

    operations = [_index(f"{model}_of_sandbox", model) for model in ("order", "invoice", "manifest")]
