"""The table of the cache, in which allauth keeps one-time codes that were used."""

from typing import Any

from django.core.management import call_command
from django.db import migrations


def create(_apps: Any, schema_editor: Any) -> None:
    call_command("createcachetable", database=schema_editor.connection.alias)


class Migration(migrations.Migration):
    initial = True
    dependencies = []

    operations = [migrations.RunPython(create, migrations.RunPython.noop)]
