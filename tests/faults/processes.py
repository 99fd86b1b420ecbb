"""The product's own processes, started and stopped as in operation."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from unittest import mock

import psutil

from config.env import BASE_DIR, data_dir
from config.processes import commands
from tests.faults.waiting import DEADLINE_SECONDS, until_web_answers
from tests.ports import free_port

_WITH_PARENT_DEATH_SIGNAL = Path(__file__).with_name("with_parent_death_signal.py")
# Variables of a developer's shell that would change how a worker connects.
_NETWORK_VARIABLES = {"http_proxy", "https_proxy", "all_proxy", "no_proxy", "netrc", "ssl_cert_file", "ssl_cert_dir"}


class Process:
    """A process of the product, of the code in `folder`, and its children, in a session of its own."""

    def __init__(self, name: str, command: list[str], environment: Mapping[str, str], *, folder: Path) -> None:
        self.name, self.command, self.environment, self.folder = name, command, environment, folder
        self.log = data_dir() / "logs" / f"{name}.log"
        self.start()

    def start(self) -> None:
        self.log.parent.mkdir(parents=True, exist_ok=True)
        kept = {name: value for name, value in os.environ.items() if name.lower() not in _NETWORK_VARIABLES}
        with self.log.open("a") as log:
            self._popen = subprocess.Popen(
                [sys.executable, str(_WITH_PARENT_DEATH_SIGNAL), *self.command[1:]],
                cwd=self.folder,
                env={**kept, "LOG_LEVEL": "INFO", **self.environment},
                start_new_session=True,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
            )

    @property
    def pid(self) -> int:
        return self._popen.pid

    @property
    def is_running(self) -> bool:
        return self._popen.poll() is None

    def children(self) -> list[psutil.Process]:
        """The pool of a Celery worker."""
        with suppress(psutil.NoSuchProcess):
            return psutil.Process(self.pid).children(recursive=True)
        return []

    def kill(self) -> None:
        """Send SIGKILL to the process and its children at the same time."""
        with suppress(ProcessLookupError):
            os.killpg(self.pid, signal.SIGKILL)
        self._popen.wait(DEADLINE_SECONDS)

    def end(self) -> float:
        """Send SIGTERM. Returns the seconds until the exit; raises subprocess.TimeoutExpired after the deadline."""
        started = time.monotonic()
        self._popen.terminate()
        try:
            self._popen.wait(DEADLINE_SECONDS)
            return time.monotonic() - started
        finally:
            self.kill()


class WebServer(Process):
    """Listens at `base`."""

    def __init__(self, command: list[str], environment: Mapping[str, str], *, port: int, folder: Path) -> None:
        self.base = f"http://127.0.0.1:{port}"
        super().__init__("web", command, environment, folder=folder)

    def start(self) -> None:
        """Returns once it answers."""
        super().start()
        until_web_answers(self.base)


class Processes:
    """Starts processes, and kills all of them at the end."""

    def __init__(self) -> None:
        self._processes: list[Process] = []

    def start(self, name: str, *, module: str = "", folder: Path = BASE_DIR, **environment: str) -> Process:
        """Start `worker` or `beat` as `make run` does; `module` runs in the place of the command's own."""
        process = Process(name, _command(name, 0, module, environment), environment, folder=folder)
        self._processes.append(process)
        return process

    def start_web(self, *, module: str = "", port: int = 0, folder: Path = BASE_DIR, **environment: str) -> WebServer:
        """Start a web server, at a free port unless one is named, and wait until it answers."""
        port = port or free_port()
        server = WebServer(_command("web", port, module, environment), environment, port=port, folder=folder)
        self._processes.append(server)
        return server

    def kill_all(self) -> None:
        for process in self._processes:
            process.kill()
        self._processes.clear()


def _command(name: str, port: int, module: str, environment: Mapping[str, str]) -> list[str]:
    with mock.patch.dict(os.environ, environment):  # commands have some variables as arguments
        command = commands(port)[name]
    return [*command[:2], module, *command[3:]] if module else command
