"""Celery tasks of area A."""

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from celery import shared_task
from celery.signals import worker_process_shutdown, worker_shutdown

from common import clock
from common.api.idempotency import KEPT
from common.clock import agreed_now
from common.postgresql import batches
from common.webhooks import endpoints, replays
from common.webhooks.outbox import outboxes
from common.webhooks.sender import STOP_SECONDS, BackgroundSender
from common.workers import wake_up
from common.workers.wake_up import BackgroundWork
from delivery import task_names
from delivery.actions import arrivals, deliveries, forgetting, proofs, schedule
from delivery.alerts import actions as alerts
from delivery.alerts import posts as alert_posts
from delivery.alerts.models import AlertPost, ReportedTrouble
from delivery.connections import drafts
from delivery.drivers import offer_pushes
from delivery.models import IdempotencyRecord, WebhookEndpoint, call
from delivery.places import models
from delivery.places.models import LocatedAddress
from delivery.sandbox import simulated_driver
from delivery.streets import work as streets
from delivery.webhooks.outbox import OUTBOX

# A step takes milliseconds. One that is interrupted is rolled back and made by the next worker.
_STOP_SECONDS = 2
_ATTEMPTS_KEPT = timedelta(days=30)
_POSTS_KEPT = timedelta(days=30)
_sending = BackgroundSender(OUTBOX)
_posting = BackgroundWork("alerts", alert_posts.post_due)


def _renew_after_moves(is_stopping: Callable[[], bool]) -> None:
    arrivals.renew(at=clock.now(), moves_only=True, is_stopping=is_stopping)


def _renew_all(is_stopping: Callable[[], bool]) -> None:
    arrivals.renew(at=clock.now(), is_stopping=is_stopping)


# In threads, because a routing engine is waited for; two of them, so that a move does not wait for all routes.
_arrivals_after_moves = BackgroundWork("arrivals after moves", _renew_after_moves)
_arrivals = BackgroundWork("arrivals", _renew_all)
# In a thread, because a large map takes minutes.
_copying_streets = BackgroundWork("streets", streets.copy_due)
# In a thread, because geocoder and routing engine are waited for.
_checking_drafts = BackgroundWork("orders of shops", drafts.check_due)
# In a thread, because it waits for what falls due shortly.
_simulating = BackgroundWork("simulations", simulated_driver.advance_until_none_is_due)


@shared_task(name="delivery.expire_offers")
def expire_offers() -> None:
    """Expire overdue offers."""
    deliveries.expire_overdue(at=agreed_now())


@shared_task(name="delivery.offer_scheduled")
def offer_scheduled() -> None:
    """Offer the scheduled routes whose time has come."""
    schedule.offer_due(at=agreed_now())


@shared_task(name="delivery.plan_scheduled")
def plan_scheduled() -> None:
    """Plan anew when the scheduled routes of the next hour are offered, by where drivers are."""
    schedule.plan(at=agreed_now())


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


@shared_task(name="delivery.webhooks.prune")
def prune_webhook_attempts() -> None:
    """Delete the attempts of every area older than 30 days, and what is left of endpoints that were removed."""
    for outbox in outboxes():
        batches.prune(outbox.attempts, "at", before=agreed_now() - _ATTEMPTS_KEPT)
    endpoints.delete_removed()


@shared_task(name="delivery.send_alerts")
def send_alerts() -> None:
    """Record the alerts and digests that are due, and have the thread of this process post those for URLs."""
    now = clock.now()
    alerts.tell_changes(at=now)
    alerts.tell_trouble(at=now)
    alerts.record_digests(at=now)
    _posting.wake()


@shared_task(name="delivery.prune_alert_posts")
def prune_alert_posts() -> None:
    """Delete the posts of alerts, and what was told of deliveries, that are older than 30 days."""
    before = agreed_now() - _POSTS_KEPT
    batches.prune(AlertPost, "created_at", before=before)
    batches.prune(ReportedTrouble, "at", before=before)


@shared_task(name="delivery.prune_refused_calls")
def prune_refused_calls() -> None:
    """Delete refused calls that are older than seven days."""
    call.RECORDER.prune(at=agreed_now())


@shared_task(name="delivery.prune_idempotency_records")
def prune_idempotency_records() -> None:
    """Delete the answers that are no longer replayed."""
    batches.prune(IdempotencyRecord, "created_at", before=agreed_now() - KEPT)


@shared_task(name="delivery.prune_located_addresses")
def prune_located_addresses() -> None:
    """Delete the places of addresses that are looked up anew."""
    batches.prune(LocatedAddress, "created_at", before=agreed_now() - models.KEPT)


@shared_task(name="delivery.prune_proof_photos")
def prune_proof_photos() -> None:
    """Delete photos that are no longer kept, and files without a row."""
    proofs.prune(at=agreed_now())


@shared_task(name="delivery.forget")
def forget() -> None:
    """Anonymise the people in old deliveries and old orders of shops, and delete old positions of drivers."""
    now = agreed_now()
    forgetting.forget_ended(at=now)
    forgetting.forget_positions(at=now)
    drafts.forget_old(at=now)


@shared_task(name=task_names.ADVANCE_SIMULATIONS)
def advance_simulations() -> None:
    """Have the thread of this process advance the simulated deliveries that are due. Returns at once."""
    wake_up.received(task_names.ADVANCE_SIMULATIONS)
    _simulating.wake()


@shared_task(name=task_names.RENEW_ARRIVALS)
def renew_arrivals() -> None:
    """Have a thread of this process compute the arrival times of routes that have moved. Returns at once."""
    wake_up.received(task_names.RENEW_ARRIVALS)
    _arrivals_after_moves.wake()


@shared_task(name="delivery.renew_all_arrivals")
def renew_all_arrivals() -> None:
    """Have a thread of this process renew the times of all routes whose driver has moved. Returns at once."""
    _arrivals.wake()


@shared_task(name=task_names.CHECK_DRAFTS)
def check_drafts() -> None:
    """Have the thread of this process price the orders of shops that are due, and request those that are automatic."""
    wake_up.received(task_names.CHECK_DRAFTS)
    _checking_drafts.wake()


@shared_task(name=task_names.PUSH_OFFER)
def push_offer(*, delivery: str) -> None:
    """Have the thread of this process tell drivers of an offer by Web Push. Returns at once."""
    offer_pushes.push_soon(UUID(delivery))


@shared_task(name=task_names.COPY_STREETS)
def copy_streets() -> None:
    """Have the thread of this process copy the streets that a superuser has asked for. Returns at once."""
    wake_up.received(task_names.COPY_STREETS)
    _copying_streets.wake()


@worker_process_shutdown.connect
@worker_shutdown.connect  # for pools without processes of their own
def _stop(**_kwargs: Any) -> None:
    _posting.stop(seconds=_STOP_SECONDS)  # a post that is interrupted is sent once more after its lease
    _arrivals_after_moves.stop(seconds=_STOP_SECONDS)
    _arrivals.stop(seconds=_STOP_SECONDS)
    _simulating.stop(seconds=_STOP_SECONDS)
    _copying_streets.stop(seconds=_STOP_SECONDS)
    _checking_drafts.stop(seconds=_STOP_SECONDS)
    offer_pushes.stop(seconds=_STOP_SECONDS)
    _sending.stop(seconds=STOP_SECONDS)
