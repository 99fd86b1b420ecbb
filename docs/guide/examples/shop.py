"""A shop's back end: quotes, requests deliveries, receives their webhooks, answers a customer, cancels.

    BASE_URL=… TOKEN=rota_test_… WEBHOOK_SECRET=whsec_… python3 shop.py

receive.py stands beside it. What must not be lost is in shop.db: kill the program whenever you like and start it again,
and it goes on where it was, without a delivery that is missing or requested twice.
"""

import json
import os
import random
import sqlite3
import sys
import time
import uuid
from contextlib import closing
from datetime import UTC, datetime, timedelta
from email.message import Message
from http.client import HTTPException
from threading import Thread
from typing import Any
from urllib.error import HTTPError
from urllib.parse import urlencode
from urllib.request import Request, urlopen

from receive import Receiver, listen

BASE_URL, TOKEN, PORT = os.environ["BASE_URL"], os.environ["TOKEN"], int(os.environ.get("PORT", "9000"))
CUSTOMERS = [
    ("Maria", "Rua Augusta", "500", -23.552, -46.65),
    ("João", "Rua da Consolação", "2200", -23.5555, -46.6605),
    ("Lia", "Rua Oscar Freire", "600", -23.5625, -46.67),
    ("Rui", "Alameda Santos", "1000", -23.566, -46.651),
    ("Eva", "Rua Garrett", "1", 38.711, -9.141),  # in Lisbon, which is refused
]
CHANGES_HIS_MIND = "Rui"
TABLES = """
CREATE TABLE IF NOT EXISTS orders (
    number TEXT PRIMARY KEY, body TEXT, key TEXT, is_wanted INTEGER,
    delivery_id TEXT, sequence INTEGER DEFAULT 0, status TEXT DEFAULT 'NEW'
);
CREATE VIEW IF NOT EXISTS open_orders AS SELECT * FROM orders WHERE status NOT IN ('DELIVERED', 'FAILED', 'REFUSED');
CREATE TABLE IF NOT EXISTS events (id TEXT PRIMARY KEY);
CREATE TABLE IF NOT EXISTS feed (name TEXT, place TEXT);
"""


class Refused(Exception):
    """The service has refused a call, which changed nothing."""


def call(method: str, path: str, body: Any = None, headers: dict[str, str] | None = None) -> tuple[Any, Message]:
    """Body and headers of the answer. Raises Refused.

    Repeats the call where there is no answer, and where the answer says when. All calls of this program may be
    repeated: that which creates has an Idempotency-Key.
    """
    sent = {"Authorization": f"Bearer {TOKEN}", "Content-Type": "application/json", **(headers or {})}
    data = None if body is None else json.dumps(body).encode()
    for attempt in range(8):
        try:
            with urlopen(Request(BASE_URL + path, data, sent, method=method), timeout=30) as answer:
                return json.load(answer), answer.headers
        except HTTPError as error:
            if error.code < 500 and "Retry-After" not in error.headers:
                problem = json.load(error)
                raise Refused(f"{error.code} {problem['code']}: {problem['detail']}") from error
            pause = int(error.headers.get("Retry-After", 2**attempt))
        except (OSError, HTTPException):
            pause = 2**attempt
        time.sleep(pause + random.random())
    sys.exit(f"{method} {path}: no answer")


def open_database() -> sqlite3.Connection:
    return sqlite3.connect("shop.db", timeout=30)


def take_orders(database: sqlite3.Connection, pickup: dict[str, Any]) -> None:
    """Store what customers have ordered, each with the key and the body of its request, before any call."""
    day = int(time.time())
    with database:
        for place, (name, street, house, latitude, longitude) in enumerate(CUSTOMERS, start=1):
            # In the sandbox a driver of such an order waits for its cancellation.
            kind = "sim-cancel-late" if name == CHANGES_HIS_MIND else "shop"
            number = f"{kind}-{day}-{place}"
            address = {"street": street, "number": house, "latitude": latitude, "longitude": longitude}
            contacts = {"name": name, "phoneNumber": f"+55 11 97777-000{place}"}
            dropoff = {"externalId": number, "contacts": contacts, "address": address}
            body = json.dumps({"vehicleType": "MOTORCYCLE", "pickup": pickup, "dropoffs": [dropoff]})
            values = [number, body, str(uuid.uuid4()), name != CHANGES_HIS_MIND]
            database.execute("INSERT INTO orders (number, body, key, is_wanted) VALUES (?, ?, ?, ?)", values)


def request_delivery(database: sqlite3.Connection, number: str, body: dict[str, Any], key: str) -> None:
    """Quote and request. After a kill the same key gets the delivery that was made, if one was."""
    try:
        quote, headers = call("POST", "/api/quotation-delivery", body)
        # With its Quote-Id, for ten minutes, the price is that of the quote.
        sent = {"Idempotency-Key": key, "Quote-Id": headers["Quote-Id"], "Sandbox-Speed": "40"}
        created, _headers = call("POST", "/api/request-delivery", body, sent)
    except Refused as refusal:
        print(f"{number}: {refusal}")
        with database:
            database.execute("UPDATE orders SET status = 'REFUSED' WHERE number = ?", [number])
        return
    with database:
        database.execute("UPDATE orders SET delivery_id = ? WHERE number = ?", [created["deliveryId"], number])
    print(f"{number}: {created['deliveryId']}, R$ {quote['shippingValue']:.2f}")


def record(database: sqlite3.Connection, event_id: str, sequence: int, event: dict[str, Any]) -> None:
    """Take in an event once, whether webhook or feed brought it: its id and its effect are committed together."""
    with database:
        if database.execute("INSERT OR IGNORE INTO events VALUES (?)", [event_id]).rowcount:
            database.execute(
                "UPDATE orders SET delivery_id = ?, sequence = ?, status = ? WHERE number = ? AND sequence < ?",
                [event["deliveryId"], sequence, event["status"], event["orders"][0]["externalId"], sequence],
            )


class ShopsReceiver(Receiver):
    """Answers when the event is stored. One that is not answered comes again."""

    def take(self, event: dict[str, Any]) -> None:
        if "webhook-test" not in self.headers:
            with closing(open_database()) as database:
                record(database, self.headers["webhook-id"], int(self.headers["webhook-sequence"]), event)

    def log_message(self, *_arguments: Any) -> None:
        """Print no line for each call."""


def read_feed(database: sqlite3.Connection) -> None:
    """Take in what no webhook has brought, for instance while this program did not run."""
    while True:
        ((name, place),) = database.execute("SELECT name, place FROM feed")
        page, _headers = call("GET", f"/api/events?{urlencode({'limit': 100, name: place})}")
        for event in page["data"]:
            record(database, event["id"], event["sequence"], event["body"])
        with database:
            database.execute("UPDATE feed SET name = 'after', place = ?", [page["nextCursor"]])
        if not page["data"]:
            return


def answer_customer(number: str, delivery_id: str) -> None:
    delivery, _headers = call("GET", f"/api/deliveries/{delivery_id}")
    driver = delivery["driver"]["name"] or "no driver yet"
    print(f"{number}: {delivery['status']}, {driver}, {delivery['orders'][0]['trackingUrl']}")


def cancel(number: str, delivery_id: str) -> None:
    """Cancelling again is no mistake: the answer is the same."""
    try:
        answer, _headers = call("POST", f"/api/cancel-delivery/{delivery_id}", {"reason": "customer gave up"})
    except Refused as too_late:
        print(f"{number}: {too_late}")
        return
    fee = answer.get("cancellation", {}).get("fee", 0)  # nothing before the goods were collected
    print(f"{number}: cancelled, R$ {fee:.2f}")


def reconcile(database: sqlite3.Connection) -> None:
    """Compare what is recorded here with what the service says: of the last 100 deliveries, as many as one call has."""
    requested = "SELECT delivery_id, status FROM orders WHERE delivery_id > '' ORDER BY rowid DESC LIMIT 100"
    ours = dict(database.execute(requested).fetchall())
    found, _headers = call("GET", f"/api/deliveries?{urlencode({'deliveryId': ','.join(ours), 'limit': 100})}")
    theirs = {delivery["deliveryId"]: delivery["status"] for delivery in found["data"]}
    if theirs != ours:
        sys.exit(f"Not the same. Here: {ours}. The service: {theirs}")
    counts = database.execute("SELECT status, count(*) FROM orders GROUP BY status ORDER BY status").fetchall()
    print("Done, and the service says the same:", ", ".join(f"{count} {status}" for status, count in counts))


def main() -> None:
    database = open_database()
    database.executescript(TABLES)
    Thread(target=listen(PORT, ShopsReceiver).serve_forever, daemon=True).start()
    # In the sandbox; of the live environment it is set in the panel.
    call("PUT", "/api/sandbox/webhook", {"url": f"http://127.0.0.1:{PORT}/"})
    if not database.execute("SELECT 1 FROM feed").fetchone():
        with database:  # the feed of a shop that begins today begins now
            begin = datetime.now(UTC) - timedelta(minutes=1)
            database.execute("INSERT INTO feed VALUES ('from', ?)", [begin.isoformat()])

    if not database.execute("SELECT 1 FROM open_orders").fetchone():
        account, _headers = call("GET", "/api/account")
        point = account["pickupPoints"][0]
        address = {"street": "Avenida Paulista", "number": "1578"}
        address |= {"latitude": point["latitude"], "longitude": point["longitude"]}
        take_orders(database, {"contacts": {"name": "Loja", "phoneNumber": "+55 11 3333-0000"}, "address": address})
    waiting = "SELECT number, body, key FROM open_orders WHERE delivery_id IS NULL"
    for number, body, key in database.execute(waiting).fetchall():
        request_delivery(database, number, json.loads(body), key)
    read_feed(database)
    unwanted = "SELECT number, delivery_id FROM open_orders WHERE NOT is_wanted"
    for number, delivery_id in database.execute(unwanted).fetchall():
        cancel(number, delivery_id)
    for number, delivery_id in database.execute("SELECT number, delivery_id FROM open_orders LIMIT 1").fetchall():
        answer_customer(number, delivery_id)

    for second in range(1, 121):
        if not database.execute("SELECT 1 FROM open_orders").fetchone():
            break
        time.sleep(1)
        if second % 5 == 0:  # a real shop reads it every few minutes
            read_feed(database)
    else:
        sys.exit("Some orders are still open after two minutes.")
    reconcile(database)


if __name__ == "__main__":
    try:
        main()
    except Refused as refusal:
        sys.exit(str(refusal))
