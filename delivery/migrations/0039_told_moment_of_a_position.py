"""The moment of a position as its phone told it. A column without a default: no row is written again."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("delivery", "0038_index_of_a_drivers_days"),
    ]

    operations = [
        migrations.AddField(
            model_name="driverposition",
            name="told_at",
            field=models.DateTimeField(editable=False, null=True),
        ),
    ]
