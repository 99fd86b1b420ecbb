"""The outbox of deliveries: an event is written in the transaction of its change, and sent after the commit."""

import json
from datetime import datetime
from functools import partial
from typing import Any

from django.conf import settings
from django.db import transaction

from common.pages.page_updates import publish_on_commit
from common.webhooks import recording
from common.webhooks.outbox import Outbox
from common.workers import wake_up
from delivery import bodies, page_updates, task_names
from delivery.bodies import Event
from delivery.lifecycle import RouteStatus, Status
from delivery.models import AuditEntry, Delivery, Stop, WebhookAttempt, WebhookEndpoint, WebhookEvent, WebhookQueueItem
from delivery.webhooks.authorization import authorizations, check_authorization


def _text(body: Event) -> str:
    return json.dumps(body, ensure_ascii=False, separators=(",", ":"))


OUTBOX = Outbox(
    endpoints=WebhookEndpoint,
    events=WebhookEvent,
    items=WebhookQueueItem,
    attempts=WebhookAttempt,
    audit=AuditEntry,
    task=task_names.SEND_DUE,
    missed_task=task_names.SEND_MISSED,
    topic="endpoint",
    test_event=(Status.PENDING, _text(bodies.TEST_EVENT)),
    authorizations=authorizations,
    check_authorization=check_authorization,
)
# What an offer is, and what follows it.
_OFFERED_OR_TAKEN = (RouteStatus.AVAILABLE, RouteStatus.ACCEPTED, RouteStatus.CANCELLED, RouteStatus.EXPIRED)


def record(*, delivery: Delivery, failed: Stop | None = None, at: datetime) -> None:
    """Write the events of the delivery's latest change. Raises RuntimeError outside a transaction.

    `failed`: the stop whose failure the change is.
    """
    events = events_of(delivery=delivery, failed=failed, at=at)
    announce_on_commit(delivery, wakes=recording.insert(OUTBOX, events, at=at))


def events_of(*, delivery: Delivery, failed: Stop | None = None, at: datetime) -> list[Any]:
    """The unsaved events of the delivery's latest change."""
    return recording.events_of(
        OUTBOX,
        WebhookEndpoint.of(delivery.integrator_id, delivery.environment),
        subject=delivery,
        sequence=delivery.last_sequence,
        name=delivery.status,
        body=_text(bodies.event(delivery)),
        failure=f"{failed.label.lower()}={failed.failure_code}" if failed and failed.failure_code else "",
        at=at,
    )


def announce_on_commit(delivery: Delivery, *, wakes: bool) -> None:
    """Once this transaction has committed, tell open pages of the delivery's change, and wake a worker if `wakes`.

    The pages are those of the account, the board, and drivers' phones.
    """
    messages = page_updates.delivery_changed(delivery.pk, delivery.integrator_id, delivery.environment)
    if delivery.driver_id is not None:
        messages.append(page_updates.route_changed(delivery.pk, delivery.driver_id))
    if delivery.route_status in _OFFERED_OR_TAKEN:
        messages.append(page_updates.offer_changed(delivery.pk, delivery.environment, delivery.vehicle_type))
    if wakes:
        transaction.on_commit(partial(wake_up.send, OUTBOX.task, messages=messages), robust=True)
    else:
        publish_on_commit(*messages)
    if settings.VAPID_PRIVATE_KEY and delivery.route_status == RouteStatus.AVAILABLE:
        transaction.on_commit(partial(wake_up.start, task_names.PUSH_OFFER, delivery=str(delivery.pk)), robust=True)
