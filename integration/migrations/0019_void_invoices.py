"""Whether the tax office has denied or cancelled an invoice."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("integration", "0018_indexes_to_forget")]

    operations = [
        migrations.AddField(
            model_name="invoice",
            name="is_void",
            field=models.BooleanField(db_default=False, default=False, verbose_name="denied or cancelled"),
        ),
    ]
