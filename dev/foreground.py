"""Runs a command in a session of its own, and ends it at Ctrl-C: `python dev/foreground.py COMMAND…`.

A terminal sends SIGINT to every process of `make run`; those in Python, of the set-up too, would each print a
traceback. So only this one gets it, and sends SIGTERM to the command, once. It does so too when its own parent has
ended. What the command leaves in its session is killed after it.

Runs on every Python 3, because the set-up says which ones Rota needs.
"""

import os
import signal
import sys
from contextlib import suppress

_LOOK_SECONDS = 0.1
_INTERRUPTED = 130  # the status of shells
_told = False


def _tell(_signal: int, _frame: object) -> None:
    global _told  # noqa: PLW0603  # a handler has no other way
    _told = True


def main() -> int:
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, _tell)
    import subprocess  # takes longer than all before it, in which a signal would end this process with a traceback

    parent = os.getppid()
    child = subprocess.Popen(sys.argv[1:], start_new_session=True)
    is_ending = False
    while True:
        try:
            status = child.wait(_LOOK_SECONDS)
            break
        except subprocess.TimeoutExpired:
            if not is_ending and (_told or os.getppid() != parent):
                is_ending = True
                child.terminate()
    with suppress(ProcessLookupError):  # nothing is left
        os.killpg(child.pid, signal.SIGKILL)
    return _INTERRUPTED if status < 0 else status


if __name__ == "__main__":
    sys.exit(main())
