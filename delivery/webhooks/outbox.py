"""The outbox: an event is written with the change it tells of, or neither is. Workers are only woken."""

from datetime import datetime

from django.db import connection, transaction

from delivery.models import Delivery, WebhookEndpoint
from delivery.webhooks import events, tasks


def record(*, delivery: Delivery, at: datetime) -> None:
    """Write the event of the delivery's latest change. Raises RuntimeError outside the change's transaction."""
    if not connection.in_atomic_block:
        raise RuntimeError("An event is recorded inside the transaction of its change.")
    endpoint = WebhookEndpoint.objects.get(integrator=delivery.integrator_id, environment=delivery.environment)
    events.build(delivery=delivery, endpoint=endpoint, at=at).save(force_insert=True)
    wake_on_commit()


def wake_on_commit() -> None:
    """Wake a worker once this transaction has committed."""
    transaction.on_commit(tasks.wake, robust=True)
