"""The thread of a worker process that advances simulated deliveries, started by the first wake-up.

It waits for what is due shortly in a thread, because a task that waited would occupy a process of the pool.
"""

import logging
import threading
from datetime import timedelta

from django.db import Error, InterfaceError, OperationalError, connection

from common import clock
from delivery.actions import simulations
from delivery.models import Simulation

_log = logging.getLogger(__name__)
# Waits itself for what falls due within this time, which is longer than the interval of Celery beat's wake-ups.
_LOOK_AHEAD = timedelta(seconds=4)


class _SimulationThread(threading.Thread):
    def __init__(self) -> None:
        super().__init__(name="simulations", daemon=True)
        self._wanted = threading.Event()
        self._stopping = threading.Event()

    def run(self) -> None:
        while not self._stopping.is_set():
            self._wanted.wait()
            self._wanted.clear()
            try:
                self._advance()
            except (OperationalError, InterfaceError) as error:
                _log.warning("The database is away; simulations go on with the next wake-up: %s", error)
                _close_connection()
            except Exception:  # noqa: BLE001  # the next wake-up may succeed
                _log.exception("Simulations cannot be advanced")
                _close_connection()
        _close_connection()

    def wake(self) -> None:
        self._wanted.set()

    def stop(self, *, seconds: float) -> None:
        self._stopping.set()
        self._wanted.set()
        self.join(seconds)

    def _advance(self) -> None:
        """Advance what is due, and what falls due shortly. Without simulations this is one query."""
        due_at = Simulation.objects.next_due()
        while due_at is not None and not self._stopping.is_set():
            pause = due_at - clock.now()
            if pause > _LOOK_AHEAD:
                return
            self._wanted.wait(max(pause.total_seconds(), 0))
            self._wanted.clear()
            now = clock.now()
            while simulations.advance_due(at=now) and not self._stopping.is_set():
                now = clock.now()
            due_at = Simulation.objects.next_due(after=now)  # not those that another process is advancing


def _close_connection() -> None:
    try:
        connection.close()
    except Error as error:
        _log.warning("A broken connection could not be closed: %s", error)


_thread: _SimulationThread | None = None
_starting = threading.Lock()


def wake() -> None:
    """Advance the simulations that are due, in the background. Returns at once."""
    global _thread  # noqa: PLW0603  # one for each process
    with _starting:
        if _thread is None or not _thread.is_alive():
            _thread = _SimulationThread()
            _thread.start()
    _thread.wake()


def stop(*, seconds: float) -> None:
    """Wait until the step that is being made has ended, for at most `seconds`."""
    if _thread is not None:
        _thread.stop(seconds=seconds)
