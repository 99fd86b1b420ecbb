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
    "info-delivery-accepted",
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

    def content(self, text: str = "") -> bytes:
        """The body, with this text for FRESH or unlike that of any other call."""
        return self.body.replace(FRESH, text or fresh()).encode()

    def send(self, base: str, text: str = "") -> tuple[int, Any]:
        """Status and JSON of the answer. `text`: for FRESH. Raises requests.HTTPError unless the call succeeds."""
        answer = requests.request(
            self.method, f"{base}{self.path}", data=self.content(text), headers=self.headers, timeout=10
        )
        answer.raise_for_status()
        return answer.status_code, answer.json()


def fresh() -> str:
    """Text that no other run has, for a number to follow.

    Short, because Rota looks for invoices by the first 15 characters of an orderId too, the longest reference of an
    NF-e, and these have to differ as well.
    """
    return f"{secrets.token_hex(3)}-"


# In place of FRESH in what is read, the same at all servers.
_READ = fresh()


def prepare(base: str, *, token: str, key: str, accept: Callable[[str], None], read: str = _READ) -> dict[str, Call]:
    """Create at the server what the calls read, the same at each server, and return the calls by name.

    `accept` has the delivery with this deliveryId accepted by a driver with a recent position. `read`: the text of what
    is created, another one for a second server with the same database.
    """
    area_a, area_b = f"Bearer {token}", f"Basic {key}"
    sent = payload(stops=3)
    for dropoff in sent["dropoffs"]:
        dropoff["externalId"] += f"-{FRESH}"
    delivery = json.dumps(sent)
    package = {"width": "20", "height": "30", "length": "40", "weight": 2.5, "declared_amount": 20_000}
    quote = json.dumps({"origin": "01310100", "destination": "20040002", **package})
    request_delivery = Call("POST", "/api/request-delivery", delivery, area_a)
    create_order = order_with(key)
    offered, accepted = (request_delivery.send(base, f"{read}{number}")[1]["deliveryId"] for number in range(2))
    accept(accepted)
    create_order.send(base, f"{read}0")
    tracking = f"/api/integration/orders/tracking?type=order_number&value=A-{read}0"
    calls = [
        Call("POST", "/api/quotation-delivery", delivery, area_a),
        request_delivery,
        Call("GET", f"/api/info-delivery/{offered}", "", area_a),
        Call("GET", f"/api/info-delivery/{accepted}", "", area_a),
        Call("GET", f"/api/location-delivery/{accepted}", "", area_a),
        Call("POST", "/api/integration/shipping/quote", quote, area_b),
        create_order,
        Call("GET", tracking, "", area_b),
    ]
    return dict(zip(NAMES, calls, strict=True))


def order_with(key: str, **changes: Any) -> Call:
    """The creation of an order with this API key. `changes` replace keys of the body."""
    body = order_body(orderId=f"A-{FRESH}", trackingCode=f"T-{FRESH}", **changes)
    return Call("POST", "/api/integration/orders", json.dumps(body), f"Basic {key}")


def statements(call: Call) -> int:
    """How many statements Rota executes for the call, without those that begin and end transactions."""
    count = 0

    def counted(execute: Callable[..., Any], *arguments: Any) -> Any:
        nonlocal count
        count += 1
        return execute(*arguments)

    path, _mark, query = call.path.partition("?")

    def act() -> None:
        ask(call.method, path, call.headers, query, content=call.content())

    act()  # writes the time of the credential's last use, which is done once a minute
    with connection.execute_wrapper(counted):
        act()
    return count
