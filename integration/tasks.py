"""Periodic Celery tasks of area B."""

from celery import shared_task

from common import batches
from common.clock import agreed_now
from common.idempotency import KEPT
from integration.actions import forgetting
from integration.models import IdempotencyRecord, call


@shared_task(name="integration.prune_refused_calls")
def prune_refused_calls() -> None:
    """Delete refused calls that are older than seven days."""
    call.RECORDER.prune(at=agreed_now())


@shared_task(name="integration.forget")
def forget() -> None:
    """Anonymise the receivers of old orders, and delete the files of old invoices."""
    now = agreed_now()
    forgetting.forget_old_orders(at=now)
    forgetting.forget_old_invoices(at=now)


@shared_task(name="integration.prune_idempotency_records")
def prune_idempotency_records() -> None:
    """Delete the answers that are no longer replayed."""
    batches.prune(IdempotencyRecord, "created_at", before=agreed_now() - KEPT)
