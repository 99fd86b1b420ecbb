"""Expiry of offers that no driver accepted."""

import logging
from datetime import datetime
from functools import partial

from common.each_row import each
from delivery.actions import deliveries
from delivery.lifecycle import RouteStatus
from delivery.models import Delivery

_log = logging.getLogger(__name__)


def expire_overdue(*, at: datetime) -> int:
    """Expire every offer at or past its deadline, each in its own transaction. Returns how many were expired.

    An error of one offer is logged with its id and does not affect the others. A lost connection is raised.
    """
    overdue = Delivery.objects.untaken(at=at).order_by("offer_expires_at").iterator(chunk_size=200)
    expire = partial(_expire, at=at)
    count = sum(each(overdue, expire, doing="expire the offer of delivery"))
    if count:
        _log.info("%d offers expired", count)
    return count


def _expire(delivery: Delivery, *, at: datetime) -> bool:
    expired = deliveries.expire(delivery=delivery, by="system: offer deadline", at=at)
    return expired.route_status == RouteStatus.EXPIRED
