"""PostgreSQL and Redis for the tests, real ones. Loaded with `-p`, before pytest-django reads the settings.

Without URLs the embedded servers are started, with data of their own, so that a running `make run` is not touched: one
PostgreSQL for all runs of the checkout, and for each process that runs tests a database, a Redis and a data folder.
With DATA_DIR the tests use the servers of that folder, as the product starts them: the fault tests do.
Beside the servers and the data folder nothing of the caller's environment reaches the tests.
"""

import fcntl
import os
import re
import shutil
import subprocess
from pathlib import Path
from unittest import mock

import psycopg
import pytest
from psycopg.sql import SQL, Identifier

from config.env import BASE_DIR, data_dir, is_embedded
from dev import embedded
from dev.children import die_with_parent
from dev.embedded.private import locked, open_private, try_lock
from tests import template_database

# Production needs them beside the URLs.
SECRETS = {"ALLOWED_HOSTS", "CREDENTIALS_KEYS", "SECRET_KEY"}
SET = {
    "DJANGO_SETTINGS_MODULE": "config.settings",
    "LOG_LEVEL": "WARNING",
    "RATE_LIMIT_PER_HOUR": "0",  # most tests are not about limits
    "RATE_LIMIT_PER_SECOND": "0",
    "SECURE_SSL_REDIRECT": "0",  # tests call over plain HTTP; matters with the URLs of external servers only
}

# Not from `config.environment`, which must not be imported before the environment of the tests is set.
_VARIABLES = set(re.findall(r"^#?([A-Z][A-Z_0-9]*)=", (BASE_DIR / ".env.example").read_text(), re.MULTILINE))
_NOT_IN_PRODUCTION = {"ALLOW_PUBLIC_EMBEDDED", "WEBHOOK_ALLOW_LOOPBACK"}

# Those of the product, except what says where the servers of the tests are, and those of Python's locale and time zone
# and of requests and curl.
CLEARED = (_VARIABLES | _NOT_IN_PRODUCTION) - SECRETS - set(SET) - {"DATABASE_URL", "REDIS_URL", "DATA_DIR"} | {
    "LANG", "LANGUAGE", "LC_ALL", "TZ",
    "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy",
}  # fmt: skip  # a list of names

for _name in CLEARED | (SECRETS if is_embedded() else set()):
    os.environ.pop(_name, None)
os.environ.update(SET)
_WORKER = os.environ.get("PYTEST_XDIST_WORKER", "")
_SHARED = BASE_DIR / "var" / "test"
_RUNS = _SHARED / "runs"
# A crash of the machine may cost the databases of the tests, which are made anew.
_POSTGRES_OPTIONS = {
    "fsync": "off",
    "synchronous_commit": "off",
    "full_page_writes": "off",
    "max_connections": "300",  # eight workers, their threads, and a second run
    "log_line_prefix": "%m [%p] %d ",  # with the database, by which a test finds its own messages
}


def _make_data_folder() -> None:
    """Make this process's data folder and lock it until the process ends."""
    _SHARED.mkdir(parents=True, exist_ok=True)
    with locked(_SHARED / "runs.lock"):
        data_dir().mkdir(parents=True, exist_ok=True)
        fcntl.flock(open_private(data_dir() / "lock"), fcntl.LOCK_SH)


OWN_DATA = not _WORKER and "DATA_DIR" in os.environ
if not OWN_DATA:
    _run = os.environ["PYTEST_XDIST_TESTRUNUID"][:8] if _WORKER else os.getpid()
    os.environ["DATA_DIR"] = str(_RUNS / f"{_run}_{_WORKER or 'main'}")
    _make_data_folder()

_postgres: embedded.Postgres | None = None
_redis: "subprocess.Popen[bytes] | None" = None


@pytest.hookimpl(tryfirst=True)  # before pytest-django sets Django up
def pytest_configure(config: pytest.Config) -> None:
    global _postgres, _redis  # noqa: PLW0603  # servers for the session
    if not os.environ.get("DATABASE_URL"):
        _postgres = embedded.hold_postgres() if OWN_DATA else shared_postgres()
    if config.getoption("numprocesses") and not _WORKER:
        return  # the controller runs no test itself
    if not os.environ.get("REDIS_URL"):
        # pytest-xdist kills a worker that takes over ten seconds to end.
        _redis = subprocess.Popen(
            embedded.redis_command(),
            stdin=subprocess.DEVNULL,
            preexec_fn=die_with_parent,  # noqa: PLW1509  # no other thread runs yet
        )
        embedded.wait_for_redis(_redis)


def pytest_unconfigure() -> None:
    if _redis is not None:
        _redis.terminate()
        _redis.wait(10)
    if not OWN_DATA:
        shutil.rmtree(data_dir())
    if _postgres is not None:
        _postgres.release()


def database() -> dict[str, str]:
    """Settings TEST of this process's database, empty where pytest-django is to run the migrations."""
    if OWN_DATA or _postgres is None:
        return {}
    return {"NAME": _database_of(data_dir()), "TEMPLATE": template_database.name()}


def _database_of(folder: Path) -> str:
    return f"test_{folder.name}"


def shared_postgres() -> embedded.Postgres:
    """Start or join the PostgreSQL of the checkout, with the template, and without what killed processes have left."""
    (data_dir() / "postgres").symlink_to(_SHARED / "postgres")
    server = embedded.Postgres(_SHARED / "postgres", _POSTGRES_OPTIONS)
    if not _WORKER:
        with locked(_SHARED / "runs.lock"):
            _remove_abandoned()
            template_database.ensure(embedded.postgres_url())
    return server


def make_tables(url: str) -> None:
    """Make all tables in an empty database of another server, which the migrations would take much longer for."""
    with mock.patch.dict(os.environ, DATA_DIR=str(_SHARED)):
        server = embedded.Postgres(_SHARED / "postgres", _POSTGRES_OPTIONS)
        with locked(_SHARED / "runs.lock"):
            template_database.ensure(embedded.postgres_url())
        server.release()
    template_database.restore(url)


def _remove_abandoned() -> None:
    """Remove the folders that no process holds, and their databases."""
    for folder in _RUNS.iterdir():
        handle = open_private(folder / "lock")
        if try_lock(handle):
            with psycopg.connect(embedded.postgres_url(), autocommit=True) as connection:
                connection.execute(
                    SQL("DROP DATABASE IF EXISTS {} WITH (FORCE)").format(Identifier(_database_of(folder)))
                )
            shutil.rmtree(folder)
        os.close(handle)
