"""The rows that a valid request of the description acts on, so that the service reads its body and does not answer 404.

Each call names a delivery, an order, a manifest or an invoice that there is, in a state in which the call is allowed. A
row serves the requests of its operation until one of them has changed it.
"""

import os
import re
import secrets
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import requests

_SECONDS = 10
_INVOICE = Path(__file__).with_name("invoice.xml").read_text()
_POINTS = "BCD"
_MANUAL = "sim-manual-"  # the simulated driver and carrier leave it alone
_PLACE = {"latitude": -23.561414, "longitude": -46.655881}
_MOST = {"latitude": 90, "longitude": 180}
_MOMENT = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}[Tt].+")
# When the ends of windows are, in hours from now.
_HOURS = {"pickupReadyAt": 1, "pickupDeadlineAt": 2, "readyAt": 1, "deadlineAt": 3}
_DROPOFF = {"address": {"latitude": -23.5655, "longitude": -46.65}, "externalId": _MANUAL}
_DELIVERY: dict[str, Any] = {
    "vehicleType": "MOTORCYCLE",
    "pickup": {"contacts": {"name": "Loja", "phoneNumber": "+55 11 97777-0001"}, "address": _PLACE},
    "dropoffs": [_DROPOFF for _point in _POINTS],
}
_ORDER: dict[str, Any] = {
    "orderCost": 150.5,
    "service": "base",
    "items": [{"description": "Cafeteira", "dimensions": "10x20x30,1.5", "quantity": 1, "price": 150.5}],
    "receiver": {
        "name": "Maria",
        "address": {
            "state": "SP", "city": "São Paulo", "zipCode": "01304001", "street": "Rua Augusta", "streetNumber": "900",
            "neighborhood": "Consolação",
        },
    },
}  # fmt: skip  # an order
Parameters = dict[str, Any]


@dataclass
class _Row:
    """The parameters that name it, and the drop-offs at which nothing was done yet."""

    named: Parameters
    points: list[str] = field(default_factory=lambda: [*_POINTS])


class Rows:
    """Makes rows with calls of the API and keeps those that serve further requests."""

    def __init__(self, url: str, authorization: str) -> None:
        self._url, self._session = url, requests.Session()
        self._session.headers["Authorization"] = authorization
        self._kept: dict[tuple[str, str | None], _Row] = {}  # by operation and the status that it moves to
        self._orders: dict[str, str] = {}  # of bodies that name one, by operation
        self._waiting: list[str] = []  # orders for bodies that name several
        self._company = ""

    def parameters(self, operation: str, sent: Parameters) -> Parameters:
        """The path's parameters with those of a row, if the operation has one."""
        make = _MAKERS.get(operation)
        if make is None:
            return sent
        key = (operation, sent.get("status"))
        if key not in self._kept:
            self._kept[key] = _Row(make(self, sent))
        row = self._kept[key]
        return {**sent, **row.named, **({"point": row.points[0]} if operation in _AT_POINTS else {})}

    def body(self, operation: str, sent: Any) -> Any:
        """A valid body with the ids of orders that wait for collection; those of a new order, if it makes one."""
        if not isinstance(sent, dict):
            return sent
        if "dropoffs" in sent:
            dropoffs = [{**each, "address": _located(each["address"])} for each in sent["dropoffs"]]
            return {**sent, "dropoffs": dropoffs}
        if "company_document" in sent:
            new = {
                key: f"{secrets.token_hex(8)}{sent[key]}"[:255] for key in ("orderId", "trackingCode") if sent.get(key)
            }
            return {**sent, **new, "company_document": self.company}
        if "orderId" in sent:
            if operation not in self._orders:
                self._orders[operation] = self.order()
            return {**sent, "orderId": self._orders[operation]}
        if "orderIds" in sent:
            self._waiting += [self.order() for _ in range(len(sent["orderIds"]) - len(self._waiting))]
            return {**sent, "orderIds": self._waiting[: len(sent["orderIds"])]}
        return sent

    def used(self, operation: str, sent: Parameters, answer: Any) -> None:
        """A request has changed the rows of its operation."""
        if operation in _OF_MANIFESTS:  # with it go its orders
            self._call("DELETE", f"/api/integration/manifests/{answer.json()['data']['manifestId']}")
        key = (operation, sent.get("status"))
        if operation in _AT_POINTS and key in self._kept and self._kept[key].points[1:]:
            self._kept[key].points.pop(0)
        elif operation in _CHANGED:
            self._kept.pop(key, None)
            self._orders.pop(operation, None)

    @property
    def company(self) -> str:
        """The document of a company of the seller."""
        if not self._company:
            self._company = self._call("GET", "/api/integration/account")["data"]["companies"][0]["document"]
        return self._company

    def delivery(self, *moves: str, **further: Any) -> Parameters:
        """A delivery after these moves."""
        made = self._call("POST", "/api/request-delivery", json={**_DELIVERY, **further})
        for move in moves:
            self._call("POST", f"/api/sandbox/deliveries/{made['deliveryId']}/{move}", json={})
        return {"deliveryId": made["deliveryId"]}

    def order(self, *statuses: str) -> str:
        """The id of an order after these statuses."""
        code = f"{_MANUAL}{secrets.token_hex(8)}"
        self._call(
            "POST", "/api/integration/orders", json={**_ORDER, "company_document": self.company, "orderId": code}
        )
        for status in statuses:
            self._call("POST", f"/api/integration/sandbox/orders/{code}/{status}", json={})
        return code

    def manifest(self, *, is_empty: bool = False) -> Parameters:
        """An open manifest."""
        orders = {"orderIds": [self.order()]}
        made = self._call("POST", "/api/integration/manifests", json=orders)["data"]["manifestId"]
        if is_empty:
            self._call("POST", f"/api/integration/manifests/{made}/remove", json=orders)
        return {"manifestId": made}

    def invoice(self) -> Parameters:
        self._call("POST", "/api/integration/invoices/marketplace", files={"nfe": _INVOICE})
        return {"accessKey": re.findall("<chNFe>([0-9]+)", _INVOICE)[0]}

    def _call(self, method: str, path: str, **sent: Any) -> Any:
        answer = self._session.request(method, f"{self._url}{path}", timeout=_SECONDS, **sent)
        if not answer.ok:
            raise AssertionError(f"{method} {path}: {answer.status_code} {answer.text}")
        return answer.json()


def served(sent: Any) -> Any:
    """A body, valid or not, with the places in it at the demo's pickup point and the windows soon.

    Those alone that are valid: the description allows every place on earth and every moment.
    """
    if isinstance(sent, list):
        return [served(each) for each in sent]
    if isinstance(sent, dict):
        return {key: _served(key, value) for key, value in sent.items()}
    return sent


def _served(key: str, value: Any) -> Any:
    if key in _HOURS and isinstance(value, str) and _MOMENT.fullmatch(value):
        return (datetime.now(UTC) + timedelta(hours=_HOURS[key])).isoformat()
    if key in _MOST and isinstance(value, (int, float)) and not isinstance(value, bool) and abs(value) <= _MOST[key]:
        return _PLACE[key]
    return served(value)


def _located(address: Parameters) -> Parameters:
    """With both coordinates, which a drop-off needs where the operator has set no geocoder."""
    return {**address, **_PLACE}


def from_environment() -> Rows:
    """With what `run.sh` sets."""
    return Rows(os.environ["ROTA_URL"], os.environ["ROTA_AUTHORIZATION"])


def _with_policy(policy: str) -> dict[str, Any]:
    return {"dropoffs": [{**_DROPOFF, "onFailure": policy} for _point in _POINTS]}


def _scheduled(rows: Rows, _sent: Parameters) -> Parameters:
    return rows.delivery(pickupReadyAt=(datetime.now(UTC) + timedelta(days=1)).isoformat())


def _order(rows: Rows, sent: Parameters) -> Parameters:
    is_after_collection = sent.get("status") in {"delivery_failed", "returned"}
    return {"orderId": rows.order(*(["collected"] if is_after_collection else []))}


_DELIVERIES, _SANDBOX = "/api/deliveries/{deliveryId}", "POST /api/sandbox/deliveries/{deliveryId}"
_ORDERS, _MANIFESTS = "/api/integration/orders/{orderId}", "/api/integration/manifests/{manifestId}"
_INVOICES = "POST /api/integration/invoices/{accessKey}"
_INSTRUCT = f"POST {_DELIVERIES}/dropoffs/{{point}}/instruct"
_MOVE_ORDER = "POST /api/integration/sandbox/orders/{orderId}/{status}"
_ON_THE_WAY, _FAILED = ("accept", "collect"), [f"fail/{point}" for point in _POINTS]
Maker = Callable[[Rows, Parameters], Parameters]
# What makes the row of an operation, and returns the parameters of its path that name it.
_MAKERS: dict[str, Maker] = {
    **dict.fromkeys(
        [
            *(f"GET /api/{name}/{{deliveryId}}" for name in ("info-delivery", "location-delivery", "deliveries")),
            f"PATCH {_DELIVERIES}/dropoffs/{{point}}",
            "POST /api/cancel-delivery/{deliveryId}",
            f"{_SANDBOX}/accept",
            f"{_SANDBOX}/expire",
        ],
        lambda rows, _sent: rows.delivery(),
    ),
    _INSTRUCT: lambda rows, _sent: rows.delivery(*_ON_THE_WAY, *_FAILED, **_with_policy("RETRY")),
    f"{_SANDBOX}/offer": _scheduled,
    f"{_SANDBOX}/position": lambda rows, _sent: rows.delivery("accept"),
    f"{_SANDBOX}/collect": lambda rows, _sent: rows.delivery("accept"),
    f"{_SANDBOX}/collect/{{point}}": lambda rows, _sent: rows.delivery("accept", deliveryMode="REVERSE"),
    f"{_SANDBOX}/deliver/{{point}}": lambda rows, _sent: rows.delivery(*_ON_THE_WAY, **_with_policy("LEAVE")),
    f"{_SANDBOX}/fail/{{point}}": lambda rows, _sent: rows.delivery(*_ON_THE_WAY),
    f"{_SANDBOX}/return": lambda rows, _sent: rows.delivery(*_ON_THE_WAY, *_FAILED),
    **dict.fromkeys(
        [
            *(f"{method} {_ORDERS}" for method in ("GET", "PATCH")),
            *(f"GET {_ORDERS}/label{end}" for end in ("", ".pdf", ".zpl")),
            _MOVE_ORDER,
        ],
        _order,
    ),
    **dict.fromkeys(
        [
            *(f"GET {_MANIFESTS}{end}" for end in ("", ".pdf")),
            f"DELETE {_MANIFESTS}",
            *(f"POST {_MANIFESTS}/{name}" for name in ("close", "remove")),
        ],
        lambda rows, _sent: rows.manifest(),
    ),
    f"POST {_MANIFESTS}/orders": lambda rows, _sent: rows.manifest(is_empty=True),
    **dict.fromkeys([f"{_INVOICES}/{name}" for name in ("link", "unlink")], lambda rows, _sent: rows.invoice()),
}
_OF_MANIFESTS = {"POST /api/integration/manifests", f"POST {_MANIFESTS}/orders"}
_AT_POINTS = {_INSTRUCT, f"{_SANDBOX}/deliver/{{point}}", f"{_SANDBOX}/fail/{{point}}"}
# After them the same request would be refused. Moves without a body are no more than their first request.
_CHANGED = {
    *_AT_POINTS, *_OF_MANIFESTS, f"DELETE {_MANIFESTS}", _MOVE_ORDER, "POST /api/integration/orders/cancel",
}  # fmt: skip  # a list of names
