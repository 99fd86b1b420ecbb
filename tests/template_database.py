"""The database that each test process copies instead of running the migrations itself, and a dump for other servers.

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
from dev.embedded.account import Account
from tests.sources import PACKAGES

_PREFIX = "template_"
_DRAFT = "template_draft"
_SECONDS = 600  # on a busy machine; otherwise 15
_FOLDER = BASE_DIR / "var" / "test"
_SINCE_17 = "SET transaction_timeout = 0;\n"  # of the dump, which older servers restore too


def ensure(url: str) -> None:
    """Make the template on the server of `url` and its dump if they are missing, and drop those of other migrations.

    For one process at a time.
    """
    with psycopg.connect(url, autocommit=True) as connection:
        found = {row[0] for row in connection.execute("SELECT datname FROM pg_database")}
        if name() in found and _dump().exists():
            return
        for old in found:
            if old.startswith(_PREFIX):
                connection.execute(SQL("DROP DATABASE {} WITH (FORCE)").format(Identifier(old)))
        for dump in _FOLDER.glob(f"{_PREFIX}*"):
            dump.unlink()
        connection.execute(SQL("CREATE DATABASE {}").format(Identifier(_DRAFT)))
        print("Running the migrations once, for the databases of the tests …", flush=True)  # noqa: T201  # progress
        subprocess.run([sys.executable, "-m", "tests.template_database", _DRAFT], check=True, timeout=_SECONDS)
        dumped = _run("pg_dump", "--no-owner", f"{url.rpartition('/')[0]}/{_DRAFT}")
        _dump().write_text(dumped.replace(_SINCE_17, ""))
        connection.execute(SQL("ALTER DATABASE {} RENAME TO {}").format(Identifier(_DRAFT), Identifier(name())))


def restore(url: str) -> None:
    """Make in an empty database, of PostgreSQL 15 or later, what the template has."""
    options = ("--quiet", "--no-psqlrc", "--output=/dev/null", "--single-transaction", "--set=ON_ERROR_STOP=1")
    _run("psql", *options, f"--file={_dump()}", url)


@cache
def name() -> str:
    """Of the template that fits the migrations of this project and of the packages that it uses."""
    digest = hashlib.sha256()
    for path in sorted((*_migrations(), BASE_DIR / "requirements-dev.lock", Path(__file__))):
        digest.update(path.relative_to(BASE_DIR).as_posix().encode() + b"\0" + path.read_bytes())
    return _PREFIX + digest.hexdigest()[:16]


def _dump() -> Path:
    return _FOLDER / f"{name()}.sql"


def _migrations() -> Iterator[Path]:
    for package in PACKAGES:
        yield from (BASE_DIR / package).rglob("migrations/*.*")


def _run(program: str, *arguments: str) -> str:
    """Run one of PostgreSQL's programs. Returns what it printed; raises CalledProcessError."""
    command = [str(Account.for_server().programs / program), *arguments]
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True, timeout=_SECONDS).stdout


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
