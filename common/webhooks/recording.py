"""Writing events in the transaction of their change, and test events."""

from collections.abc import Sequence
from datetime import datetime
from functools import partial
from typing import Any

from django.db import connection, transaction

from common.observability import tracing
from common.postgresql.compiled_queries import insert_together
from common.webhooks import queue
from common.webhooks.models import Endpoint, Event, EventState
from common.webhooks.outbox import Outbox
from common.workers import wake_up


def events_of(
    outbox: Outbox,
    endpoints: Sequence[Endpoint],
    *,
    subject: Any,
    sequence: int,
    name: str,
    body: str,
    at: datetime,
    **of_area: Any,
) -> list[Any]:
    """The unsaved events of one change for the endpoints of its owner and environment, the first one first.

    That has one for each change: in state UNADDRESSED where it has no URL, in state FILTERED where its filter does not
    have the status. A further endpoint has one where it is sent. `of_area`: values of the area's own fields.
    """
    first, *further = endpoints
    values: dict[str, Any] = {
        outbox.subject: subject,
        "sequence": sequence,
        "name": name,
        "body": body,
        "created_at": at,
        "trace_context": tracing.traceparent(),
        **of_area,
    }
    event = outbox.events(endpoint=first, state=_state_at(first, name), **values)
    # The others have the same `webhook-id`.
    wanted = (other for other in further if other.url and other.wants(name))
    return [event, *(outbox.events(endpoint=other, copy_of=event.pk, **values) for other in wanted)]


def _state_at(endpoint: Endpoint, status: str) -> EventState:
    if not endpoint.url:
        return EventState.UNADDRESSED
    return EventState.PENDING if endpoint.wants(status) else EventState.FILTERED


def first_items_of(outbox: Outbox, events: Sequence[Event], *, at: datetime) -> list[Any]:
    """The unsaved queue items of a subject's first events, of those that are to be sent.

    All are inserted by the statement that inserts the subject.
    """
    # With `event` the two would refer to each other, and garbage collection would free them.
    return [
        outbox.items(event_id=event.pk, endpoint_id=event.endpoint_id, due_at=at, **{outbox.subject: event.subject})
        for event in events
        if event.state == EventState.PENDING
    ]


def insert(outbox: Outbox, events: Sequence[Event], *, at: datetime) -> bool:
    """Write the events of one change, and queue those that are to be sent. Returns whether there are any.

    Raises RuntimeError outside a transaction.
    """
    if not connection.in_atomic_block:
        raise RuntimeError("An event is recorded inside the transaction of its change.")
    insert_together(*events)
    pending = [event for event in events if event.state == EventState.PENDING]
    if pending:
        queue.add(outbox, *pending, due_at=at)
    return bool(pending)


def record_test(outbox: Outbox, *, endpoint: Endpoint, at: datetime) -> Event:
    """Write a test event, which is sent before all others of the endpoint. It has the keys of one of a subject."""
    name, body = outbox.test_event
    event: Event = outbox.events(
        endpoint=endpoint, sequence=1, name=name, body=body, created_at=at, trace_context=tracing.traceparent()
    )
    event.save(force_insert=True)
    queue.add(outbox, event, due_at=at - queue.AHEAD_OF_OTHERS)
    messages = outbox.messages([(endpoint.pk, event.pk)])
    transaction.on_commit(partial(wake_up.send, outbox.task, messages=messages), robust=True)
    return event
