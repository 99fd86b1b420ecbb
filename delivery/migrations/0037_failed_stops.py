"""Whether a driver has failed at a stop of a delivery. The next migration fills it, and makes the indexes with it."""

from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('delivery', '0036_fee_before_pickup_indexed'),
    ]

    operations = [
        migrations.AddField(
            model_name='delivery',
            name='has_failed_stop',
            field=models.BooleanField(db_default=False, default=False, editable=False),
        ),
    ]
