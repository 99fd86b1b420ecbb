"""The outbox: an event is written with the change it tells of, or neither is. Workers are only woken."""

from datetime import datetime

from django.db import connection, transaction

from delivery.models import Delivery, EventState, WebhookEndpoint, WebhookEvent
from delivery.webhooks import events, queue, tasks


def record(*, delivery: Delivery, at: datetime) -> None:
    """Write the event of the delivery's latest change. Raises RuntimeError outside the change's transaction."""
    if not connection.in_atomic_block:
        raise RuntimeError("An event is recorded inside the transaction of its change.")
    endpoint = WebhookEndpoint.objects.get(integrator=delivery.integrator_id, environment=delivery.environment)
    event = events.build(delivery=delivery, endpoint=endpoint, at=at)
    event.save(force_insert=True)
    if event.state == EventState.PENDING:
        queue.enter(event, at=at)
        wake_on_commit()


def record_test(*, endpoint: WebhookEndpoint, at: datetime) -> WebhookEvent:
    """Write a test event, which goes before everything else that waits for the endpoint."""
    event = events.build_test(endpoint=endpoint, at=at)
    event.save(force_insert=True)
    queue.enter(event, at=at - queue.LEASE * 1000)
    wake_on_commit()
    return event


def wake_on_commit() -> None:
    """Wake a worker once this transaction has committed."""
    transaction.on_commit(tasks.wake, robust=True)
