"""The last delivery that is anonymised of those that a driver has held."""

from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('privacy', '0001_person_requests'),
    ]

    operations = [
        migrations.AddField(
            model_name='personrequest',
            name='last_delivery',
            field=models.UUIDField(editable=False, null=True),
        ),
    ]
