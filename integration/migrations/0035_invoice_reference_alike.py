"""Makes the index by which orders find the references (xPed) that are alike without case, spaces, dots and dashes."""

from django.contrib.postgres.operations import AddIndexConcurrently
from django.db import migrations, models


class Migration(migrations.Migration):
    atomic = False
    dependencies = [("integration", "0034_composed_codes")]
    operations = [
        AddIndexConcurrently(
            "invoicereference",
            models.Index(
                models.F("seller"),
                models.Func(
                    "value",
                    output_field=models.TextField(),
                    template="UPPER(TRANSLATE(NORMALIZE(%(expressions)s, NFC), ' .-', ''))",
                ),
                name="invoice_reference_alike",
            ),
        ),
    ]
