"""Migrations are safe while the version before still runs, and mean the same for ever."""

import ast
from pathlib import Path

import pytest
from django.apps import apps
from django.conf import settings
from django_migration_linter import MigrationLinter

from tests.sources import PACKAGES

FOLDERS = {settings.BASE_DIR / name for name in PACKAGES}
FILES = sorted(path for name in PACKAGES for path in (settings.BASE_DIR / name).rglob("migrations/[0-9]*.py"))
OUR_APPS = sorted(app.label for app in apps.get_app_configs() if FOLDERS & {Path(app.path), *Path(app.path).parents})


def imports_of(file):
    """The modules that a file imports, anywhere in it."""
    for node in ast.walk(ast.parse(file.read_text())):
        if isinstance(node, ast.ImportFrom):
            yield node.module or ""
        elif isinstance(node, ast.Import):
            yield from (name.name for name in node.names)


def short(file):
    return f"{file.parent.parent.name}/{file.stem}"


@pytest.mark.django_db(transaction=True)  # indexes are not made concurrently inside a transaction
def test_none_locks_a_table_or_breaks_the_version_before():
    linter = MigrationLinter(
        include_apps=OUR_APPS, all_warnings_as_errors=True, ignore_initial_migrations=True, no_cache=True
    )

    linter.lint_all_migrations()

    assert linter.nb_total >= len(FILES)
    assert not linter.has_errors  # it prints them


def test_none_imports_anything_of_ours_that_can_change():
    changing = {
        short(file): [name for name in imports_of(file) if name.partition(".")[0] in PACKAGES] for file in FILES
    }

    assert {name: imported for name, imported in changing.items() if imported} == {}


def test_each_has_a_name():
    assert [short(file) for file in FILES if "_auto_" in file.stem] == []
