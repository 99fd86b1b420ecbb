"""An event as the integrator receives it."""

import json
from datetime import datetime

from delivery import bodies
from delivery.models import Delivery, EventState, WebhookEndpoint, WebhookEvent


def build(*, delivery: Delivery, endpoint: WebhookEndpoint, at: datetime) -> WebhookEvent:
    """The unsaved event of the delivery's latest change. Without a URL it is kept, and not sent."""
    return WebhookEvent(
        delivery=delivery,
        endpoint=endpoint,
        sequence=delivery.last_sequence,
        name=delivery.status,
        body=json.dumps(bodies.event(delivery), ensure_ascii=False, separators=(",", ":")),
        created_at=at,
        state=EventState.PENDING if endpoint.url else EventState.UNADDRESSED,
        next_attempt_at=at,
    )
