"""Deletes old attempts."""

from datetime import datetime, timedelta

from common import pruning
from delivery.models import WebhookAttempt

KEPT = timedelta(days=30)


def prune(*, at: datetime) -> int:
    """Delete attempts older than 30 days. Returns how many there were."""
    return pruning.prune(WebhookAttempt, "at", before=at - KEPT)
