"""Hooks of drf-spectacular: the order of the endpoints, and components for what several schemas share."""

from collections.abc import Callable, Iterable
from typing import Any

from common.shops.drafts import Reason
from common.shops.models import DraftStatus
from common.webhooks.models import EventState
from delivery.lifecycle import FailureCode, Mode, OnFailure, RouteStatus, Status
from delivery.models import VehicleType
from integration import words
from integration.lifecycle import Status as SellerOrderStatus
from integration.models.manifest import STATUSES as MANIFEST_STATUSES
from integration.papers.files import FORMATS
from integration.papers.label_pdf import Size

Endpoint = tuple[str, str, str, Callable[..., Any]]  # path, its regular expression, method and view
# Enumerations that several schemas have, so that a generated client has one type for each of them.
_VALUES: dict[str, Iterable[str]] = {
    "DeliveryStatus": Status,
    "DraftStatus": DraftStatus,
    "ShopOrderReason": [each.value for each in Reason if each not in (Reason.NONE, Reason.UNKNOWN_FORM)],
    "RouteStatus": RouteStatus,
    "VehicleType": VehicleType,
    "DeliveryMode": Mode,
    "FailureCode": FailureCode,
    "OnFailure": OnFailure,
    "DropoffLabel": "BCD",
    "TrackingReason": ("NOT_ASSIGNED", "NO_POSITION", "FINISHED"),
    "SellerOrderStatus": SellerOrderStatus,
    "WebhookEventState": EventState,
    "SellerReason": words.REASONS,
    "SellerService": words.ORDER_SERVICES,
    "SellerLabelSize": Size,
    "SellerLabelFormat": FORMATS,
    "SellerManifestStatus": MANIFEST_STATUSES,
}
_NAMES = {tuple(map(str, values)): name for name, values in _VALUES.items()}
COMPONENTS: dict[str, Any] = {name: {"type": "string", "enum": list(values)} for values, name in _NAMES.items()}


def by_definition(endpoints: list[Endpoint]) -> list[Endpoint]:
    """In the order of the URLs, and within a view set of its methods. The router has these in the alphabet's order."""
    views = list(dict.fromkeys(_view(endpoint) for endpoint in endpoints))

    def position(endpoint: Endpoint) -> tuple[int, int]:
        _path, _regex, method, callback = endpoint
        view = _view(endpoint)
        name = getattr(callback, "actions", {}).get(method.lower(), method.lower())
        return views.index(view), list(vars(view)).index(name)

    return sorted(endpoints, key=position)


def _view(endpoint: Endpoint) -> Any:
    return endpoint[3].cls  # type: ignore[attr-defined]  # set by `as_view`


def share(result: dict[str, Any], **_context: Any) -> dict[str, Any]:
    """The description with COMPONENTS and references to them. Raises ValueError if a body has the name of one."""
    shared: dict[str, Any] = _with_references(result)
    schemas = shared["components"]["schemas"]
    if taken := schemas.keys() & COMPONENTS.keys():
        raise ValueError(f"Another component has the name of the enumeration {', '.join(taken)}.")
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
