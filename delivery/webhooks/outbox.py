"""The outbox: an event is written in the transaction of its change, and sent after the commit."""

from datetime import datetime, timedelta

from django.db import connection, transaction

from delivery.models import Delivery, EventState, WebhookEndpoint, WebhookEvent, WebhookQueueItem
from delivery.webhooks import events, queue, wake_up

# Items are sent in the order of `due_at`. A test event is due so long ago, so it is sent before all that wait.
_BEFORE_ALL_OTHERS = timedelta(days=3650)


def record(*, delivery: Delivery, at: datetime) -> None:
    """Write the event of the delivery's latest change. Raises RuntimeError outside a transaction."""
    if not connection.in_atomic_block:
        raise RuntimeError("An event is recorded inside the transaction of its change.")
    event = event_of(delivery=delivery, at=at)
    event.save(force_insert=True)
    if event.state == EventState.PENDING:
        queue.add(event, due_at=at)
        wake_on_commit()


def first_queue_item(event: WebhookEvent, *, at: datetime) -> list[WebhookQueueItem]:
    """The unsaved queue item of a delivery's first event, if there is a URL to send it to.

    Both are inserted by the statement that inserts the delivery. A worker has to be woken once they are committed.
    """
    if event.state != EventState.PENDING:
        return []
    return [WebhookQueueItem(event=event, delivery=event.delivery, endpoint_id=event.endpoint_id, due_at=at)]


def event_of(*, delivery: Delivery, at: datetime) -> WebhookEvent:
    """The unsaved event of the delivery's latest change."""
    endpoint = WebhookEndpoint.of(delivery.integrator_id, delivery.environment)
    return events.build(delivery=delivery, endpoint=endpoint, at=at)


def record_test(*, endpoint: WebhookEndpoint, at: datetime) -> WebhookEvent:
    """Write a test event, which is sent before all other events of the endpoint."""
    event = events.build_test(endpoint=endpoint, at=at)
    event.save(force_insert=True)
    queue.add(event, due_at=at - _BEFORE_ALL_OTHERS)
    wake_on_commit()
    return event


def wake_on_commit() -> None:
    """Wake a worker once this transaction has committed."""
    transaction.on_commit(wake_up.send, robust=True)
