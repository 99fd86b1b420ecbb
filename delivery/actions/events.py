"""Sending recorded webhook events again, and those that wait for a retry at once."""

import logging
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import groupby
from operator import itemgetter
from uuid import UUID

from django.db import transaction
from django.db.models import Count, F, Q, QuerySet
from django.db.models.functions import Greatest

from common.page_updates import publish_on_commit
from common.webhooks import breaker, queue
from common.webhooks.models import BREAKER_FIELDS
from delivery import page_updates
from delivery.actions import endpoints
from delivery.models import AuditAction, AuditEntry, EventState, WebhookEndpoint, WebhookEvent, WebhookQueueItem
from delivery.webhooks import outbox

_log = logging.getLogger(__name__)
# Events of one transaction. It locks their queue items, which changes of their deliveries wait for.
_BATCH = 5000


@dataclass(frozen=True)
class Replayed:
    """Numbers of events, by what `replay` has done with them."""

    again: int = 0  # had ended, and are sent again
    due: int = 0  # waited, and are sent now
    behind: int = 0  # wait for an earlier event of their delivery, which is sent now
    in_flight: int = 0  # are being sent, or wait for one that is

    @property
    def total(self) -> int:
        """All but those in flight, for which nothing was done."""
        return self.again + self.due + self.behind

    def __add__(self, other: "Replayed") -> "Replayed":
        return Replayed(
            self.again + other.again,
            self.due + other.due,
            self.behind + other.behind,
            self.in_flight + other.in_flight,
        )


def replay(*, events: QuerySet[WebhookEvent], by: str, at: datetime, ahead: bool = False) -> Replayed:
    """Send these events now, with the same ids and bodies, those of one delivery in order.

    Events that had ended begin the schedule of retries again. For those that wait, the queue items of their deliveries
    at the same endpoint become due, so an earlier event that blocks them is sent first; this try does not count towards
    the schedule. What a worker has claimed is left to it. The breaker of a failing endpoint lets one event through at
    once. With `ahead` the events are sent before all others of their endpoint; for a few that a person has chosen.

    Raises EndpointCannotSend before anything is changed. Each batch, up to 5,000 events of one endpoint, is a
    transaction of its own, so an error leaves the batches before it replayed and in the audit trail. Raises
    RuntimeError inside a transaction.
    """
    for endpoint in WebhookEndpoint.objects.filter(pk__in=events.order_by().values("endpoint")):
        endpoints.check_can_send(endpoint, at=at)
    replayed = Replayed()
    # UUIDv7: those of an endpoint in the order in which they were recorded.
    rows = events.order_by("endpoint", "pk").values_list("endpoint", "pk")
    for _endpoint, of_endpoint in groupby(rows, key=itemgetter(0)):
        ids = [pk for _endpoint, pk in of_endpoint]
        for first in range(0, len(ids), _BATCH):
            replayed += _replay_batch(ids[first : first + _BATCH], by=by, at=at, ahead=ahead)
    _log.info("webhook events replayed by %s: %s", by, replayed)
    return replayed


@transaction.atomic(durable=True)
def _replay_batch(ids: list[UUID], *, by: str, at: datetime, ahead: bool) -> Replayed:
    """Of one endpoint: a change of a delivery locks its items at several endpoints in their order, see `queue.add`.

    A replay that locked items at one endpoint and then added some at an earlier one could deadlock with it.
    """
    events = WebhookEvent.objects.filter(pk__in=ids)
    # Items before events, as in a settlement, and all in one order: otherwise two replays could deadlock.
    items = _locked_items(ids)
    ended = list(
        events.exclude(state=EventState.PENDING).select_for_update().order_by("pk").values_list("pk", flat=True)
    )
    WebhookEvent.objects.filter(pk__in=ended).update(state=EventState.PENDING)
    due_at = at - queue.AHEAD_OF_OTHERS if ahead else at
    queue.add_again(outbox.OUTBOX, ended, due_at=due_at)
    # `lease`: only the worker that holds it may write the item.
    free = WebhookQueueItem.objects.filter(pk__in=[item.pk for item in items if item.lease is None])
    free.filter(due_at__gt=at).update(due_at=due_at, tries=Greatest(F("tries") - 1, 0))
    free.filter(due_at__gt=due_at).update(due_at=due_at)  # due already, but after others
    _release_probes(events, at=at)
    _record_in_audit_trail(events, by=by, at=at)
    outbox.wake_on_commit()
    publish_on_commit(*page_updates.events_changed(events.values_list("endpoint", "pk")))
    return _counted(ids, ended, items, at=at)


def _locked_items(ids: list[UUID]) -> list[WebhookQueueItem]:
    """The queue items of these events, and those that they wait behind: of the same delivery and endpoint."""
    events = WebhookEvent.objects.filter(pk__in=ids, delivery__isnull=False).order_by()
    subjects = set(events.values_list("delivery", "endpoint"))
    deliveries, receivers = {delivery for delivery, _ in subjects}, {endpoint for _, endpoint in subjects}
    # Those of every delivery at every endpoint, because an index finds them. The endpoints come first, see `queue.add`.
    ahead = Q(delivery__in=deliveries, endpoint__in=receivers, is_ordered=True)
    items = WebhookQueueItem.objects.filter(Q(event__in=ids) | ahead).order_by("endpoint_id", "pk").select_for_update()
    wanted = set(ids)
    return [each for each in items if each.event_id in wanted or (each.delivery_id, each.endpoint_id) in subjects]


def _release_probes(events: QuerySet[WebhookEvent], *, at: datetime) -> None:
    """Let the next event of each endpoint be sent without waiting for the breaker, but for a Retry-After."""
    paused = WebhookEndpoint.objects.filter(pk__in=events.order_by().values("endpoint"), paused_until__gt=at)
    for endpoint in paused.order_by("pk").select_for_update(no_key=True):
        endpoint.breaker_state = breaker.without_probe_pause(endpoint.breaker_state, at=at)
        endpoint.save(update_fields=BREAKER_FIELDS)


def _counted(
    ids: Sequence[UUID], ended: Sequence[UUID], items: Sequence[WebhookQueueItem], *, at: datetime
) -> Replayed:
    waiting = set(ids) - set(ended)
    claimed = {item.event_id for item in items if item.lease is not None and item.due_at > at}
    blocked_by = {(item.delivery_id, item.endpoint_id): item.event_id for item in items if item.is_ordered}
    own = {item.event_id for item in items}
    behind = {
        event.pk: (event.delivery_id, event.endpoint_id)
        for event in WebhookEvent.objects.filter(pk__in=waiting - own, state=EventState.PENDING).only(
            "delivery", "endpoint"
        )
    }
    held = {event for event, subject in behind.items() if blocked_by.get(subject) in claimed}
    return Replayed(
        again=len(ended),
        due=len((waiting & own) - claimed),
        behind=len(behind) - len(held),
        in_flight=len(waiting & claimed) + len(held),
    )


def _record_in_audit_trail(events: QuerySet[WebhookEvent], *, by: str, at: datetime) -> None:
    """One entry for each account and environment, with the number of events."""
    accounts = events.order_by().values_list("endpoint__integrator", "endpoint__environment").annotate(Count("pk"))
    AuditEntry.objects.bulk_create(
        AuditEntry(
            integrator_id=integrator,
            environment=environment,
            action=AuditAction.EVENTS_REPLAYED,
            subject=str(count),
            by=by,
            at=at,
        )
        for integrator, environment, count in accounts
    )
