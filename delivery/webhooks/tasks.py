"""The Celery tasks of webhooks. Imported by workers only."""

from typing import Any

from celery import shared_task
from celery.signals import worker_process_shutdown, worker_shutdown

from common.clock import agreed_now
from delivery.webhooks import dispatch, history, wake_up

# A request takes 15 s at most, and whatever stops a worker waits 20 s before it kills it.
_STOP_SECONDS = 18


@shared_task(name=wake_up.SEND_DUE)
def send_due() -> None:
    """Have the sender of this process send everything that is due. Returns at once."""
    wake_up.received()
    dispatch.wake()


@shared_task(name="delivery.webhooks.prune")
def prune() -> None:
    """Delete the attempts that are older than 30 days."""
    history.prune(at=agreed_now())


@worker_process_shutdown.connect
@worker_shutdown.connect  # for pools without processes of their own
def _stop(**_kwargs: Any) -> None:
    dispatch.stop(seconds=_STOP_SECONDS)
