"""The database that each test process copies instead of running the migrations itself.

Its name holds a digest of everything that makes it, so that it is made once for a checkout and again after a change of
the migrations. `python -m tests.template_database NAME` fills the database NAME, in a process of its own because Django
must not be set up before pytest-django does it.
"""

import gc
import hashlib
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import psycopg
from psycopg.sql import SQL, Identifier

from config.env import BASE_DIR
from tests.sources import PACKAGES

_PREFIX = "template_"
_DRAFT = "template_draft"
_SECONDS = 600  # on a busy machine; otherwise 15


def ensure(url: str) -> None:
    """Make the template on the server of `url` if it is missing, and drop those of other migrations.

    For one process at a time.
    """
    with psycopg.connect(url, autocommit=True) as connection:
        found = {row[0] for row in connection.execute("SELECT datname FROM pg_database")}
        if name() in found:
            return
        for old in found:
            if old.startswith(_PREFIX):
                connection.execute(SQL("DROP DATABASE {} WITH (FORCE)").format(Identifier(old)))
        connection.execute(SQL("CREATE DATABASE {}").format(Identifier(_DRAFT)))
        print("Running the migrations once, for the databases of the tests …", flush=True)  # noqa: T201  # progress
        subprocess.run([sys.executable, "-m", "tests.template_database", _DRAFT], check=True, timeout=_SECONDS)
        connection.execute(SQL("ALTER DATABASE {} RENAME TO {}").format(Identifier(_DRAFT), Identifier(name())))


@cache
def name() -> str:
    """Of the template that fits the migrations of this project and of the packages that it uses."""
    digest = hashlib.sha256()
    for path in sorted((*_migrations(), BASE_DIR / "requirements-dev.lock", Path(__file__))):
        digest.update(path.relative_to(BASE_DIR).as_posix().encode() + b"\0" + path.read_bytes())
    return _PREFIX + digest.hexdigest()[:16]


def _migrations() -> Iterator[Path]:
    for package in PACKAGES:
        yield from (BASE_DIR / package).rglob("migrations/*.*")


def _fill(name: str) -> None:
    import django  # this process only

    gc.disable()  # a fifth of the time: each migration makes the classes of many models, and the process ends soon
    django.setup()
    from django.core.management import call_command
    from django.db import connection

    connection.settings_dict["NAME"] = name
    call_command("migrate", verbosity=0)


if __name__ == "__main__":
    _fill(sys.argv[1])
