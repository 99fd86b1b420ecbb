"""Celery's part: a wake-up call. What is due stands in the table, so a lost or doubled call does no harm."""

import logging
import time
from dataclasses import dataclass

from celery import shared_task
from kombu.exceptions import OperationalError

from delivery.webhooks import dispatch

_log = logging.getLogger(__name__)
# A worker hands over after this long, so that a shutdown never waits for a long backlog.
_SHIFT_SECONDS = 20
# After a failed call the broker is left alone this long, so that its absence costs a request next to nothing.
_SILENT_SECONDS = 2


@dataclass
class _Broker:
    """What this process remembers of a broker that did not answer. `silent_until` on the monotonic clock."""

    silent_until: float = 0.0


_broker = _Broker()


@shared_task(name="delivery.webhooks.send_due")
def send_due() -> None:
    """Send everything that is due."""
    end = time.monotonic() + _SHIFT_SECONDS
    while dispatch.send_batch():
        if time.monotonic() > end:
            wake()
            return


def wake() -> None:
    """Ask a worker to look. With Redis away beat does it two seconds after its return, so nothing is lost."""
    if time.monotonic() < _broker.silent_until:
        return
    try:
        send_due.apply_async(expires=60)
    except OperationalError as error:
        _broker.silent_until = time.monotonic() + _SILENT_SECONDS
        _log.warning("No worker woken, beat will do it: %s", error)
