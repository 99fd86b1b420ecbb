"""Expiry of offers that no driver accepted."""

import logging
from datetime import datetime

from django.db import InterfaceError, OperationalError

from delivery.actions import deliveries
from delivery.lifecycle import RouteStatus
from delivery.models import Delivery

_log = logging.getLogger(__name__)


def expire_overdue(*, at: datetime) -> int:
    """Expire every offer at or past its deadline, each in its own transaction. Returns how many were expired.

    An error of one offer is logged with its id and does not affect the others. A lost connection is raised.
    """
    overdue = Delivery.objects.untaken(at=at).order_by("offer_expires_at")
    count = 0
    for delivery in overdue.iterator(chunk_size=200):
        try:
            expired = deliveries.expire(delivery=delivery, by="system: offer deadline", at=at)
        except (OperationalError, InterfaceError):
            raise
        except Exception:  # noqa: BLE001  # logged with its traceback
            _log.exception("The offer of delivery %s cannot be expired", delivery.pk)
        else:
            count += expired.route_status == RouteStatus.EXPIRED
    if count:
        _log.info("%d offers expired", count)
    return count
