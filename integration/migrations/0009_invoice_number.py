"""An index for the admin's search for an invoice by its number."""

from django.contrib.postgres.operations import AddIndexConcurrently
from django.db import migrations, models


class Migration(migrations.Migration):
    atomic = False

    dependencies = [("integration", "0008_repeated_indexes")]

    operations = [
        AddIndexConcurrently(
            model_name="invoice", index=models.Index(fields=["number"], name="invoice_number")
        ),
    ]
