"""A next version of the service: a copy of what the image contains and of `dev`, with a further migration."""

import shutil
from pathlib import Path

from config.env import BASE_DIR, data_dir

_MIGRATION = """
from django.contrib.postgres.operations import AddIndexConcurrently
from django.db import migrations, models


class Migration(migrations.Migration):
    atomic = False
    dependencies = [("delivery", "{last}")]
    operations = [
        migrations.AddField("delivery", "is_of_next", models.BooleanField(default=True, db_default=False)),
        AddIndexConcurrently("delivery", models.Index(fields=["is_of_next"], name="delivery_is_of_next")),
    ]
"""
# True in the rows that the next version writes, false in those of the version before.
_FIELD = """
Delivery.add_to_class("is_of_next", models.BooleanField(default=True, db_default=False))
"""


def make() -> Path:
    """The folder of the next version."""
    folder = data_dir() / "next"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    for name in (*_in_the_image(), "dev"):  # the servers of these tests are the embedded ones
        source = BASE_DIR / name
        if source.is_dir():
            shutil.copytree(source, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
        elif source.exists():
            (folder / name).parent.mkdir(exist_ok=True)
            shutil.copyfile(source, folder / name)
    (folder / "node_modules").symlink_to(BASE_DIR / "node_modules")
    migrations = folder / "delivery" / "migrations"
    last = max(path.stem for path in migrations.glob("[0-9]*.py"))
    (migrations / "9999_next.py").write_text(_MIGRATION.format(last=last))
    with (folder / "delivery" / "models" / "delivery.py").open("a") as file:
        file.write(_FIELD)
    return folder


def _in_the_image() -> list[str]:
    lines = (BASE_DIR / ".dockerignore").read_text().splitlines()
    return [line.removeprefix("!") for line in lines if line.startswith("!")]
