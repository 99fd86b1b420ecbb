"""The outbox of deliveries: an event is written in the transaction of its change, and sent after the commit."""

import json
from collections.abc import Iterable
from datetime import datetime
from functools import partial

from django.conf import settings
from django.db import connection, transaction

from common import tracing, wake_up
from common.compiled_queries import insert_together
from common.page_updates import publish_on_commit
from common.webhooks import queue
from common.webhooks.outbox import Outbox
from delivery import bodies, page_updates, task_names
from delivery.bodies import Event
from delivery.lifecycle import RouteStatus, Status
from delivery.models import Delivery, EventState, Stop, WebhookAttempt, WebhookEndpoint, WebhookEvent, WebhookQueueItem
from delivery.webhooks.authorization import authorizations

OUTBOX = Outbox(
    endpoints=WebhookEndpoint,
    events=WebhookEvent,
    items=WebhookQueueItem,
    attempts=WebhookAttempt,
    subject="delivery",
    task=task_names.SEND_DUE,
    authorizations=authorizations,
    messages=page_updates.events_changed,
)
# What an offer is, and what follows it.
_OFFERED_OR_TAKEN = (RouteStatus.AVAILABLE, RouteStatus.ACCEPTED, RouteStatus.CANCELLED, RouteStatus.EXPIRED)


def record(*, delivery: Delivery, failed: Stop | None = None, at: datetime) -> None:
    """Write the event of the delivery's latest change. Raises RuntimeError outside a transaction.

    `failed`: the stop whose failure the change is.
    """
    if not connection.in_atomic_block:
        raise RuntimeError("An event is recorded inside the transaction of its change.")
    events = events_of(delivery=delivery, failed=failed, at=at)
    insert_together(*events)
    pending = [event for event in events if event.state == EventState.PENDING]
    if pending:
        queue.add(OUTBOX, *pending, due_at=at)
    announce_on_commit(delivery, wakes=bool(pending))


def first_queue_items(events: Iterable[WebhookEvent], *, at: datetime) -> list[WebhookQueueItem]:
    """The unsaved queue items of a delivery's first events, of those with a URL to send them to.

    All are inserted by the statement that inserts the delivery. `announce_on_commit` is to be called too.
    """
    return [
        WebhookQueueItem(event=event, delivery=event.delivery, endpoint_id=event.endpoint_id, due_at=at)
        for event in events
        if event.state == EventState.PENDING
    ]


def events_of(*, delivery: Delivery, failed: Stop | None = None, at: datetime) -> list[WebhookEvent]:
    """The unsaved events of the delivery's latest change.

    The first endpoint has one for each change: in state UNADDRESSED where it has no URL, in state FILTERED where its
    filter does not have the status. A further endpoint has one where it is sent.
    """
    endpoint, *further = WebhookEndpoint.of(delivery.integrator_id, delivery.environment)
    event = WebhookEvent(
        delivery=delivery,
        endpoint=endpoint,
        sequence=delivery.last_sequence,
        name=delivery.status,
        body=_text(bodies.event(delivery)),
        failure=f"{failed.label.lower()}={failed.failure_code}" if failed and failed.failure_code else "",
        created_at=at,
        trace_context=tracing.traceparent(),
        state=_state_at(endpoint, delivery.status),
    )
    return [event, *(_copy(event, other) for other in further if other.url and other.wants(event.name))]


def _state_at(endpoint: WebhookEndpoint, status: str) -> EventState:
    if not endpoint.url:
        return EventState.UNADDRESSED
    return EventState.PENDING if endpoint.wants(status) else EventState.FILTERED


def _copy(event: WebhookEvent, endpoint: WebhookEndpoint) -> WebhookEvent:
    """The unsaved event for a further endpoint, with the same `webhook-id` and body."""
    return WebhookEvent(
        delivery=event.delivery,
        endpoint=endpoint,
        copy_of=event.pk,
        sequence=event.sequence,
        name=event.name,
        body=event.body,
        failure=event.failure,
        created_at=event.created_at,
        trace_context=event.trace_context,
    )


def record_test(*, endpoint: WebhookEndpoint, at: datetime) -> WebhookEvent:
    """Write a test event, which is sent before all others of the endpoint. It has the keys of one of a delivery."""
    event = WebhookEvent(
        endpoint=endpoint,
        sequence=1,
        name=Status.PENDING,
        body=_text(bodies.TEST_EVENT),
        created_at=at,
        trace_context=tracing.traceparent(),
    )
    event.save(force_insert=True)
    queue.add(OUTBOX, event, due_at=at - queue.AHEAD_OF_OTHERS)
    messages = page_updates.events_changed([(endpoint.pk, event.pk)])
    transaction.on_commit(partial(wake_up.send, OUTBOX.task, messages=messages), robust=True)
    return event


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


def wake_on_commit() -> None:
    """Wake a worker once this transaction has committed."""
    wake_up.send_on_commit(OUTBOX.task)


def _text(body: Event) -> str:
    return json.dumps(body, ensure_ascii=False, separators=(",", ":"))
