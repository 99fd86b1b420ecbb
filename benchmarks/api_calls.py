"""The calls of both APIs that are compared, and what is known of them before they are measured."""

import json
import secrets
from collections.abc import Callable
from typing import Any, NamedTuple

import requests
from django.db import connection

from benchmarks.growth_calls import ask
from tests.factories import payload
from tests.integration.factories import order_body

FRESH = "{fresh}"  # stands for text that no other call has
# Calls are counted as by default, and never refused.
FAR_LIMITS = {"RATE_LIMIT_PER_SECOND": "1000000000", "RATE_LIMIT_PER_HOUR": "1000000000"}
NAMES = (
    "quotation-delivery",
    "request-delivery",
    "info-delivery",
    "location-delivery",
    "shipping/quote",
    "orders",
    "orders/tracking",
)


class Call(NamedTuple):
    """A request. `path` may have a query, `body` is JSON or empty and may hold FRESH; `authorization` is the header."""

    method: str
    path: str
    body: str
    authorization: str

    @property
    def headers(self) -> dict[str, str]:
        return {"Authorization": self.authorization, "Content-Type": "application/json"}

    @property
    def content(self) -> bytes:
        """The body, unlike that of any other call."""
        return self.body.replace(FRESH, fresh()).encode()

    def send(self, base: str) -> Any:
        """The JSON of the answer. Raises requests.HTTPError unless the call succeeds."""
        answer = requests.request(
            self.method, f"{base}{self.path}", data=self.content, headers=self.headers, timeout=10
        )
        answer.raise_for_status()
        return answer.json()


def prepare(base: str, *, token: str, key: str, accept: Callable[[str], None]) -> dict[str, Call]:
    """Create at the server what the calls read, and return the calls by name.

    `accept` has the delivery with this deliveryId accepted by a driver with a recent position.
    """
    area_a, area_b = f"Bearer {token}", f"Basic {key}"
    sent = payload(stops=3)
    for dropoff in sent["dropoffs"]:
        dropoff["externalId"] += f"-{FRESH}"
    delivery = json.dumps(sent)
    order = json.dumps(order_body(orderId=f"A-{FRESH}", trackingCode=f"T-{FRESH}"))
    package = {"width": "20", "height": "30", "length": "40", "weight": 2.5, "declared_amount": 20_000}
    quote = json.dumps({"origin": "01310100", "destination": "20040002", **package})
    request_delivery = Call("POST", "/api/request-delivery", delivery, area_a)
    create_order = Call("POST", "/api/integration/orders", order, area_b)
    offered, accepted = (request_delivery.send(base)["deliveryId"] for _number in range(2))
    accept(accepted)
    order_id = create_order.send(base)["tracking_code"].replace("T-", "A-")
    tracking = f"/api/integration/orders/tracking?type=order_number&value={order_id}"
    calls = [
        Call("POST", "/api/quotation-delivery", delivery, area_a),
        request_delivery,
        Call("GET", f"/api/info-delivery/{offered}", "", area_a),
        Call("GET", f"/api/location-delivery/{accepted}", "", area_a),
        Call("POST", "/api/integration/shipping/quote", quote, area_b),
        create_order,
        Call("GET", tracking, "", area_b),
    ]
    return dict(zip(NAMES, calls, strict=True))


def fresh() -> str:
    """Text that no other run has, for a number to follow.

    Short, because Rota looks for invoices by the first 15 characters of an orderId too, the longest reference of an
    NF-e, and these have to differ as well.
    """
    return f"{secrets.token_hex(3)}-"


def check_same_answers(calls: dict[str, Call], base: str, others: dict[str, Call], other_base: str) -> None:
    """Make each call once at both servers. Raises RuntimeError if the answers differ in their keys or types."""
    for name, call in calls.items():
        found, other = _shape(call.send(base)), _shape(others[name].send(other_base))
        if found != other:
            raise RuntimeError(f"The answers to {name} differ: {found} at {base}, {other} at {other_base}")


def _shape(value: Any) -> Any:
    """The keys of a JSON value, and the types of its leaves. Integers and other numbers are one type."""
    if isinstance(value, dict):
        return {key: _shape(each) for key, each in value.items()}
    if isinstance(value, list):
        return [_shape(each) for each in value]
    return "number" if isinstance(value, int | float) and not isinstance(value, bool) else type(value).__name__


def statements(call: Call) -> int:
    """How many statements Rota executes for the call, without those that begin and end transactions."""
    count = 0

    def counted(execute: Callable[..., Any], *arguments: Any) -> Any:
        nonlocal count
        count += 1
        return execute(*arguments)

    path, _mark, query = call.path.partition("?")

    def act() -> None:
        ask(call.method, path, call.headers, query, content=call.content)

    act()  # writes the time of the credential's last use, which is done once a minute
    with connection.execute_wrapper(counted):
        act()
    return count
