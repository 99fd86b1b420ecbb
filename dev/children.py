"""Child processes of `make run`, restarted when they exit."""

import ctypes
import os
import signal
import subprocess
import sys
import time
from contextlib import suppress
from dataclasses import dataclass

from config.env import BASE_DIR

_PR_SET_PDEATHSIG = 1
_SHORTEST_PAUSE = 0.5
_LONGEST_PAUSE = 10.0
_STABLE_SECONDS = 30
_START_SECONDS = 3


@dataclass
class Child:
    """A process that is restarted on exit, with a back-off of 1 to 10 s, or 0.5 s after 30 s of uptime."""

    name: str
    command: list[str]
    process: "subprocess.Popen[bytes] | None" = None
    started_at: float = 0.0
    pause: float = _SHORTEST_PAUSE
    due_at: float = 0.0

    def start(self) -> "subprocess.Popen[bytes]":
        self.process = subprocess.Popen(
            self.command, cwd=BASE_DIR, start_new_session=True, preexec_fn=die_with_parent, stdin=subprocess.DEVNULL
        )
        self.started_at = time.monotonic()
        return self.process

    def restart_if_exited(self) -> None:
        """Detect an exit, and restart the process after its pause."""
        if self.process is not None and self.process.poll() is not None:
            self._kill_session()
            uptime = time.monotonic() - self.started_at
            self.pause = _SHORTEST_PAUSE if uptime > _STABLE_SECONDS else min(self.pause * 2, _LONGEST_PAUSE)
            self.due_at = time.monotonic() + self.pause
            log(f"{self.name} ended with {self.process.returncode}; starting again in {self.pause:.1f} s")
            self.process = None
        if self.process is None and time.monotonic() >= self.due_at:
            try:
                self.start()
            except OSError as error:  # out of memory or of processes, which may be temporary
                self.due_at = time.monotonic() + _LONGEST_PAUSE
                log(f"{self.name} cannot be started ({error}); trying again in {_LONGEST_PAUSE:.0f} s")

    @property
    def is_started(self) -> bool:
        """Has been running for longer than its start takes."""
        return self.process is not None and time.monotonic() - self.started_at > _START_SECONDS

    def stop(self, deadline: float) -> None:
        if self.process is None:
            return
        try:
            self.process.wait(max(deadline - time.monotonic(), 0.1))
        except subprocess.TimeoutExpired:
            log(f"{self.name} did not stop in time and is killed")
        self._kill_session()
        self.process.wait()

    def _kill_session(self) -> None:
        """Kill the other processes of its session, such as workers of the web server that still hold the port."""
        if self.process is not None:
            with suppress(ProcessLookupError):
                os.killpg(self.process.pid, signal.SIGKILL)

    def signal_end(self) -> None:
        if self.process is not None and self.process.poll() is None:
            self.process.terminate()


def die_with_parent() -> None:
    """Ask the kernel for a SIGTERM when the parent dies. Linux only; elsewhere a killed run leaves orphans."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGTERM)


def log(text: str) -> None:
    print(f"rota | {text}", flush=True)
