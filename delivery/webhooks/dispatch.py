"""Claim what is due, send it, record the outcome. No HTTP inside a transaction, no transaction around a wait."""

import logging
from collections.abc import Sequence
from datetime import datetime, timedelta
from uuid import UUID, uuid4

from cryptography.fernet import InvalidToken
from django.conf import settings
from django.db import transaction
from django.utils import timezone

from delivery.models import EventState, Token, WebhookAttempt, WebhookEvent
from delivery.webhooks import retry, sending, signing
from delivery.webhooks.sending import Outgoing, Result

_log = logging.getLogger(__name__)
_BATCH = 50
# Longer than a batch can take; a worker that dies leaves its events to others after this.
_LEASE = timedelta(seconds=60)


def send_batch() -> int:
    """Send one batch of due events. Returns how many there were."""
    lease = uuid4()
    events = claim(lease=lease, at=timezone.now())
    if events:
        record(lease=lease, results=_send(events), at=timezone.now())
    return len(events)


@transaction.atomic
def claim(*, lease: UUID, at: datetime) -> list[WebhookEvent]:
    """Take the oldest due events that no other worker holds, under this lease."""
    due = WebhookEvent.objects.due(at=at).select_for_update(skip_locked=True, of=("self",))
    ids = list(due.order_by("next_attempt_at").values_list("pk", flat=True)[:_BATCH])
    WebhookEvent.objects.filter(pk__in=ids).update(lease=lease, leased_until=at + _LEASE)
    claimed = WebhookEvent.objects.filter(pk__in=ids).select_related("endpoint", "delivery__token")
    return list(claimed.order_by("next_attempt_at"))


@transaction.atomic
def record(*, lease: UUID, results: Sequence[Result], at: datetime) -> None:
    """Write what came of each event. One whose lease has passed to another worker is left to that worker."""
    by_id = {result.event_id: result for result in results}
    held = list(WebhookEvent.objects.select_for_update().filter(pk__in=by_id, lease=lease))
    for event in held:
        _settle(event, by_id[event.pk], at=at)
    WebhookEvent.objects.bulk_update(
        held, ["state", "attempts_made", "next_attempt_at", "leased_until", "lease", "sent_at"]
    )
    WebhookAttempt.objects.bulk_create(_attempt(event, by_id[event.pk]) for event in held)


def _settle(event: WebhookEvent, result: Result, *, at: datetime) -> None:
    event.attempts_made += 1
    event.lease = event.leased_until = None
    if result.succeeded:
        event.state = EventState.SENT
        event.sent_at = at
        event.next_attempt_at = None
        return
    event.next_attempt_at = retry.next_attempt(attempts_made=event.attempts_made, at=at, retry_after=result.retry_after)
    if event.next_attempt_at is None:
        event.state = EventState.DEAD


def _attempt(event: WebhookEvent, result: Result) -> WebhookAttempt:
    return WebhookAttempt(
        event=event,
        number=event.attempts_made,
        at=result.at,
        milliseconds=result.milliseconds,
        status_code=result.status_code,
        error=result.error,
        response_start=result.response_start,
    )


def _send(events: Sequence[WebhookEvent]) -> list[Result]:
    at = timezone.now()
    tokens = _tokens(events, at=at)
    outgoing, results = [], []
    for event in events:
        try:
            outgoing.append(_outgoing(event, tokens[event.pk], at=at))
        except InvalidToken:  # one account's secrets cannot be read with CREDENTIALS_KEYS; the others' can
            _log.exception("secrets of event %s cannot be decrypted", event.pk)
            results.append(Result(event.pk, error="secrets_unreadable"))
    return results + sending.send_all(outgoing, allow_loopback=settings.WEBHOOK_ALLOW_LOOPBACK)


def _tokens(events: Sequence[WebhookEvent], *, at: datetime) -> dict[UUID, Token | None]:
    """For each event the token that requested the delivery while it is valid, else the account's newest valid one."""
    accounts = {event.endpoint.integrator_id for event in events if not event.delivery.token.is_valid(at=at)}
    newest = {
        (token.integrator_id, token.environment): token
        for token in Token.objects.valid(at=at).filter(integrator__in=accounts).order_by("created_at")
    }
    return {
        event.pk: event.delivery.token
        if event.delivery.token.is_valid(at=at)
        else newest.get((event.endpoint.integrator_id, event.endpoint.environment))
        for event in events
    }


def _outgoing(event: WebhookEvent, token: Token | None, *, at: datetime) -> Outgoing:
    timestamp = int(at.timestamp())
    headers = {
        "Content-Type": "application/json",
        "User-Agent": "Rota-Webhooks/1",
        "webhook-id": str(event.pk),
        "webhook-timestamp": str(timestamp),
        "webhook-signature": signing.sign(
            webhook_id=str(event.pk), timestamp=timestamp, body=event.body, secrets=event.endpoint.secrets(at=at)
        ),
        "webhook-sequence": str(event.sequence),
    }
    if token is not None:
        headers["Authorization"] = f"Bearer {token.clear_text}"
    return Outgoing(event_id=event.pk, url=event.endpoint.url, headers=headers, body=event.body)
