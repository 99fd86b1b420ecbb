"""Builds events in the form that integrators receive."""

import json
from datetime import datetime

from common import tracing
from delivery import bodies
from delivery.body_types import Event
from delivery.lifecycle import Status
from delivery.models import Delivery, EventState, WebhookEndpoint, WebhookEvent


def build(*, delivery: Delivery, endpoint: WebhookEndpoint, at: datetime) -> WebhookEvent:
    """The unsaved event of the delivery's latest change; in state UNADDRESSED where the endpoint has no URL."""
    return WebhookEvent(
        delivery=delivery,
        endpoint=endpoint,
        sequence=delivery.last_sequence,
        name=delivery.status,
        body=_text(bodies.event(delivery)),
        created_at=at,
        trace_context=tracing.traceparent(),
        state=EventState.PENDING if endpoint.url else EventState.UNADDRESSED,
    )


def build_test(*, endpoint: WebhookEndpoint, at: datetime) -> WebhookEvent:
    """An unsaved test event, which has no delivery and the same keys as a real one."""
    return WebhookEvent(
        endpoint=endpoint,
        sequence=1,
        name=Status.PENDING,
        body=_text(bodies.TEST_EVENT),
        created_at=at,
        trace_context=tracing.traceparent(),
    )


def _text(body: Event) -> str:
    return json.dumps(body, ensure_ascii=False, separators=(",", ":"))
