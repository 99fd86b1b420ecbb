"""Wakes a worker through Celery, by the name of a task. Web processes use it, so they import none of the tasks.

A lost or repeated wake-up does no harm, because what is due is in PostgreSQL.
"""

import logging
import threading
from collections.abc import Callable, Sequence
from datetime import timedelta
from functools import partial

from celery import current_app
from django.db import InterfaceError, OperationalError, transaction
from kombu.exceptions import OperationalError as BrokerError
from redis import RedisError

from common.connections import BackOff, close_database, redis
from common.pages import page_updates
from common.pages.page_updates import Message

_log = logging.getLogger(__name__)
# How long the key of a task that waits for a worker exists, in case that wake-up was lost.
_PENDING_SECONDS = 2
_back_off = BackOff(2)


def send_on_commit(task: str) -> None:
    transaction.on_commit(partial(send, task), robust=True)


def send(task: str, *, messages: Sequence[Message] = ()) -> None:
    """Wake a worker, unless an earlier wake-up is still waiting for one. Raises nothing when the broker is away.

    `messages` are sent to open pages in the same round trip.
    Celery beat starts the same work periodically, so a failure delays it until shortly after the broker is back.
    """
    if _back_off.is_on:
        return
    try:
        with redis().pipeline(transaction=False) as pipeline:
            page_updates.add_to(pipeline, messages)
            pipeline.set(_pending_key(task), 1, nx=True, px=timedelta(seconds=_PENDING_SECONDS))
            is_first = pipeline.execute()[-1]
        if is_first:
            current_app.send_task(task)
    except (BrokerError, RedisError) as error:
        _back_off.begin()
        _log.warning("No worker was woken; beat will do it: %s", error)


def start(task: str, *, after: timedelta | None = None, **arguments: str) -> None:
    """Have a worker run a task, now or `after` a time. Raises nothing when the broker is away: then it is lost."""
    if _back_off.is_on:
        return
    try:
        current_app.send_task(task, kwargs=arguments, countdown=after.total_seconds() if after else None)
    except BrokerError as error:
        _back_off.begin()
        _log.warning("The task %s was not sent: %s", task, error)


def received(task: str) -> None:
    """Let the next change send a wake-up again. A worker calls this before it reads what is due."""
    try:
        redis().delete(_pending_key(task))
    except RedisError as error:  # the key expires soon
        _log.warning("Redis is away: %s", error)


def _pending_key(task: str) -> str:
    """Exists while a wake-up of the task is waiting for a worker."""
    return f"rota:wake-up-pending:{task}"


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
