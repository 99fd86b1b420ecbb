"""Wakes a worker through Celery. A lost or repeated wake-up does no harm, because what is due is in PostgreSQL.

Web processes use this module, so it must not import what sends: see the import contracts in pyproject.toml.
"""

import logging
import time
from collections.abc import Sequence
from datetime import timedelta
from functools import partial
from uuid import UUID

from celery import current_app
from django.db import transaction
from kombu.exceptions import OperationalError
from redis import RedisError

from common import page_updates
from common.connections import redis
from common.page_updates import Message

_log = logging.getLogger(__name__)
# The tasks that it starts.
SEND_DUE = "delivery.webhooks.send_due"
ADVANCE_SIMULATIONS = "delivery.advance_simulations"
RENEW_ARRIVALS = "delivery.renew_arrivals"
PUSH_OFFER = "delivery.push_offer"
# The key of a task exists while a wake-up is waiting for a worker. It expires, in case that wake-up was lost.
_PENDING_KEYS = {task: f"rota:wake-up-pending:{task}" for task in (SEND_DUE, ADVANCE_SIMULATIONS, RENEW_ARRIVALS)}
_PENDING_SECONDS = 2
# After a failure the broker is not used for this long, so that its outage does not delay every request.
_BACK_OFF_SECONDS = 2
_next_use = 0.0  # on the monotonic clock


def send_on_commit(task: str) -> None:
    """Wake a worker once this transaction has committed."""
    transaction.on_commit(partial(send, task), robust=True)


def send(task: str = SEND_DUE, *, messages: Sequence[Message] = ()) -> None:
    """Wake a worker, unless an earlier wake-up is still waiting for one. Raises nothing when the broker is away.

    `messages` are sent to open pages in the same round trip.
    Celery beat wakes workers every two seconds, so a failure delays webhooks until shortly after the broker is back.
    """
    global _next_use  # noqa: PLW0603  # one back-off for each process
    if time.monotonic() < _next_use:
        return
    try:
        with redis().pipeline(transaction=False) as pipeline:
            page_updates.add_to(pipeline, messages)
            pipeline.set(_PENDING_KEYS[task], 1, nx=True, px=timedelta(seconds=_PENDING_SECONDS))
            is_first = pipeline.execute()[-1]
        if is_first:
            current_app.send_task(task)
    except (OperationalError, RedisError) as error:
        _next_use = time.monotonic() + _BACK_OFF_SECONDS
        _log.warning("No worker was woken; beat will do it: %s", error)


def push_offer(delivery_id: UUID) -> None:
    """Have a worker tell drivers of the offer by Web Push. Raises nothing when the broker is away."""
    global _next_use  # noqa: PLW0603  # one back-off for each process
    if time.monotonic() < _next_use:
        return
    try:
        current_app.send_task(PUSH_OFFER, kwargs={"delivery": str(delivery_id)})
    except OperationalError as error:
        _next_use = time.monotonic() + _BACK_OFF_SECONDS
        _log.warning("Drivers were not told of an offer by Web Push: %s", error)


def received(task: str = SEND_DUE) -> None:
    """Let the next change send a wake-up again. A worker calls this before it reads what is due."""
    try:
        redis().delete(_PENDING_KEYS[task])
    except RedisError as error:  # the key expires soon
        _log.warning("Redis is away: %s", error)
