"""The outbox: an event is written in the transaction of its change, and sent after the commit."""

from datetime import datetime, timedelta

from django.db import connection, transaction
from django.db.models import Model

from delivery.models import Delivery, EventState, WebhookEndpoint, WebhookEvent, WebhookQueueItem
from delivery.webhooks import events, queue, wake_up

# Items are sent in the order of `due_at`. A test event is due so long ago, so it is sent before all that wait.
_BEFORE_ALL_OTHERS = timedelta(days=3650)


def record(*, delivery: Delivery, at: datetime) -> None:
    """Write the event of the delivery's latest change. Raises RuntimeError outside a transaction."""
    event = _event(delivery, at)
    event.save(force_insert=True)
    if event.state == EventState.PENDING:
        queue.add(event, due_at=at)
        wake_on_commit()


def first_rows(*, delivery: Delivery, at: datetime) -> list[Model]:
    """The first event of a delivery and its queue item, to be inserted together with the delivery in this transaction.

    Raises RuntimeError outside a transaction.
    """
    event = _event(delivery, at)
    if event.state != EventState.PENDING:
        return [event]
    wake_on_commit()
    return [event, WebhookQueueItem(event=event, delivery=delivery, endpoint_id=event.endpoint_id, due_at=at)]


def _event(delivery: Delivery, at: datetime) -> WebhookEvent:
    if not connection.in_atomic_block:
        raise RuntimeError("An event is recorded inside the transaction of its change.")
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
