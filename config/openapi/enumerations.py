"""Components for enumerations that several schemas share, so that a generated client has one type for each of them."""

from collections.abc import Iterable
from typing import Any

from delivery.lifecycle import Mode, RouteStatus, Status
from delivery.models import VehicleType
from integration import words
from integration.lifecycle import Status as SellerOrderStatus

_VALUES: dict[str, Iterable[str]] = {
    "DeliveryStatus": Status,
    "RouteStatus": RouteStatus,
    "VehicleType": VehicleType,
    "DeliveryMode": Mode,
    "DropoffLabel": "BCD",
    "TrackingReason": ("NOT_ASSIGNED", "NO_POSITION", "FINISHED"),
    "SellerOrderStatus": SellerOrderStatus,
    "SellerService": words.ORDER_SERVICES,
    "Preference": ("handling=strict", "handling=lenient"),
}
_NAMES = {tuple(map(str, values)): name for name, values in _VALUES.items()}
COMPONENTS: dict[str, Any] = {name: {"type": "string", "enum": list(values)} for values, name in _NAMES.items()}


def share(result: dict[str, Any], **_context: Any) -> dict[str, Any]:
    """A postprocessing hook of drf-spectacular: the description with COMPONENTS and references to them."""
    shared: dict[str, Any] = _with_references(result)
    schemas = shared["components"]["schemas"]
    shared["components"]["schemas"] = dict(sorted({**schemas, **COMPONENTS}.items()))
    return shared


def _with_references(value: Any) -> Any:
    """The value with references in place of schemas that list the same values, null allowed or not."""
    if isinstance(value, list):
        return [_with_references(inner) for inner in value]
    if not isinstance(value, dict):
        return value
    listed = value.get("enum", ())
    name = _NAMES.get(tuple(item for item in listed if item is not None))
    if name is None:
        # The mark is for drf-spectacular's own hook.
        return {key: _with_references(inner) for key, inner in value.items() if key != "x-spec-enum-id"}
    reference = {"$ref": f"#/components/schemas/{name}"}
    return {"anyOf": [reference, {"type": "null"}]} if None in listed else reference
