"""Two states of the project beside each other: this one, and that of an earlier commit.

Each has a PostgreSQL and a Redis of its own and is filled by its own commands. Nothing else of the earlier commit's
code is known here, but for the commands of its processes.
"""

import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks import api_calls, processes
from config.env import BASE_DIR
from dev import embedded
from tests.ports import free_port

_DATA = BASE_DIR / "var" / "bench" / "check"
_START_SECONDS = 60
_COMMANDS = (
    "import json, os; from config.processes import commands; print(json.dumps(commands(int(os.environ['PORT']))))"
)
# What PostgreSQL does for itself at a time of its own would count for one side.
_POSTGRES = {"autovacuum": "off", "checkpoint_timeout": "1h"}
_ENVIRONMENT = {
    "HOST": "127.0.0.1",
    "WEB_WORKERS": "2",
    "SECURE_SSL_REDIRECT": "0",
    "LOG_LEVEL": "INFO",
    **api_calls.FAR_LIMITS,
    "PYTHONHASHSEED": "0",  # sets and dictionaries are alike in both
    "ROTA_SUPERUSER": "benchmark",
    "ROTA_SUPERUSER_PASSWORD": "seldom typed by anyone",  # pragma: allowlist secret
}


@dataclass(frozen=True)
class State:
    """One that is set up and serves nothing yet. `name` is `earlier` or `current`."""

    name: str
    _tree: Path
    _python: str
    _data: Path
    _environment: dict[str, str]

    @property
    def base(self) -> str:
        return f"http://127.0.0.1:{self._environment['PORT']}"

    def manage(self, *arguments: str) -> Any:
        """What a command of its own prints, JSON."""
        return json.loads(self._run("manage.py", *arguments))

    def _run(self, *arguments: str) -> bytes:
        command, environment = [self._python, *arguments], os.environ | self._environment
        return subprocess.run(command, cwd=self._tree, env=environment, check=True, stdout=subprocess.PIPE).stdout

    @contextmanager
    def serving(self, *names: str) -> Iterator[dict[str, int]]:
        """Start these processes, `web` before the others: the ids of all by name, with PostgreSQL and Redis."""
        with ExitStack() as stack:
            pids = {}
            for name in names:
                log = stack.enter_context((self._data / f"{name}.log").open("wb"))
                command = json.loads(self._run("-c", _COMMANDS))[name]
                port = int(self._environment["PORT"])  # a worker has none: the web server listens already
                pids[name] = stack.enter_context(
                    processes.server(command, port, self._environment, folder=self._tree, output=log)
                )
            if "worker" in names:
                self._await_worker()
            yield {**pids, **processes.embedded_pids(self._data)}

    def _await_worker(self) -> None:
        """Raises TimeoutError."""
        end = time.monotonic() + _START_SECONDS
        while time.monotonic() < end:
            with suppress(subprocess.CalledProcessError):
                self._run("-m", "celery", "--app", "config", "inspect", "ping", "--timeout", "10")
                return
        raise TimeoutError("The worker did not start.")


def commit_of(arguments: Sequence[str]) -> str:
    """The commit that is named, by default that of the last release."""
    return _git("rev-parse", "--short", *(arguments or [_git("describe", "--tags", "--abbrev=0") + "^{commit}"]))


def current_commit() -> str:
    return _git("describe", "--always", "--dirty", "--exclude=*")


@contextmanager
def two(commit: str, *, is_production: bool) -> Iterator[tuple[State, State]]:
    """The earlier state and the current one, set up as in production or as `make run` does, where webhooks reach us."""
    tree = _tree(commit)
    with (
        _state("earlier", tree, _python(tree), is_production=is_production) as earlier,
        _state("current", BASE_DIR, sys.executable, is_production=is_production) as current,
    ):
        yield earlier, current


def _git(*arguments: str) -> str:
    return subprocess.run(["git", *arguments], cwd=BASE_DIR, check=True, capture_output=True, text=True).stdout.strip()


def _tree(commit: str) -> Path:
    """The files of the commit."""
    tree = _DATA / "tree"
    shutil.rmtree(tree, ignore_errors=True)
    tree.mkdir(parents=True)
    archive = subprocess.run(["git", "archive", commit], cwd=BASE_DIR, check=True, stdout=subprocess.PIPE).stdout
    subprocess.run(["tar", "-x"], cwd=tree, input=archive, check=True)
    # The web server does not start without these, and the calls do not use them.
    (tree / "node_modules").symlink_to(BASE_DIR / "node_modules")
    return tree


def _python(tree: Path) -> str:
    """An interpreter with the packages of the tree's lock file: this one if they are the same."""
    lock = Path("requirements-dev.lock")
    if (tree / lock).read_bytes() == (BASE_DIR / lock).read_bytes():
        return sys.executable
    python = str(tree / ".venv" / "bin" / "python")
    uv = str(Path(sys.executable).with_name("uv"))
    subprocess.run([uv, "venv", "--quiet", "--python", sys.executable, tree / ".venv"], check=True)
    subprocess.run([uv, "pip", "sync", "--quiet", "--python", python, "--require-hashes", tree / lock], check=True)
    return python


@contextmanager
def _state(name: str, tree: Path, python: str, *, is_production: bool) -> Iterator[State]:
    data = _DATA / name
    os.environ["DATA_DIR"] = str(data)
    if data.exists():
        embedded.Postgres(data / "postgres").release()  # one that a killed run has left
        shutil.rmtree(data)
    with processes.embedded_servers(data, _POSTGRES):
        environment = {**_ENVIRONMENT, "PORT": str(free_port()), "DATA_DIR": str(data)}
        if is_production:
            environment |= embedded.environment()
        state = State(name, tree, python, data, environment)
        state.manage("bootstrap")
        yield state
