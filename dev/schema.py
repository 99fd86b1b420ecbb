"""The tables of `make run`: whether the database has all migrations, and a new one made without running them.

Whether it has them is found without loading Django. A new embedded database begins with `schema.sql.gz`, a dump of what
the migrations of some day have made: running them takes five times as long, because Django makes the classes of most
models anew for each of 600 operations. Later ones follow by `migrate`. Released migrations only grow, so an old dump
stays right, which a test proves. To make a new one, when many have come since:
`gzip -9n < var/test/template_*.sql > dev/schema.sql.gz` after `make test`.
"""

import gzip
import hashlib
import os
import subprocess

import psycopg

from config.env import BASE_DIR, PACKAGES, StartRefused, data_dir
from dev import embedded
from dev.embedded.account import Account

_DUMP = BASE_DIR / "dev" / "schema.sql.gz"
_SECONDS = 120


def is_current() -> bool:
    """Whether neither the migrations nor the database have changed since `note_current`."""
    noted = data_dir() / "schema"
    return noted.exists() and noted.read_text() == _state()


def note_current() -> None:
    """To be called when `migrate` has ended."""
    (data_dir() / "schema").write_text(_state())


def begin() -> None:
    """Restore the dump if the database is empty. All of it or nothing. Raises StartRefused."""
    with _connection() as connection:
        tables = "SELECT count(*) FROM pg_class WHERE relnamespace = 'public'::regnamespace"
        if connection.execute(tables).fetchone() != (0,):
            return
    program = Account.for_server().programs / "psql"
    options = ("--quiet", "--no-psqlrc", "--output", os.devnull, "--single-transaction", "--set", "ON_ERROR_STOP=1")
    dump = gzip.decompress(_DUMP.read_bytes())
    try:
        subprocess.run([program, *options, _url()], input=dump, check=True, timeout=_SECONDS)
    except subprocess.SubprocessError as error:
        raise StartRefused(f"The tables could not be made from {_DUMP.name}: {error}") from error


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
    return psycopg.connect(_url())


def _url() -> str:
    return os.environ.get("DATABASE_URL") or embedded.postgres_url()
