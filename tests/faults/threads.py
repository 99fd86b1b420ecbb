"""Threads that work while a test does something else."""

import threading
from collections.abc import Callable, Sequence
from typing import Self

from django.db import connection


class Threads:
    """Runs each of `runs` in a thread within a `with` block. Its end sets `stopping` and raises what one has raised."""

    def __init__(self, runs: Sequence[Callable[[], None]]) -> None:
        self.stopping = threading.Event()
        self.errors: list[Exception] = []
        self._threads = [threading.Thread(target=self._run, args=(run,)) for run in runs]

    def __enter__(self) -> Self:
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *_error: object) -> None:
        self.stopping.set()
        for thread in self._threads:
            thread.join()
        if self.errors:
            raise self.errors[0]

    def _run(self, run: Callable[[], None]) -> None:
        try:
            run()
        except Exception as error:  # noqa: BLE001  # raised by `__exit__`
            self.errors.append(error)
        finally:
            connection.close()  # this thread's, if it has used one
