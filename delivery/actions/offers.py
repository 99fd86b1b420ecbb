"""The end of offers that nobody took."""

import logging
from datetime import datetime

from django.db import InterfaceError, OperationalError

from delivery.actions import deliveries
from delivery.models import Delivery

_log = logging.getLogger(__name__)


def expire_overdue(*, at: datetime) -> int:
    """Expire every offer past its deadline, each in its own transaction. Returns how many were expired.

    An offer that cannot be expired is logged and does not stop the others. A lost connection does.
    """
    overdue = Delivery.objects.untaken(at=at).order_by("offer_expires_at")
    count = 0
    for delivery in overdue.iterator(chunk_size=200):
        try:
            deliveries.expire(delivery=delivery, by="system: offer deadline", at=at)
        except (OperationalError, InterfaceError):
            raise
        except Exception:  # noqa: BLE001  # whatever is wrong with one row is logged with its traceback
            _log.exception("The offer of delivery %s cannot be expired", delivery.pk)
        else:
            count += 1
    if count:
        _log.info("%d offers expired", count)
    return count
