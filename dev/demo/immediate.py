"""Area A: one delivery with three drop-offs from quotation to its end, with its webhooks."""

import queue
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from dev.demo.client import Client, DemoFailed, Receiver, command
from dev.demo.data import PICKUP

_WEBHOOK_SECONDS = 30
_LATE_SECONDS = 1
# Divides the two and a half minutes that a simulated delivery with a return takes.
_SPEED = 20

# Expected webhooks in order: statuses of the delivery, of the route, and of the orders B, C and D.
EXPECTED = [
    ("PENDING", "AVAILABLE", ["PENDING", "PENDING", "PENDING"]),
    ("ACCEPT", "ACCEPTED", ["ACCEPT", "ACCEPT", "ACCEPT"]),
    ("COLLECTED", "COLLECTED", ["COLLECTED", "COLLECTED", "COLLECTED"]),
    ("COLLECTED", "COLLECTED", ["FAILED", "COLLECTED", "COLLECTED"]),
    ("COLLECTED", "COLLECTED", ["FAILED", "DELIVERED", "COLLECTED"]),
    ("COLLECTED", "RETURNING", ["FAILED", "DELIVERED", "DELIVERED"]),
    ("DELIVERED", "FINISHED", ["FAILED", "DELIVERED", "DELIVERED"]),
]

REQUEST: dict[str, Any] = {
    "vehicleType": "MOTORCYCLE",
    "deliveryMode": "DEFAULT",
    "pickup": {
        "contacts": {"name": "Loja Paulista", "phoneNumber": "+55 11 3333-0000"},
        "address": {
            "street": "Avenida Paulista",
            "number": "1578",
            "city": "São Paulo",
            "state": "SP",
            "zipcode": "01310-200",
            "latitude": -23.561414,
            "longitude": -46.655881,
        },
    },
    "dropoffs": [
        # By its prefix the first drop-off fails.
        {"externalId": "sim-fail-1",
         "address": {"street": "Rua Augusta", "latitude": -23.5520, "longitude": -46.6500}},
        {"externalId": "demo-2", "address": {"street": "Rua Oscar Freire", "zipcode": "01426-001"},
         "coordinates": {"latitude": -23.5629, "longitude": -46.6689}},
        {"externalId": "demo-3", "address": {"street": "Rua Vergueiro", "latitude": -23.5750, "longitude": -46.6400}},
    ],
    "orderPackages": [{"description": "Caixa", "height": 20, "width": 30, "length": 40, "weight": 2.5, "quantity": 1}],
}  # fmt: skip  # an address in one line


def check(*, url: str, say: Callable[[str], None]) -> None:
    """Run all steps. Raises DemoFailed at the first deviation from the specification."""
    with Receiver() as receiver:
        shop = command("create_integrator", "Demo", f"--pickup={PICKUP}", f"--webhook-url={receiver.url}", "--sandbox")
        say(f"Integrator {shop['integrator']}, webhooks to {receiver.url}")
        client = Client(url=url, authorization=f"Bearer {shop['token']}", say=say)
        follower = _Follower(receiver, shop, say)
        _run(client, follower)
        follower.expect_nothing_more()


def _run(client: Client, follower: "_Follower") -> None:
    quote = client.call("POST", "/api/quotation-delivery", json=REQUEST, expect=200)
    created = client.call(
        "POST", "/api/request-delivery", json=REQUEST, headers={"Sandbox-Speed": str(_SPEED)}, expect=201
    )
    delivery = created["deliveryId"]
    client.check(created["shippingValue"] == quote["shippingValue"], "the price that was quoted")
    follower.expect_next(delivery)
    client.say(f"  From here on the simulated driver moves the delivery, {_SPEED} times as fast as usual")
    follower.expect_next(delivery)
    location = client.call("GET", f"/api/location-delivery/{delivery}", expect=200)
    client.check(location["tracking"]["available"], "the driver's position after acceptance")
    for _webhook in EXPECTED[2:]:
        follower.expect_next(delivery)
    info = client.call("GET", f"/api/info-delivery/{delivery}", expect=200)
    client.check([order["status"] for order in info["orders"]] == EXPECTED[-1][2], "the last webhook's statuses")
    location = client.call("GET", f"/api/location-delivery/{delivery}", expect=200)
    client.check(location["tracking"]["reason"] == "FINISHED", "no position after the end")


class _Follower:
    """Compares the webhooks with `EXPECTED`, one after another."""

    def __init__(self, receiver: Receiver, shop: dict[str, str], say: Callable[[str], None]) -> None:
        self._receiver = receiver
        self._shop = shop
        self._say = say
        self._count = 0

    def expect_next(self, delivery: str) -> None:
        status, route, orders = EXPECTED[self._count]
        self._count += 1
        try:
            webhook = self._receiver.received.get(timeout=_WEBHOOK_SECONDS)
        except queue.Empty:
            raise DemoFailed(f"webhook {self._count} ({status}) did not arrive within {_WEBHOOK_SECONDS} s") from None
        body = webhook.body
        seen = (body["status"], body["route"]["status"], [order["status"] for order in body["orders"]])
        self._say(f"⚡ webhook {webhook.headers.get('webhook-sequence')}: {seen[0]}, route {seen[1]}, orders {seen[2]}")
        error = webhook.error(token=self._shop["token"], secret=self._shop["signing_secret"])
        if error:
            raise DemoFailed(f"webhook {self._count}: {error}")
        sequence = webhook.headers.get("webhook-sequence")
        if (seen, sequence, body["deliveryId"]) != ((status, route, orders), str(self._count), delivery):
            raise DemoFailed(f"webhook {self._count} should have status {status}, route {route}, orders {orders}")

    def expect_nothing_more(self) -> None:
        with suppress(queue.Empty):
            self._receiver.received.get(timeout=_LATE_SECONDS)
            raise DemoFailed("more webhooks arrived than there were changes")
