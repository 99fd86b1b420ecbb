"""The environment of refused calls. The next migrations have it in the indexes."""

from django.db import migrations, models


def _environment() -> "models.CharField[str, str]":
    choices = [("live", "Live"), ("sandbox", "Sandbox")]
    return models.CharField(
        choices=choices, db_default="live", default="live", editable=False, max_length=7, verbose_name="environment"
    )


class Migration(migrations.Migration):
    dependencies = [("integration", "0015_simulation")]

    operations = [
        migrations.AddField("refusedsellercall", "environment", _environment()),
        migrations.AddField("refusedsellercallcount", "environment", _environment()),
    ]
