"""Sending recorded webhook events again, and those that wait for a retry at once."""

import logging
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import groupby
from operator import itemgetter
from typing import Any
from uuid import UUID

from django.db import transaction
from django.db.models import Count, Exists, F, OuterRef, Q, QuerySet
from django.db.models.functions import Greatest

from common.pages.page_updates import publish_on_commit
from common.webhooks import breaker, endpoints, queue
from common.webhooks.errors import EndpointCannotSend
from common.webhooks.models import BREAKER_FIELDS, Endpoint, EndpointAction, EventState
from common.webhooks.outbox import Outbox, outbox_of
from common.workers import wake_up

_log = logging.getLogger(__name__)
# Events of one transaction. It locks their queue items, which changes of their subjects wait for.
_BATCH = 5000
_BY_MISSED = "setting of the URL"


@dataclass(frozen=True)
class Replayed:
    """Numbers of events, by what `replay` has done with them."""

    again: int = 0  # had ended, and are sent again
    due: int = 0  # waited, and are sent now
    behind: int = 0  # wait for an earlier event of their subject, which is sent now
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


def replay(*, events: QuerySet[Any], by: str, at: datetime, ahead: bool = False) -> Replayed:
    """Send these events now, with the same ids and bodies, those of one subject in order.

    Events that had ended begin the schedule of retries again. For those that wait, the queue items of their subjects at
    the same endpoint become due, so an earlier event that blocks them is sent first; this try does not count towards
    the schedule. What a worker has claimed is left to it. The breaker of a failing endpoint lets one event through at
    once. With `ahead` the events are sent before all others of their endpoint; for a few that a person has chosen.

    Raises EndpointCannotSend before anything is changed. Each batch, up to 5,000 events of one endpoint, is a
    transaction of its own, so an error leaves the batches before it replayed and in the audit trail. Raises
    RuntimeError inside a transaction.
    """
    outbox = outbox_of(events.model)
    for endpoint in _endpoints_of(outbox, events):
        endpoints.check_can_send(endpoint, at=at)
    replayed = Replayed()
    # UUIDv7: those of an endpoint in the order in which they were recorded.
    rows = events.order_by("endpoint", "pk").values_list("endpoint", "pk")
    for _endpoint, of_endpoint in groupby(rows, key=itemgetter(0)):
        ids = [pk for _endpoint, pk in of_endpoint]
        for first in range(0, len(ids), _BATCH):
            replayed += _replay_batch(ids[first : first + _BATCH], outbox=outbox, by=by, at=at, ahead=ahead)
    _log.info("webhook events replayed by %s: %s", by, replayed)
    return replayed


def send_missed(*, endpoint: Endpoint, since: datetime, until: datetime, at: datetime) -> Replayed:
    """Send the changes that read the endpoint without a URL while that was being set: from `since` to its commit.

    A change reads the endpoints before it commits, without a lock, which every change would pay for. So this is called
    when all that have read the endpoint before are committed. Those made before `since` are left to be recovered, and
    so are those of a subject of which a later event has been sent or will be: they would be received after it.
    """
    outbox = outbox_of(type(endpoint))
    if not endpoint.url:
        return Replayed()
    outbox.record_rest(endpoint, since)
    events: QuerySet[Any] = endpoint.events.filter(created_at__range=(since, until))
    missed = events.filter(state=EventState.UNADDRESSED, name__in=endpoint.statuses or endpoint.all_statuses())
    same_subject: dict[str, Any] = {outbox.subject: OuterRef(outbox.subject)}
    later = outbox.events._default_manager.filter(endpoint=endpoint, sequence__gt=OuterRef("sequence"), **same_subject)
    missed = missed.exclude(Exists(later.exclude(state__in=[EventState.UNADDRESSED, EventState.FILTERED])))
    try:
        return replay(events=missed, by=_BY_MISSED, at=at)
    except EndpointCannotSend as error:
        _log.warning("What webhook endpoint %s has missed is left to be recovered: %s", endpoint.pk, error)
        return Replayed()


@transaction.atomic(durable=True)
def _replay_batch(ids: list[UUID], *, outbox: Outbox, by: str, at: datetime, ahead: bool) -> Replayed:
    """Of one endpoint: a change of a subject locks its items at several endpoints in their order, see `queue.add`.

    A replay that locked items at one endpoint and then added some at an earlier one could deadlock with it.
    """
    all_events: Any = outbox.events._default_manager
    events = all_events.filter(pk__in=ids)
    # Items before events, as in a settlement, and all in one order: otherwise two replays could deadlock.
    items = _locked_items(outbox, ids)
    ended = list(
        events.exclude(state=EventState.PENDING).select_for_update().order_by("pk").values_list("pk", flat=True)
    )
    all_events.filter(pk__in=ended).update(state=EventState.PENDING)
    due_at = at - queue.AHEAD_OF_OTHERS if ahead else at
    queue.add_again(outbox, ended, due_at=due_at)
    # `lease`: only the worker that holds it may write the item.
    free = outbox.items._default_manager.filter(pk__in=[item.pk for item in items if item.lease is None])
    free.filter(due_at__gt=at).update(due_at=due_at, tries=Greatest(F("tries") - 1, 0))
    free.filter(due_at__gt=due_at).update(due_at=due_at)  # due already, but after others
    _release_probes(outbox, events, at=at)
    _record_in_audit_trail(outbox, events, by=by, at=at)
    wake_up.send_on_commit(outbox.task)
    publish_on_commit(*outbox.messages(events.values_list("endpoint", "pk")))
    return _counted(outbox, ids, ended, items, at=at)


def _locked_items(outbox: Outbox, ids: list[UUID]) -> list[Any]:
    """The queue items of these events, and those that they wait behind: of the same subject and endpoint."""
    of_subjects = outbox.events._default_manager.filter(pk__in=ids, **{f"{outbox.subject}__isnull": False})
    pairs = set(of_subjects.order_by().values_list(outbox.subject, "endpoint"))
    subjects, receivers = {subject for subject, _ in pairs}, {endpoint for _, endpoint in pairs}
    # Those of every subject at every endpoint, because an index finds them. The endpoints come first, see `queue.add`.
    ahead = Q(**{f"{outbox.subject}__in": subjects}, endpoint__in=receivers, is_ordered=True)
    items = outbox.items._default_manager.filter(Q(event__in=ids) | ahead).order_by("endpoint_id", "pk")
    wanted = set(ids)
    return [
        each
        for each in items.select_for_update()
        if each.event_id in wanted or outbox.subject_and_endpoint(each) in pairs
    ]


def _endpoints_of(outbox: Outbox, events: QuerySet[Any]) -> QuerySet[Any]:
    endpoints: QuerySet[Any] = outbox.endpoints._default_manager.filter(pk__in=events.order_by().values("endpoint"))
    return endpoints


def _release_probes(outbox: Outbox, events: QuerySet[Any], *, at: datetime) -> None:
    """Let the next event of each endpoint be sent without waiting for the breaker, but for a Retry-After."""
    paused = _endpoints_of(outbox, events).filter(paused_until__gt=at)
    for endpoint in paused.order_by("pk").select_for_update(no_key=True):
        endpoint.breaker_state = breaker.without_probe_pause(endpoint.breaker_state, at=at)
        endpoint.save(update_fields=BREAKER_FIELDS)


def _counted(
    outbox: Outbox, ids: Sequence[UUID], ended: Sequence[UUID], items: Sequence[Any], *, at: datetime
) -> Replayed:
    waiting = set(ids) - set(ended)
    claimed = {item.event_id for item in items if item.lease is not None and item.due_at > at}
    blocked_by = {outbox.subject_and_endpoint(item): item.event_id for item in items if item.is_ordered}
    own = {item.event_id for item in items}
    still = outbox.events._default_manager.filter(pk__in=waiting - own, state=EventState.PENDING)
    behind = {event.pk: outbox.subject_and_endpoint(event) for event in still.only(outbox.subject, "endpoint")}
    held = {event for event, subject in behind.items() if blocked_by.get(subject) in claimed}
    return Replayed(
        again=len(ended),
        due=len((waiting & own) - claimed),
        behind=len(behind) - len(held),
        in_flight=len(waiting & claimed) + len(held),
    )


def _record_in_audit_trail(outbox: Outbox, events: QuerySet[Any], *, by: str, at: datetime) -> None:
    """One entry for each owner and environment, with the number of events."""
    owner = outbox.endpoints.OWNER
    counts = events.order_by().values_list(f"endpoint__{owner}", "endpoint__environment").annotate(Count("pk"))
    same: dict[str, Any] = {"action": EndpointAction.EVENTS_REPLAYED, "by": by, "at": at}
    outbox.audit._default_manager.bulk_create(
        outbox.audit(**{f"{owner}_id": key}, environment=environment, subject=str(count), **same)
        for key, environment, count in counts
    )
