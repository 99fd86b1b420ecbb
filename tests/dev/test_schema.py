"""Whether a start has migrations to apply."""

import psycopg
import pytest

from config.env import PACKAGES
from dev import schema


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
