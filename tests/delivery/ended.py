"""Deliveries that have ended, as rows: in any way, at any moment, with any price and fee."""

from datetime import datetime
from decimal import Decimal
from typing import NamedTuple

from common.fields import new_id
from delivery.lifecycle import Ending, RouteStatus, Status
from delivery.models import Delivery, Driver

_STATUSES = {
    Ending.DELIVERED: (Status.DELIVERED, RouteStatus.FINISHED),
    Ending.NOT_DELIVERED: (Status.FAILED, RouteStatus.FINISHED),
    Ending.CANCELLED: (Status.FAILED, RouteStatus.CANCELLED),
    Ending.EXPIRED: (Status.FAILED, RouteStatus.EXPIRED),
}


class Ended(NamedTuple):
    at: datetime
    ending: Ending = Ending.DELIVERED
    price: Decimal = Decimal("20.00")
    fee: Decimal = Decimal("6.00")

    @property
    def amount(self) -> Decimal:
        """Said a second time, for comparison."""
        prices = {Ending.DELIVERED: self.price, Ending.NOT_DELIVERED: self.price, Ending.CANCELLED: self.fee}
        return prices.get(self.ending, Decimal(0))


def insert(pattern: Delivery, *rows: Ended, driver: Driver) -> list[Delivery]:
    """Rows like `pattern`, of its account and environment, without stops and history."""
    return Delivery.objects.bulk_create(_row(pattern, row, driver) for row in rows)


def _row(pattern: Delivery, row: Ended, driver: Driver) -> Delivery:
    copy = Delivery.objects.get(pk=pattern.pk)
    copy.pk, copy.route_id = new_id(), new_id()
    status, route = _STATUSES[row.ending]
    copy.status, copy.route_status = status.value, route.value
    copy.driver = None if row.ending is Ending.EXPIRED else driver
    copy.shipping_value, copy.closed_at = row.price, row.at
    if row.ending is Ending.CANCELLED:
        copy.cancelled_at, copy.cancel_fee = row.at, row.fee
    return copy
