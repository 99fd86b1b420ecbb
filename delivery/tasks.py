"""Periodic Celery tasks of area A."""

from typing import Any

from celery import shared_task
from celery.signals import worker_process_shutdown, worker_shutdown
from django.utils import timezone

from common import pruning
from common.idempotency import KEPT
from delivery import simulation_thread
from delivery.actions import offers, refused_calls
from delivery.models import IdempotencyRecord
from delivery.webhooks import wake_up

# A step takes milliseconds. One that is interrupted is rolled back and made by the next worker.
_STOP_SECONDS = 2


@shared_task(name="delivery.expire_offers")
def expire_offers() -> None:
    """Expire overdue offers."""
    offers.expire_overdue(at=timezone.now())


@shared_task(name="delivery.prune_refused_calls")
def prune_refused_calls() -> None:
    """Delete refused calls that are older than seven days."""
    refused_calls.prune(at=timezone.now())


@shared_task(name="delivery.prune_idempotency_records")
def prune_idempotency_records() -> None:
    """Delete the answers that are no longer replayed."""
    pruning.prune(IdempotencyRecord, "created_at", before=timezone.now() - KEPT)


@shared_task(name=wake_up.ADVANCE_SIMULATIONS)
def advance_simulations() -> None:
    """Have the thread of this process advance the simulated deliveries that are due. Returns at once."""
    wake_up.received(wake_up.ADVANCE_SIMULATIONS)
    simulation_thread.wake()


@worker_process_shutdown.connect
@worker_shutdown.connect  # for pools without processes of their own
def _stop(**_kwargs: Any) -> None:
    simulation_thread.stop(seconds=_STOP_SECONDS)
