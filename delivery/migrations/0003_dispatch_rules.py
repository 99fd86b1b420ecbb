"""The row of the rules of dispatch, with the defaults of its columns."""

from django.apps.registry import Apps
from django.db import migrations
from django.db.backends.base.schema import BaseDatabaseSchemaEditor


def create(apps: Apps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    apps.get_model("delivery", "DispatchRules").objects.get_or_create()


class Migration(migrations.Migration):
    initial = True
    dependencies = [("delivery", "0002_storage")]
    operations = [migrations.RunPython(create, migrations.RunPython.noop)]
