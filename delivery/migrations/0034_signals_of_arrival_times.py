"""When the driver was last heard of as an arrival time was computed.

In a transaction, so that its lock is waited for a second at most.
"""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("delivery", "0033_composed_external_ids")]

    operations = [
        migrations.AddField(
            model_name="arrivalestimate",
            name="signal_at",
            field=models.DateTimeField(null=True, verbose_name="last signal"),
        ),
    ]
