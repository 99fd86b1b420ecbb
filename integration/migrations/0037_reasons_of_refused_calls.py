"""Adds the reasons of refused calls, with their codes and values. Earlier rows have none."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("integration", "0036_unusual_phones")]

    operations = [
        migrations.AddField("refusedsellercall", "reasons", models.JSONField(null=True)),
        migrations.AddField("refusedcarriercall", "reasons", models.JSONField(null=True)),
    ]
