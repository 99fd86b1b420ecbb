"""Whether a start has migrations to apply, and what a new database begins with."""

import os
import re
import subprocess
import sys

import psycopg
import pytest
from psycopg.sql import SQL, Identifier

from config.env import BASE_DIR, PACKAGES
from dev import embedded, schema
from dev.embedded.account import Account
from tests.production import ENVIRONMENT

# Rows that migrations make, without their ids and moments.
ROWS = {
    "django_migrations": "SELECT app, name FROM django_migrations",
    "permissions": "SELECT app_label, model, codename, name FROM auth_permission"
    " JOIN django_content_type c ON c.id = content_type_id",
    "roles": "SELECT g.name, codename FROM auth_group g JOIN auth_group_permissions p ON p.group_id = g.id"
    " JOIN auth_permission a ON a.id = permission_id",
    "rates": "SELECT to_jsonb(r) - 'id' FROM integration_freightrate r",
    "parameters": "SELECT to_jsonb(p) - 'id' FROM integration_freightparameters p",
    "rules": "SELECT to_jsonb(r) - 'id' FROM delivery_dispatchrules r",
    "changes": "SELECT pgh_label, to_jsonb(c) - '{pgh_id,pgh_created_at,pgh_context_id,pgh_obj_id,id}'::text[]"
    " FROM integration_freightpricechange c",
}  # fmt: skip  # statements


@pytest.fixture
def database(migrated, monkeypatch):
    """A connection to a database with all tables, that of DATABASE_URL."""
    monkeypatch.setenv("DATABASE_URL", migrated["DATABASE_URL"])
    with psycopg.connect(migrated["DATABASE_URL"], autocommit=True) as connection:
        yield connection


class TestIsCurrent:
    def test_only_after_migrate_has_ended(self, database):
        assert not schema.is_current()

        schema.note_current()

        assert schema.is_current()

    def test_not_when_the_database_lacks_a_migration(self, database):
        schema.note_current()

        database.execute("DELETE FROM django_migrations WHERE app = 'delivery' AND name = '0002_storage'")

        assert not schema.is_current()

    def test_not_in_an_empty_database(self, database):
        schema.note_current()

        database.execute("DROP TABLE django_migrations")

        assert not schema.is_current()

    def test_not_with_a_further_migration(self, database, monkeypatch, tmp_path):
        schema.note_current()

        (tmp_path / "migrations").mkdir()
        (tmp_path / "migrations" / "0001_initial.py").write_text("")
        monkeypatch.setattr(schema, "PACKAGES", [*PACKAGES, tmp_path])

        assert not schema.is_current()


class TestHasUsers:
    def test_once_there_is_one(self, database):
        assert not schema.has_users()

        database.execute(
            "INSERT INTO auth_user (username, password, first_name, last_name, email, is_superuser, is_staff,"
            " is_active, date_joined) VALUES ('admin', '', '', '', '', false, false, true, now())"
        )

        assert schema.has_users()


@pytest.fixture
def empty(monkeypatch):
    """The URL of an empty database, that of DATABASE_URL."""
    url, name = embedded.postgres_url(), f"empty_{os.getpid()}"
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(SQL("CREATE DATABASE {}").format(Identifier(name)))
        monkeypatch.setenv("DATABASE_URL", f"{url.rpartition('/')[0]}/{name}")
        yield os.environ["DATABASE_URL"]
        connection.execute(SQL("DROP DATABASE {} WITH (FORCE)").format(Identifier(name)))


def contents(url):
    """The tables as a dump has them, and the rows that migrations have made."""
    program = str(Account.for_server().programs / "pg_dump")
    dumped = subprocess.run(
        [program, "--no-owner", "--schema-only", url], check=True, stdout=subprocess.PIPE, text=True
    )
    with psycopg.connect(url) as connection:
        rows = {name: sorted(map(repr, connection.execute(query))) for name, query in ROWS.items()}
    # PostgreSQL writes a condition that was restored with other brackets, and casts the texts of an array, not the
    # array.
    same = re.sub(r"\\(un)?restrict .*|::text(\[\])?|[()]", "", dumped.stdout)
    return same.splitlines(), rows


class TestBegin:
    def test_makes_with_the_later_migrations_what_all_of_them_make(self, empty, migrated):
        schema.begin()
        environment = {**os.environ, **ENVIRONMENT, **migrated, "DATABASE_URL": empty}
        subprocess.run([sys.executable, "manage.py", "migrate"], cwd=BASE_DIR, env=environment, check=True)

        assert contents(empty) == contents(migrated["DATABASE_URL"])

    def test_leaves_a_database_alone_that_is_not_empty(self, empty):
        with psycopg.connect(empty, autocommit=True) as connection:
            connection.execute("CREATE TABLE other ()")

        schema.begin()

        with psycopg.connect(empty) as connection:
            assert connection.execute("SELECT to_regclass('django_migrations')").fetchone() == (None,)
