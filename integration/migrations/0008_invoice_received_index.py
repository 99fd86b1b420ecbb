from django.contrib.postgres.operations import AddIndexConcurrently
from django.db import migrations, models


class Migration(migrations.Migration):
    atomic = False  # the index is built while invoices are written

    dependencies = [
        ("integration", "0007_invoice_quota"),
    ]

    operations = [
        AddIndexConcurrently(
            model_name="invoice",
            index=models.Index(fields=["seller", "-received_at"], name="invoice_received"),
        ),
    ]
