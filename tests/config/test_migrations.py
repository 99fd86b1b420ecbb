"""Migrations are safe while the version before still runs, and mean the same for ever."""

import ast
from pathlib import Path

import pytest
from django.apps import apps
from django.conf import settings
from django_migration_linter import MigrationLinter

OUR_APPS = sorted(app.label for app in apps.get_app_configs() if Path(app.path).parent == settings.BASE_DIR)
FILES = sorted(settings.BASE_DIR.glob("*/migrations/[0-9]*.py"))
OURS = {path.parent.name for path in settings.BASE_DIR.glob("*/__init__.py")}


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
@pytest.mark.parametrize("app", OUR_APPS)
def test_neither_locks_a_table_nor_breaks_the_version_before(app):
    linter = MigrationLinter(
        include_apps=[app], all_warnings_as_errors=True, ignore_initial_migrations=True, no_cache=True
    )
    linter.lint_all_migrations()

    assert not linter.has_errors


@pytest.mark.parametrize("file", FILES, ids=short)
def test_imports_nothing_of_ours_that_can_change(file):
    assert not [name for name in imports_of(file) if name.partition(".")[0] in OURS]


@pytest.mark.parametrize("file", FILES, ids=short)
def test_has_a_name(file):
    assert "_auto_" not in file.stem
