"""The outbox of deliveries: an event is written in the transaction of its change, and sent after the commit."""

import json
from datetime import datetime
from typing import Any

from common.webhooks import recording
from common.webhooks.outbox import Outbox
from delivery import bodies, task_names
from delivery.bodies import Event
from delivery.lifecycle import Status
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


def record(*, delivery: Delivery, failed: Stop | None = None, at: datetime) -> bool:
    """Write the events of the delivery's latest change. Returns whether a worker has something to send.

    `failed`: the stop whose failure the change is. Raises RuntimeError outside a transaction.
    """
    return recording.insert(OUTBOX, events_of(delivery=delivery, failed=failed, at=at), at=at)


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
