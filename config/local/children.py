"""Processes that `make run` keeps alive."""

import ctypes
import os
import signal
import subprocess
import sys
import time
from contextlib import suppress
from dataclasses import dataclass, field

from config.env import BASE_DIR

_PR_SET_PDEATHSIG = 1
_LONGEST_PAUSE = 10.0
_STEADY_SECONDS = 30
_START_SECONDS = 3


@dataclass
class Child:
    """A process that is started again whenever it dies, sooner the longer it had lived."""

    name: str
    command: list[str]
    process: "subprocess.Popen[bytes] | None" = None
    started_at: float = 0.0
    pause: float = 0.5
    due_at: float = field(default=0.0)

    def start(self) -> "subprocess.Popen[bytes]":
        self.process = subprocess.Popen(
            self.command, cwd=BASE_DIR, start_new_session=True, preexec_fn=die_with_parent, stdin=subprocess.DEVNULL
        )
        self.started_at = time.monotonic()
        return self.process

    def tend(self) -> None:
        """Notice a death, and start again once its pause has passed."""
        if self.process is not None and self.process.poll() is not None:
            self._kill_rest()
            lived = time.monotonic() - self.started_at
            self.pause = 0.5 if lived > _STEADY_SECONDS else min(self.pause * 2, _LONGEST_PAUSE)
            self.due_at = time.monotonic() + self.pause
            say(f"{self.name} ended with {self.process.returncode}; starting again in {self.pause:.1f} s")
            self.process = None
        if self.process is None and time.monotonic() >= self.due_at:
            try:
                self.start()
            except OSError as error:  # no memory, no process left: later there may be
                self.due_at = time.monotonic() + _LONGEST_PAUSE
                say(f"{self.name} cannot be started ({error}); trying again in {_LONGEST_PAUSE:.0f} s")

    @property
    def is_settled(self) -> bool:
        """Running, and long enough for its start to be over."""
        return self.process is not None and time.monotonic() - self.started_at > _START_SECONDS

    def stop(self, deadline: float) -> None:
        if self.process is None:
            return
        try:
            self.process.wait(max(deadline - time.monotonic(), 0.1))
        except subprocess.TimeoutExpired:
            say(f"{self.name} did not stop in time and is killed")
        self._kill_rest()
        self.process.wait()

    def _kill_rest(self) -> None:
        """End what a process that died left in its session, such as a web server's workers on the port."""
        if self.process is not None:
            with suppress(ProcessLookupError):
                os.killpg(self.process.pid, signal.SIGKILL)

    def signal_end(self) -> None:
        if self.process is not None and self.process.poll() is None:
            self.process.terminate()


def die_with_parent() -> None:
    """Have the kernel send SIGTERM when the parent dies. Linux only; elsewhere a killed run leaves its children."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGTERM)


def say(text: str) -> None:
    print(f"rota | {text}", flush=True)
