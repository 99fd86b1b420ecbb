"""Celery tasks of area B."""

from datetime import datetime
from typing import Any

from celery import shared_task
from celery.signals import worker_process_shutdown, worker_shutdown

from common import clock
from common.api.idempotency import KEPT
from common.clock import agreed_now
from common.postgresql import batches
from common.webhooks import replays
from common.webhooks.sender import STOP_SECONDS, BackgroundSender
from common.workers import wake_up
from common.workers.wake_up import BackgroundWork
from integration import task_names
from integration.actions import forgetting, webhooks
from integration.carriers import movements
from integration.connections import drafts
from integration.models import IdempotencyRecord, MovementRecord, WebhookEndpoint, call
from integration.sandbox import simulated_carrier
from integration.webhooks.outbox import OUTBOX

# A step takes milliseconds. One that is interrupted is rolled back and made by the next worker.
_STOP_SECONDS = 2
# In a thread, because it waits for what falls due shortly.
_simulating = BackgroundWork("simulated orders", simulated_carrier.advance_until_none_is_due)
_sending = BackgroundSender(OUTBOX)


@shared_task(name="integration.prune_refused_calls")
def prune_refused_calls() -> None:
    """Delete refused calls that are older than seven days."""
    for recorder in (call.RECORDER, call.CARRIER_RECORDER):
        recorder.prune(at=agreed_now())


@shared_task(name=task_names.SEND_DUE)
def send_due_webhooks() -> None:
    """Have the sender of this process send everything that is due. Returns at once."""
    wake_up.received(task_names.SEND_DUE)
    _sending.wake()


@shared_task(name=task_names.SEND_MISSED)
def send_missed_webhooks(*, endpoint: str, since: str, until: str) -> None:
    """Send the changes that were made while this endpoint's URL was being set, and read it without one."""
    found = WebhookEndpoint.objects.get(pk=endpoint)
    began, committed = datetime.fromisoformat(since), datetime.fromisoformat(until)
    replays.send_missed(endpoint=found, since=began, until=committed, at=clock.now())


@shared_task(name="integration.send_alerts")
def send_alerts() -> None:
    """Record the e-mails about endpoints that fail, are switched off or work again."""
    webhooks.tell_changes(at=clock.now())


@shared_task(name="integration.forget")
def forget() -> None:
    """Anonymise the receivers of old orders and of old orders of shops, and delete the files of old invoices."""
    now = agreed_now()
    forgetting.forget_old_orders(at=now)
    forgetting.forget_old_invoices(at=now)
    drafts.forget_old(at=now)


@shared_task(name="integration.prune_idempotency_records")
def prune_idempotency_records() -> None:
    """Delete the answers that are no longer replayed."""
    now = agreed_now()
    batches.prune(IdempotencyRecord, "created_at", before=now - KEPT)
    batches.prune(MovementRecord, "recorded_at", before=now - movements.KEPT)


@shared_task(name=task_names.ADVANCE_SIMULATIONS)
def advance_simulations() -> None:
    """Have the thread of this process advance the simulated orders that are due. Returns at once."""
    wake_up.received(task_names.ADVANCE_SIMULATIONS)
    _simulating.wake()


@worker_process_shutdown.connect
@worker_shutdown.connect  # for pools without processes of their own
def _stop(**_kwargs: Any) -> None:
    _simulating.stop(seconds=_STOP_SECONDS)
    _sending.stop(seconds=STOP_SECONDS)
