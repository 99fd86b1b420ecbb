"""Work of a worker process in a thread of its own, so that waiting for others occupies no process of Celery's pool."""

import logging
import threading
from collections.abc import Callable

from django.db import InterfaceError, OperationalError

from common.connections import close_database

_log = logging.getLogger(__name__)


class BackgroundWork:
    """Runs `work` in one thread of this process after each `wake`. The first wake-up starts the thread.

    `work` takes a function that says whether the process is stopping. What it raises is logged; the next wake-up calls
    it again.
    """

    def __init__(self, name: str, work: Callable[[Callable[[], bool]], None]) -> None:
        self._name, self._work = name, work
        self._wanted, self._stopping = threading.Event(), threading.Event()
        self._starting = threading.Lock()
        self._thread: threading.Thread | None = None

    def wake(self) -> None:
        """Run the work in the background. Returns at once. If it is running already, it is run once more afterwards."""
        with self._starting:
            if self._thread is None or not self._thread.is_alive():
                self._thread = threading.Thread(target=self._run, name=self._name, daemon=True)
                self._thread.start()
        self._wanted.set()

    def stop(self, *, seconds: float) -> None:
        """Run nothing more, and wait for what is running for at most `seconds`."""
        self._stopping.set()
        self._wanted.set()
        if self._thread is not None:
            self._thread.join(seconds)

    def _run(self) -> None:
        while self._wanted.wait() and not self._stopping.is_set():
            self._wanted.clear()
            try:
                self._work(self._stopping.is_set)
            except (OperationalError, InterfaceError) as error:
                _log.warning("The database is away; %s goes on with the next wake-up: %s", self._name, error)
                close_database()
            except Exception:  # noqa: BLE001  # the next wake-up may succeed
                _log.exception("The background work %s failed", self._name)
                close_database()
        close_database()
