"""Celery's part: a wake-up call. What is due stands in the table, so a lost or doubled call does no harm."""

import logging
import time
from dataclasses import dataclass
from datetime import timedelta
from functools import cache
from typing import Any

from celery import shared_task
from celery.signals import worker_process_shutdown, worker_shutdown
from django.conf import settings
from django.utils import timezone
from kombu.exceptions import OperationalError
from redis import Redis, RedisError

from delivery.webhooks import dispatch, history

_log = logging.getLogger(__name__)
# After a failed call the broker is left alone this long, so that its absence costs a request next to nothing.
_SILENT_SECONDS = 2
# Set while a call is on its way; it ends by itself, should the call be lost.
_CALLED = "rota:webhooks:called"
_CALL_SECONDS = 2
# A request lasts 15 s at most, and whoever stops a worker waits 20 s before he kills it.
_STOP_SECONDS = 18


@dataclass
class _Broker:
    """What this process remembers of a broker that did not answer. `silent_until` on the monotonic clock."""

    silent_until: float = 0.0


_broker = _Broker()


@shared_task(name="delivery.webhooks.send_due")
def send_due() -> None:
    """Have this worker process send everything that is due."""
    try:
        # Before it looks: a change that is committed from now on calls again.
        _redis().delete(_CALLED)
    except RedisError as error:  # it ends by itself soon
        _log.warning("Redis is away: %s", error)
    dispatch.look()


@shared_task(name="delivery.webhooks.prune")
def prune() -> None:
    """Drop the attempts that are older than 30 days."""
    history.prune(at=timezone.now())


@worker_process_shutdown.connect
@worker_shutdown.connect  # for pools without processes of their own
def _stop(**_kwargs: Any) -> None:
    dispatch.stop(seconds=_STOP_SECONDS)


def wake() -> None:
    """Have a worker look, unless one has been called that has not looked yet.

    With Redis away beat does it two seconds after its return, so nothing is lost.
    """
    if time.monotonic() < _broker.silent_until:
        return
    try:
        if _redis().set(_CALLED, 1, nx=True, px=timedelta(seconds=_CALL_SECONDS)):
            send_due.apply_async(expires=60)
    except (OperationalError, RedisError) as error:
        _broker.silent_until = time.monotonic() + _SILENT_SECONDS
        _log.warning("No worker woken, beat will do it: %s", error)


@cache
def _redis() -> Redis:
    return Redis.from_url(settings.REDIS_URL, socket_connect_timeout=1, socket_timeout=1)
