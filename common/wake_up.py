"""Wakes a worker through Celery, by the name of a task. Web processes use it, so they import none of the tasks.

A lost or repeated wake-up does no harm, because what is due is in PostgreSQL.
"""

import logging
import time
from collections.abc import Sequence
from datetime import timedelta
from functools import partial

from celery import current_app
from django.db import transaction
from kombu.exceptions import OperationalError
from redis import RedisError

from common import page_updates
from common.connections import redis
from common.page_updates import Message

_log = logging.getLogger(__name__)
# How long the key of a task that waits for a worker exists, in case that wake-up was lost.
_PENDING_SECONDS = 2
# After a failure the broker is not used for this long, so that its outage does not delay every request.
_BACK_OFF_SECONDS = 2
_next_use = 0.0  # on the monotonic clock


def send_on_commit(task: str) -> None:
    """Wake a worker once this transaction has committed."""
    transaction.on_commit(partial(send, task), robust=True)


def send(task: str, *, messages: Sequence[Message] = ()) -> None:
    """Wake a worker, unless an earlier wake-up is still waiting for one. Raises nothing when the broker is away.

    `messages` are sent to open pages in the same round trip.
    Celery beat starts the same work periodically, so a failure delays it until shortly after the broker is back.
    """
    global _next_use  # noqa: PLW0603  # one back-off for each process
    if time.monotonic() < _next_use:
        return
    try:
        with redis().pipeline(transaction=False) as pipeline:
            page_updates.add_to(pipeline, messages)
            pipeline.set(_pending_key(task), 1, nx=True, px=timedelta(seconds=_PENDING_SECONDS))
            is_first = pipeline.execute()[-1]
        if is_first:
            current_app.send_task(task)
    except (OperationalError, RedisError) as error:
        _next_use = time.monotonic() + _BACK_OFF_SECONDS
        _log.warning("No worker was woken; beat will do it: %s", error)


def start(task: str, **arguments: str) -> None:
    """Have a worker run a task that is lost if it cannot be sent. Raises nothing when the broker is away."""
    global _next_use  # noqa: PLW0603  # one back-off for each process
    if time.monotonic() < _next_use:
        return
    try:
        current_app.send_task(task, kwargs=arguments)
    except OperationalError as error:
        _next_use = time.monotonic() + _BACK_OFF_SECONDS
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
