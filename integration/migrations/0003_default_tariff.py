"""The default rates, so that the first quote has a price. Rows that exist already stay as they are."""

from django.apps.registry import Apps as StateApps
from django.db import migrations
from django.db.backends.base.schema import BaseDatabaseSchemaEditor

from integration import defaults


def load(apps: StateApps, _schema_editor: BaseDatabaseSchemaEditor) -> None:
    apps.get_model("integration", "FreightRate").objects.bulk_create(
        [apps.get_model("integration", "FreightRate")(**row) for row in defaults.rates()], ignore_conflicts=True
    )


class Migration(migrations.Migration):
    dependencies = [("integration", "0002_tracking_code_sequence")]

    operations = [migrations.RunPython(load, migrations.RunPython.noop)]
