"""Whether the database has all migrations, so that a start need not load Django to find that nothing is to be done."""

import hashlib
import os

import psycopg

from config.env import BASE_DIR, PACKAGES, data_dir
from dev import embedded


def is_current() -> bool:
    """Whether neither the migrations nor the database have changed since `note_current`."""
    noted = data_dir() / "schema"
    return noted.exists() and noted.read_text() == _state()


def note_current() -> None:
    """To be called when `migrate` has ended."""
    (data_dir() / "schema").write_text(_state())


def has_users() -> bool:
    """Whether there is anybody who can log in. The demo data have somebody."""
    with _connection() as connection:
        return connection.execute("SELECT FROM auth_user LIMIT 1").fetchone() is not None


def _state() -> str:
    """What `migrate` depends on: our migrations, the apps, the pinned packages, and what the database has."""
    digest = hashlib.sha256()
    ours = sorted(path for folder in PACKAGES for path in folder.rglob("migrations/*.py"))
    for path in (BASE_DIR / "requirements-dev.lock", BASE_DIR / "config" / "settings.py", *ours):
        digest.update(path.name.encode() + path.read_bytes())
    with _connection() as connection:
        if connection.execute("SELECT to_regclass('django_migrations')").fetchone() != (None,):
            digest.update(repr(connection.execute("SELECT * FROM django_migrations ORDER BY id").fetchall()).encode())
    return digest.hexdigest()


def _connection() -> "psycopg.Connection[tuple[object, ...]]":
    return psycopg.connect(os.environ.get("DATABASE_URL") or embedded.postgres_url())
