"""Adds the reasons of refused calls, with their codes and values. Earlier rows have none."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("delivery", "0039_unusual_phones")]

    operations = [
        migrations.AddField("refuseddeliverycall", "reasons", models.JSONField(null=True)),
    ]
