"""An order of a shop platform in words of no platform: what every module of a platform reads, and both areas use.

Texts are as the platform sent them, without blanks around them and cut where no column could keep more; folding and
checks are each area's. Amounts are reais with two decimals. "" and None say that nothing was found. Pure.
"""

from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from enum import StrEnum


class UnknownForm(Exception):
    """The body is no order of the platform. `missing`: paths of what it lacks, such as `shipping.address_1`."""

    def __init__(self, missing: tuple[str, ...]) -> None:
        super().__init__(", ".join(missing))
        self.missing = missing


class Stage(StrEnum):
    """What the shop says about the order. Of money that comes at the door: see `ShopOrder.pays_at_door`."""

    UNPAID = "unpaid"
    PAID = "paid"
    CANCELLED = "cancelled"


@dataclass(frozen=True, slots=True)
class Item:
    """What has to be shipped still: `quantity` without what was refunded or sent, no virtual products.

    `weight_g`: of one, in grams. `size_cm`: width, height and length of one, in centimetres.
    """

    sku: str
    name: str
    quantity: int
    unit_price: Decimal
    weight_g: int | None = None
    size_cm: tuple[Decimal, Decimal, Decimal] | None = None


@dataclass(frozen=True, slots=True)
class Address:
    """`state` and `country` are codes where the platform has codes: `BA`, `BR`. Coordinates: the platform's own."""

    postal_code: str
    street: str
    number: str
    complement: str
    district: str
    city: str
    state: str
    country: str
    latitude: float | None = None
    longitude: float | None = None


@dataclass(frozen=True, slots=True)
class Person:
    """`document`: CPF or CNPJ, as it was typed."""

    name: str
    phone: str
    email: str
    document: str


@dataclass(frozen=True, slots=True)
class ShopOrder:
    """An order as its platform's webhook posts it.

    `id`: the platform's own, the same each time that it posts the order. `number`: what people call the order.
    `changed_at`: of the order, not of the posting; an earlier one than known is out of date. `receiver`: of the
    shipping address, and what that lacks from who pays. `note`: the customer's. `shipping_methods`: titles and codes of
    each, which the text of a connection is looked for in. `total`: after refunds. `items`: empty if nothing has to be
    shipped, because all is virtual, refunded or sent, or because the customer collects it.
    """

    id: str
    number: str
    stage: Stage
    is_test: bool
    placed_at: datetime | None
    changed_at: datetime | None
    receiver: Person
    address: Address
    note: str
    shipping_methods: tuple[str, ...]
    total: Decimal
    pays_at_door: bool
    items: tuple[Item, ...]
