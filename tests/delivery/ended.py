"""Deliveries that have ended: as rows, in any way, at any moment, with any price and fee, and moved by the actions."""

from dataclasses import replace
from datetime import datetime
from decimal import Decimal
from typing import NamedTuple

from common.fields import new_id
from delivery.actions import moves, stops
from delivery.lifecycle import Ending, Mode, OnFailure, RouteStatus, Status
from delivery.models import Delivery, Driver, Token
from delivery.payload import Options
from delivery.pricing import Charge
from tests.factories import BY, DeliveryFactory, validated_payload
from tests.money import percent_of

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


class Travel(NamedTuple):
    """Moves of a delivery with two drop-offs that are tried twice, and what they cost, in percent of its price.

    `retries`: how many second attempts were made; `back`: whether the way back to A is not in the price.
    """

    moves: str
    price: int = 100
    retries: int = 0
    back: bool = False
    fee: tuple[Charge, int] | None = None
    mode: Mode = Mode.DEFAULT

    def owed(self, delivery: Delivery, *, retry: Decimal, back: Decimal) -> dict[Charge, Decimal]:
        """Said a second time, for comparison, without the charges that it does not have."""
        percents = {Charge.PRICE: Decimal(self.price)} if self.price else {}
        percents |= {self.fee[0]: Decimal(self.fee[1])} if self.fee else {}
        percents |= {Charge.RETURN: back} if self.back else {}
        owed = {charge: percent_of(delivery.shipping_value, percent) for charge, percent in percents.items()}
        once = percent_of(delivery.shipping_value, retry)
        return owed | ({Charge.RETRY: self.retries * once} if self.retries else {})


_IN_VAIN, _AFTER_PICKUP = "accept, collect, fail B, deliver C, fail B", (Charge.CANCEL_COLLECTED, 100)
TRAVELS = [
    Travel("accept, collect, deliver B, deliver C"),
    Travel("accept, collect, fail B, deliver C, deliver B", retries=1),
    Travel(f"{_IN_VAIN}, return", retries=1, back=True),
    Travel("accept, collect, fail B, fail C, fail B, fail C, return", retries=2, back=True),
    Travel("accept, collect, fail B, recall B, deliver C, return", back=True),
    Travel("accept, collect, fail B, deliver C, recall B, return", back=True),
    Travel(f"{_IN_VAIN}, return", retries=1, mode=Mode.RETURN),
    Travel("accept, collect B, fail C, return", mode=Mode.REVERSE),
    Travel("accept, fail B, fail C", mode=Mode.REVERSE),
    Travel("cancel", price=0),
    Travel("accept, cancel", price=0, fee=(Charge.CANCEL_ACCEPTED, 30)),
    Travel("accept, collect, cancel, return", price=0, fee=_AFTER_PICKUP),
    Travel("accept, collect, fail B, cancel, return", price=0, fee=_AFTER_PICKUP),
    Travel("accept, collect B, cancel, return", price=0, fee=_AFTER_PICKUP, mode=Mode.REVERSE),
    Travel(f"{_IN_VAIN}, cancel, return", price=0, retries=1, back=True, fee=_AFTER_PICKUP),
]


def travelled(travel: Travel, *, token: Token, at: datetime) -> Delivery:
    """A new delivery after these moves. `recall`: the account answers a failure with RETURN."""
    payload = validated_payload(stops=2, mode=travel.mode)
    options = Options() if travel.mode is Mode.REVERSE else Options(on_failure=OnFailure.RETRY)
    dropoffs = [replace(place, options=options) for place in payload.dropoffs]
    delivery: Delivery = DeliveryFactory.create(payload=replace(payload, dropoffs=dropoffs), token=token, at=at)
    for move in travel.moves.split(", "):
        name, _space, point = move.partition(" ")
        if name == "recall":
            answer = {"answer": OnFailure.RETURN, "instructions": None}
            delivery = stops.instruct(delivery=delivery, point=point, **answer, by=BY, at=at)
        else:
            fields = {"point": point, "reason": "closed"}
            delivery = moves.perform(name, delivery=delivery, fields=fields, by=BY, at=at)
    return delivery
