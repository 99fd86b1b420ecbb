"""Settles the outcomes of requests in batches: whether each event has ended or is sent again, and the breakers."""

import logging
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, timedelta

from django.db import transaction

from common.page_updates import publish_on_commit
from common.webhooks import breaker, retry
from common.webhooks.http_client import Result
from delivery import metrics, page_updates
from delivery.models import EventState, OffBecause, WebhookEndpoint
from delivery.models.webhook import BREAKER_FIELDS
from delivery.webhooks import locked_items, queue
from delivery.webhooks.locked_items import LockedItem
from delivery.webhooks.queue import ClaimedItem

_log = logging.getLogger(__name__)
_POISONED_AFTER = 3
# The last success of a healthy endpoint is written at most once a second and not for every event.
_SUCCESS_RESOLUTION = timedelta(seconds=1)
_GONE = 410
# Until an event is tried again that could not be sent for a reason on our side.
_UNSENT_PAUSE = timedelta(seconds=60)


def settle(outcomes: Sequence[tuple[ClaimedItem, Result]], *, at: datetime) -> list[tuple[ClaimedItem, Result]]:
    """Write the outcomes, given in the order in which the requests ended.

    An item whose lease has passed to another worker is left out: that worker writes its own outcome. Returns the
    outcomes that were not written because another transaction has locked their items; they are to be settled again.
    Raises OperationalError, and writes nothing, when another lock is not released within `queue.LOCK_TIMEOUT`.
    """
    if not outcomes:
        return []
    with transaction.atomic():
        attempts, blocked = locked_items.lock(outcomes, successes_since=at - _SUCCESS_RESOLUTION)
        endpoints = _lock_endpoints(attempts)
        before = {pk: (endpoint.breaker_state, endpoint.enabled) for pk, endpoint in endpoints.items()}
        for item, result in attempts:
            _apply_outcome(item, result, endpoints, at=at)
        locked_items.write(attempts, at=at)
        for pk, endpoint in endpoints.items():
            _write_endpoint(endpoint, *before[pk], at=at)
        publish_on_commit(*page_updates.events_changed((item.endpoint_id, item.event_id) for item, _ in attempts))
    for item, result in attempts:
        _count(item, result)
    return blocked


def _count(item: LockedItem, result: Result) -> None:
    status = result.status_code
    metrics.ATTEMPTS.labels(f"{status // 100}xx" if status else result.error).inc()
    if item.state != EventState.PENDING:
        metrics.ENDED.labels(item.state.value).inc()
    if item.attempts_made == 1 and result.succeeded:
        metrics.SENT_AFTER.observe((result.at - item.created_at).total_seconds() + result.milliseconds / 1000)


def _lock_endpoints(attempts: Iterable[tuple[LockedItem, Result]]) -> dict[int, WebhookEndpoint]:
    """The endpoints whose rows these outcomes may change. Most batches change none."""
    ids = {
        item.endpoint_id
        for item, result in attempts
        if result.was_sent and (item.success_is_recorded or not result.succeeded)
    }
    if not ids:
        return {}
    endpoints = WebhookEndpoint.objects.filter(pk__in=ids).order_by("pk").select_for_update(no_key=True)
    return {endpoint.pk: endpoint for endpoint in endpoints}


def _apply_outcome(item: LockedItem, result: Result, endpoints: Mapping[int, WebhookEndpoint], *, at: datetime) -> None:
    if not result.was_sent:
        item.due_at = at + _UNSENT_PAUSE
        return
    item.attempts_made += 1
    item.tries += 1
    endpoint = endpoints.get(item.endpoint_id)
    if result.succeeded:
        item.state = EventState.SENT
        if endpoint is not None:
            endpoint.breaker_state = breaker.after_success(endpoint.breaker_state, sent_at=result.at, at=at)
        return
    retry_after = retry.parse_retry_after(result.retry_after, at=at)
    failing = endpoints[item.endpoint_id]  # locked, because the outcome is a failure
    _schedule_retry(item, result, failing, retry_after=retry_after, at=at)
    _record_failure(failing, item, result, retry_after=retry_after, at=at)


def _schedule_retry(
    item: LockedItem, result: Result, endpoint: WebhookEndpoint, *, retry_after: timedelta, at: datetime
) -> None:
    """Set when the event is sent again, give it up after the last attempt, or mark it as poisoned."""
    item.due_at = retry.next_attempt(tries=item.tries, at=at, retry_after=retry_after)
    if item.due_at is None:
        item.state = EventState.DEAD
        return
    if result.status_code is None:  # no answer, which says nothing about this event
        return
    item.refusals += 1
    item.first_refused_at = item.first_refused_at or at
    last_success_at = endpoint.last_success_at
    accepts_others = last_success_at is not None and last_success_at > item.first_refused_at
    if item.refusals >= _POISONED_AFTER and accepts_others and item.is_ordered:
        item.is_newly_poisoned, item.is_ordered = True, False


def _record_failure(
    endpoint: WebhookEndpoint, item: LockedItem, result: Result, *, retry_after: timedelta, at: datetime
) -> None:
    """Update the breaker, and switch the endpoint off after 410 or five days of failures.

    A refusal of a poisoned event is not counted: the endpoint is known to accept other events.
    """
    if not item.was_poisoned:
        endpoint.breaker_state = breaker.after_failure(
            endpoint.breaker_state, sent_at=result.at, at=at, retry_after=retry_after
        )
    if not endpoint.enabled:
        return
    if result.status_code == _GONE:
        endpoint.switch_off(OffBecause.GONE, at=at)
    elif endpoint.breaker_state.has_given_up(at=at):
        endpoint.switch_off(OffBecause.FAILING, at=at)


def _write_endpoint(
    endpoint: WebhookEndpoint, state_before: breaker.BreakerState, was_enabled: bool, *, at: datetime
) -> None:
    state = endpoint.breaker_state
    if (state, endpoint.enabled) == (state_before, was_enabled):
        return
    endpoint.save(update_fields=[*BREAKER_FIELDS, "enabled", "off_because", "off_since"])
    if state_before.is_open and not state.is_open:
        _log.info("webhook endpoint %s accepts events again", endpoint.pk)
        queue.bring_forward(endpoint_id=endpoint.pk, at=at)
    elif state.is_open and not state_before.is_open:
        _log.warning("webhook endpoint %s failed %s times in a row", endpoint.pk, state.failures)
    if was_enabled and not endpoint.enabled:
        _log.warning("webhook endpoint %s switched off: %s", endpoint.pk, endpoint.get_off_because_display())
