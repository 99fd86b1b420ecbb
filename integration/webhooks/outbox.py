"""The outbox of orders: an event is written in the transaction of its status log entry, and sent after the commit."""

import json
from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from functools import cache
from typing import Any

from django.db import transaction
from django.db.models import prefetch_related_objects

from common.webhooks import recording
from common.webhooks.models import EventState
from common.webhooks.outbox import Authorize, ClaimedItem, Outbox
from common.workers import wake_up
from integration import bodies, task_names
from integration.lifecycle import Status
from integration.models import (
    EndpointChange,
    Order,
    StatusLog,
    WebhookAttempt,
    WebhookEndpoint,
    WebhookEvent,
    WebhookQueueItem,
)

_MOST_ORDERS = 500


def _authorizations(_items: Sequence[ClaimedItem], of_items: Mapping[int, WebhookEndpoint], _at: datetime) -> Authorize:
    """See `Outbox.authorizations`."""
    header = cache(lambda endpoint: of_items[endpoint].authentication.header())  # decrypted once
    return lambda item: header(item.endpoint_id)


def _headers(order_id: int) -> dict[str, str]:
    """The receiver's page, whose address is computed from the order's key."""
    return {"Rota-Tracking-Url": Order(pk=order_id).tracking_url}


def _text(body: bodies.OrderEvent) -> str:
    return json.dumps(body, ensure_ascii=False, separators=(",", ":"))


def rows_of_first(
    *, order: Order, entry: StatusLog, found: Sequence[WebhookEndpoint], invoices: Sequence[str], at: datetime
) -> list[Any]:
    """The unsaved events and queue items of a new order, which are inserted together with it.

    None, and the order is marked, while no endpoint has a URL: see `record_rest`. `found`: the endpoints of its seller
    and environment; `invoices`: the access keys of the invoices that it is linked to at once. Wakes a worker once the
    transaction has committed, if an event is to be sent.
    """
    if not any(endpoint.url for endpoint in found):
        order.unrecorded_at = at
        return []
    events = _events(found, order=order, log=[entry], invoices=invoices, at=at)
    items = recording.first_items_of(OUTBOX, events, at=at)
    if items:
        wake_up.send_on_commit(task_names.SEND_DUE)
    return [*events, *items]


def record(*, order: Order, at: datetime) -> None:
    """Write the events of the order's latest entry, under the order's lock; those of entries before it that have none.

    The order is marked instead while no endpoint has a URL. Does not save it.
    """
    own: list[Any] = list(WebhookEndpoint.objects.of(order.seller_id, order.environment))
    if not any(endpoint.url for endpoint in own):
        order.unrecorded_at = at
        return
    log = list(order.status_log.order_by("pk"))
    invoices = list(order.invoice_links.values_list("invoice__access_key", flat=True))
    missing = _without_events(own[0], order, log[:-1], invoices) if order.unrecorded_at else []
    order.unrecorded_at = None
    events = [*missing, *_events(own, order=order, log=log, invoices=invoices, at=at)]
    if recording.insert(OUTBOX, events, at=at):
        wake_up.send_on_commit(task_names.SEND_DUE)


def lock_queue(orders: Sequence[Order]) -> None:
    """Lock what waits for these orders, before several of them are moved in one transaction.

    In the sequence in which replays lock it, so that neither waits for the other.
    """
    waiting = WebhookQueueItem.objects.filter(order__in=orders, is_ordered=True).order_by("endpoint_id", "pk")
    list(waiting.select_for_update().values_list("pk"))


def record_rest(endpoint: WebhookEndpoint, since: datetime, subjects: Collection[int] | None = None, /) -> int:
    """Write the events of marked orders, for whoever reads them or sets a URL: none of them is sent by itself.

    Those of the orders with entries from `since` on, or of those of them whose keys are given, the oldest first, at
    most 500 orders. An order that
    another transaction has locked is left to the next call. Returns how many orders it has written events of.
    """
    marked = Order.objects.of(endpoint.seller_id, endpoint.environment).filter(unrecorded_at__gte=since)
    if subjects is not None:
        marked = marked.filter(pk__in=subjects)
    with transaction.atomic():
        locked = marked.order_by("unrecorded_at").select_for_update(of=("self",), no_key=True, skip_locked=True)
        orders = list(locked[:_MOST_ORDERS])
        if not orders:
            return 0
        prefetch_related_objects(orders, "status_log", "events", "invoice_links__invoice")
        first: Any = WebhookEndpoint.objects.of(endpoint.seller_id, endpoint.environment)[0]
        events: list[WebhookEvent] = []
        for order in orders:
            invoices = [link.invoice.access_key for link in order.invoice_links.all()]
            events += _without_events(first, order, list(order.status_log.all()), invoices)
        WebhookEvent.objects.bulk_create(events)
        Order.objects.filter(pk__in=[order.pk for order in orders]).update(unrecorded_at=None)
    return len(orders)


def _without_events(
    endpoint: WebhookEndpoint, order: Order, log: Sequence[StatusLog], invoices: Sequence[str]
) -> list[WebhookEvent]:
    """The unsaved events of the entries after the last one that has an event, in the state UNADDRESSED."""
    recorded = max((event.sequence for event in order.events.all()), default=0)
    events = [
        _events([endpoint], order=order, log=log[:number], invoices=invoices, at=log[number - 1].created_at)[0]
        for number in range(recorded + 1, len(log) + 1)
    ]
    for event in events:
        event.state = EventState.UNADDRESSED
    return events


def _events(
    own: Sequence[WebhookEndpoint], *, order: Order, log: Sequence[StatusLog], invoices: Sequence[str], at: datetime
) -> list[Any]:
    body = _text(bodies.event(order, log, invoices))
    return recording.events_of(OUTBOX, own, subject=order, sequence=len(log), name=log[-1].status, body=body, at=at)


OUTBOX = Outbox(
    endpoints=WebhookEndpoint,
    events=WebhookEvent,
    items=WebhookQueueItem,
    attempts=WebhookAttempt,
    audit=EndpointChange,
    task=task_names.SEND_DUE,
    missed_task=task_names.SEND_MISSED,
    topic="seller-endpoint",
    test_event=(Status.PENDING, _text(bodies.TEST_EVENT)),
    authorizations=_authorizations,
    record_rest=record_rest,
    subject_headers=_headers,
)
