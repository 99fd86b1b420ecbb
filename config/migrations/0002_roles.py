"""The groups of `access.roles`, with their permissions."""

from typing import Any

from django.apps import apps as installed
from django.contrib.auth.management import create_permissions
from django.db import migrations

from access.roles import ROLES, codenames


def create(apps: Any, schema_editor: Any) -> None:
    # Django makes permissions after all migrations; these are needed now.
    for label in ("auth", "delivery", "integration"):
        create_permissions(installed.get_app_config(label), verbosity=0, using=schema_editor.connection.alias)
    permissions = apps.get_model("auth", "Permission").objects.select_related("content_type")
    by_name = {(each.content_type.app_label, each.codename): each for each in permissions}
    for role in ROLES:
        group, _made = apps.get_model("auth", "Group").objects.get_or_create(name=role)
        group.permissions.set([by_name[name] for name in sorted(codenames(role))])


class Migration(migrations.Migration):
    dependencies = [
        ("config", "0001_cache_table"),
        ("auth", "0012_alter_user_first_name_max_length"),
        ("contenttypes", "0002_remove_content_type_name"),
        ("delivery", "0005_audit"),
        ("integration", "0004_seller_members"),
    ]

    operations = [migrations.RunPython(create, migrations.RunPython.noop)]
