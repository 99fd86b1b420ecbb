"""Refused calls with tokens: what of them is kept."""

from datetime import datetime
from typing import Any

from common.masking import Keys
from common.refused_calls import Answered, Recorder, Totals
from delivery.models import Integrator, RefusedDeliveryCall, RefusedDeliveryCallCount, Token

_KEYS = Keys(
    codes=frozenset(
        {
            "vehicleType", "deliveryMode", "externalId", "state", "country", "quantity", "weight", "height", "width",
            "length", "status", "createdFrom", "createdTo", "limit", "cursor", "after", "point", "move",
        }
    ),
    postcodes=frozenset({"zipcode"}),
    coordinates=frozenset({"latitude", "longitude"}),
)  # fmt: skip  # a list of names
recorder = Recorder(RefusedDeliveryCall, RefusedDeliveryCallCount, _KEYS)


def record(*, token: Token, answered: Answered, at: datetime) -> None:
    """Record a refused call for the token's account and environment."""
    recorder.record(_owner(token.integrator_id, token.environment), answered, at=at)


def totals(*, integrator: Integrator, environment: str, at: datetime) -> Totals:
    """What was refused in the last seven days and is not stored."""
    return recorder.totals(_owner(integrator.pk, environment), at=at)


def prune(*, at: datetime) -> int:
    """Delete what is older than seven days. Returns how many calls there were."""
    return recorder.prune(at=at)


def _owner(integrator_id: Any, environment: str) -> dict[str, Any]:
    return {"integrator_id": integrator_id, "environment": environment}
