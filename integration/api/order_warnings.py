"""What of an accepted order is probably a mistake: the freight quote would refuse it, the specification accepts it."""

import re
from collections.abc import Iterator
from decimal import Decimal

from common.views import PayloadWarning
from integration import freight, postcodes
from integration.actions.invoices import compact_key
from integration.actions.orders import Address, Item, NewOrder
from integration.errors import NoCoverage
from integration.models import FreightParameters

_ACCESS_KEY = re.compile(r"[0-9A-Z]{44}")
_ADDRESS = ("receiver", "address")


def warnings_about(order: NewOrder) -> list[PayloadWarning]:
    """Warnings with the codes of `answers.WARNINGS`. Reads the freight parameters."""
    heaviest = Decimal(FreightParameters.current().max_weight_g) / 1000
    found = [*_of_address(order.receiver["address"])]
    for index, item in enumerate(order.items):
        found += _of_item(index, item, heaviest_kg=heaviest)
    key = compact_key((order.invoice or {}).get("key") or "")
    if key and not _ACCESS_KEY.fullmatch(key):
        found.append(PayloadWarning(("invoice", "key"), "invalid_access_key"))
    return found


def _of_address(address: Address) -> Iterator[PayloadWarning]:
    state = address["state"].upper()
    if state not in freight.STATES:
        yield PayloadWarning((*_ADDRESS, "state"), "unknown_state")
    try:
        region = postcodes.region(address["zipCode"].replace("-", "", 1))
    except NoCoverage:
        yield PayloadWarning((*_ADDRESS, "zipCode"), "unassigned_postcode")
        return
    if state in freight.STATES and region.state != state:
        yield PayloadWarning((*_ADDRESS, "zipCode"), "postcode_of_another_state")


def _of_item(index: int, item: Item, *, heaviest_kg: Decimal) -> Iterator[PayloadWarning]:
    sides, weight = item["dimensions"].split(",")
    if "0" in (side.lstrip("0") or "0" for side in sides.split("x")):
        yield PayloadWarning(("items", index, "dimensions"), "side_is_zero")
    if not 0 < Decimal(weight) <= heaviest_kg:
        yield PayloadWarning(("items", index, "dimensions"), "weight_out_of_range")
