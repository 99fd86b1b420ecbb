"""Refused calls with API keys: what of them is kept."""

from datetime import datetime

from common.masking import Keys
from common.refused_calls import Answered, Recorder, Totals
from integration.models import ApiKey, RefusedSellerCall, RefusedSellerCallCount, Seller

_KEYS = Keys(
    codes=frozenset(
        {
            "orderId", "trackingCode", "service", "orderCost", "price", "quantity", "dimensions", "state", "type",
            "weight", "height", "width", "length", "declared_amount", "status", "createdFrom", "createdTo",
            "limit", "cursor",
        }
    ),
    postcodes=frozenset({"origin", "destination", "zipCode"}),
    coordinates=frozenset(),
)  # fmt: skip  # a list of names
recorder = Recorder(RefusedSellerCall, RefusedSellerCallCount, _KEYS)


def record(*, key: ApiKey, answered: Answered, at: datetime) -> None:
    """Record a refused call for the key's seller."""
    recorder.record({"seller_id": key.seller_id}, answered, at=at)


def totals(*, seller: Seller, at: datetime) -> Totals:
    """What was refused in the last seven days and is not stored."""
    return recorder.totals({"seller_id": seller.pk}, at=at)


def prune(*, at: datetime) -> int:
    """Delete what is older than seven days. Returns how many calls there were."""
    return recorder.prune(at=at)
