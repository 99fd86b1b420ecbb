"""The end of offers that nobody took."""

import logging
from datetime import datetime

from delivery.actions import deliveries
from delivery.models import Delivery

_log = logging.getLogger(__name__)


def expire_overdue(*, at: datetime) -> int:
    """Expire every offer past its deadline, each in its own transaction. Returns how many were looked at."""
    overdue = Delivery.objects.untaken(at=at).order_by("offer_expires_at")
    count = 0
    for delivery in overdue.iterator(chunk_size=200):
        deliveries.expire(delivery=delivery, by="system: offer deadline", at=at)
        count += 1
    if count:
        _log.info("%d offers expired", count)
    return count
