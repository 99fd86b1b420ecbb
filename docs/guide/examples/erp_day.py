"""A day of an ERP: freight, orders, corrections, NF-e, labels, manifests, and what became of the orders.

    BASE_URL=… API_KEY=rota_testkey_… python3 erp_day.py [number of orders]

Each run has orders of its own. erp.db keeps the statuses that were read and the place in the feed, from which the next
run goes on. With a live key orders are real: this program is for a test key.
"""

import json
import os
import random
import sqlite3
import sys
import time
import uuid
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta, timezone
from http.client import HTTPException
from pathlib import Path
from threading import Lock
from typing import Any
from urllib.error import HTTPError
from urllib.parse import quote, urlencode
from urllib.request import Request, urlopen

URL, KEY = f"{os.environ['BASE_URL']}/api/integration/", os.environ["API_KEY"]
COUNT = max(2, int(sys.argv[1])) if len(sys.argv) > 1 else 12
BEGUN = time.time_ns() // 10**6  # milliseconds: two runs may follow within a second
DAY = f"{BEGUN:x}"
THREADS, AT_ONCE = 4, 100  # a call takes 100 orders at most
ZONE = timezone(timedelta(hours=-3))  # where the notes are issued
NFE = """<nfeProc xmlns="http://www.portalfiscal.inf.br/nfe" versao="4.00"><NFe><infNFe Id="NFe{key}" versao="4.00">
<ide><mod>55</mod><serie>1</serie><nNF>{number}</nNF><dhEmi>{issued}-03:00</dhEmi></ide>
<emit><CNPJ>{company}</CNPJ></emit><det nItem="1"><prod><xProd>Cafeteira</xProd></prod></det>
<total><ICMSTot><vNF>150.50</vNF></ICMSTot></total></infNFe></NFe>
<protNFe><infProt><chNFe>{key}</chNFe><cStat>100</cStat></infProt></protNFe></nfeProc>"""


class Refused(Exception):
    """The service has refused a call, which changed nothing. The text is what it says, with every fault."""


class Pace:
    """Spreads the calls of all threads: the limit of calls a second is not reached, and no call is refused for it."""

    def __init__(self) -> None:
        self._lock, self._next, self.per_second = Lock(), 0.0, 10.0

    def wait(self) -> None:
        with self._lock:
            at = max(self._next, time.monotonic())
            self._next = at + 1 / self.per_second
        time.sleep(max(0, at - time.monotonic()))


PACE = Pace()


def call(method: str, path: str, body: Any = None, headers: dict[str, str] | None = None) -> Any:
    """The JSON of the answer, or the bytes of a file. Raises Refused.

    Repeats the call where there is no answer, and where the answer says when. That creates no order twice, because of
    its Idempotency-Key; what would be a second cancellation or manifest is refused.
    """
    sent = {"Authorization": f"Basic {KEY}", "Content-Type": "application/json", **(headers or {})}
    data = body if body is None or isinstance(body, bytes) else json.dumps(body).encode()
    for attempt in range(8):
        PACE.wait()
        try:
            with urlopen(Request(URL + path, data, sent, method=method), timeout=60) as answer:
                if answer.headers.get_content_type() != "application/json":
                    return answer.read()
                found = json.load(answer)
                for warning in found.get("warnings", []):  # accepted, and probably a mistake
                    print(f"{method} {path}: {warning['message']}")
                return found
        except HTTPError as error:
            if error.code < 500 and "Retry-After" not in error.headers:
                refusal = json.load(error)
                faults = [f"  {place}: {' '.join(texts)}" for place, texts in refusal.get("errors", {}).items()]
                raise Refused("\n".join([f"{error.code} {refusal['code']}: {refusal['message']}", *faults])) from error
            print(f"{method} {path}: {error.code}, again")
            pause = int(error.headers.get("Retry-After", 2**attempt))
        except (OSError, HTTPException):
            pause = 2**attempt
        time.sleep(pause + random.random())
    sys.exit(f"{method} {path}: no answer")


def access_key(company: str, number: int) -> str:
    """The 44 digits of a note: state, month, issuer, model, series, number, code, and the check digit."""
    digits = f"35{datetime.now(ZONE):%y%m}{company}55001{number:09}1{random.randrange(10**8):08}"
    total = sum(int(digit) * (2 + place % 8) for place, digit in enumerate(reversed(digits)))
    return digits + str(0 if total % 11 < 2 else 11 - total % 11)


def new_order(company: str, place: int) -> dict[str, Any]:
    """An order as this ERP has it. In the sandbox one of this name waits until its manifest is closed."""
    number = BEGUN % 10**6 * 1000 + place
    issued = f"{datetime.now(ZONE):%Y-%m-%d %H:%M:%S}"
    address = {"state": "BA", "city": "Salvador", "zipCode": "40020-000", "street": "Rua Chile", "streetNumber": "10"}
    return {
        "company_document": company, "orderId": f"sim-manifest-{DAY}-{place:03}", "orderCost": 150.5, "service": "base",
        "items": [{"description": "Cafeteira", "dimensions": "10x20x30,1.5", "quantity": 1, "price": 150.5}],
        "receiver": {"name": "Maria Souza", "address": {**address, "neighborhood": "Centro"}},
        "invoice": {
            "series": "1", "number": str(number), "issueDate": issued, "value": 150.5,
            "key": access_key(company, number),
        },
    }  # fmt: skip


def create(order: dict[str, Any]) -> None:
    """The order's number is its key: what was refused can be corrected and sent with the same one."""
    call("POST", "orders", order, {"Idempotency-Key": order["orderId"], "Sandbox-Speed": "60"})


def upload_invoice(order: dict[str, Any]) -> None:
    """Send the NF-e, as a form with a file. The order names its access key, and so it is linked to it."""
    invoice = order["invoice"]
    issued = invoice["issueDate"].replace(" ", "T")
    note = NFE.format(company=order["company_document"], issued=issued, key=invoice["key"], number=invoice["number"])
    boundary = uuid.uuid4().hex
    part = f'Content-Disposition: form-data; name="nfe"; filename="{invoice["key"]}.xml"'
    form = f"--{boundary}\r\n{part}\r\nContent-Type: application/xml\r\n\r\n{note}\r\n--{boundary}--\r\n"
    headers = {"Content-Type": f"multipart/form-data; boundary={boundary}"}
    call("POST", "invoices/marketplace", form.encode(), headers)


def in_parts(ids: list[str]) -> Iterator[list[str]]:
    return (ids[start : start + AT_ONCE] for start in range(0, len(ids), AT_ONCE))


def print_labels(ids: list[str]) -> None:
    """One file for each 100 orders, one after the other: files take the service much computing time."""
    for part, some in enumerate(in_parts(ids), start=1):
        Path(f"labels-{DAY}-{part}.pdf").write_bytes(call("POST", "labels.pdf", {"orderIds": some, "size": "a4"}))


def hand_over(ids: list[str]) -> None:
    """A manifest for each 100 orders. Closing it says that they were collected."""
    for part, some in enumerate(in_parts(ids), start=1):
        manifest = call("POST", "manifests", {"orderIds": some})["data"]["manifestId"]
        Path(f"manifest-{DAY}-{part}.pdf").write_bytes(call("GET", f"manifests/{manifest}.pdf"))
        call("POST", f"manifests/{manifest}/close")


def open_database() -> sqlite3.Connection:
    database = sqlite3.connect("erp.db")
    with database:
        database.execute("CREATE TABLE IF NOT EXISTS orders (order_id TEXT PRIMARY KEY, status TEXT)")
        database.execute("CREATE TABLE IF NOT EXISTS feed (name TEXT, place TEXT)")
        if not database.execute("SELECT 1 FROM feed").fetchone():  # the feed of an ERP that begins today begins now
            begin = datetime.now(UTC) - timedelta(minutes=1)
            database.execute("INSERT INTO feed VALUES ('from', ?)", [begin.isoformat()])
    return database


def read_feed(database: sqlite3.Connection) -> int:
    """Take in what has happened since the last call. What a page says and the place after it are stored together."""
    found = 0
    while True:
        ((name, place),) = database.execute("SELECT name, place FROM feed")
        page = call("GET", f"events?{urlencode({'limit': AT_ONCE, name: place})}")
        with database:
            events = [(event["body"]["orderId"], event["body"]["status"]) for event in page["data"]]
            database.executemany("INSERT OR REPLACE INTO orders VALUES (?, ?)", events)  # an order's newest is its last
            database.execute("UPDATE feed SET name = 'after', place = ?", [page["nextCursor"]])
        found += len(events)
        if not events:
            return found


def statuses(database: sqlite3.Connection) -> dict[str, str]:
    """Of today's orders, as the feed has told them."""
    return dict(database.execute("SELECT * FROM orders WHERE order_id LIKE ?", [f"sim-manifest-{DAY}-%"]))


def counted(found: dict[str, str]) -> str:
    return ", ".join(f"{count} {status}" for status, count in sorted(Counter(found.values()).items()))


def listed(ids: list[str]) -> dict[str, str]:
    """The statuses of orders as the service lists them."""
    queries = (urlencode({"orderId": ",".join(some), "limit": AT_ONCE}) for some in in_parts(ids))
    pages = (call("GET", f"orders?{query}") for query in queries)
    return {order["orderId"]: order["status"] for page in pages for order in page["data"]}


def main() -> None:
    database = open_database()
    print(f"{read_feed(database)} events since the last run")
    account = call("GET", "account")["data"]
    PACE.per_second = 0.8 * (account["limits"]["perSecond"] or 100)
    company = account["companies"][0]
    print(f"{account['seller']['name']}, {account['environment']}, {account['limits']}")
    freight = {"origin": company["postcode"], "destination": "40020000", "weight": 1.5, "declared_amount": 15050}
    for price in call("POST", "shipping/services", freight)["data"]:  # amounts of freight are in centavos
        print(f"{price['service']}: R$ {price['amount'] / 100:.2f}, {price['deadline']} business days")

    orders = [new_order(company["document"], place) for place in range(1, COUNT + 1)]
    ids = [order["orderId"] for order in orders]
    wrong = {**orders[0], "orderCost": "R$ 150,50", "receiver": {"name": "Maria Souza"}}
    try:
        create(wrong)
    except Refused as refusal:
        print(refusal)
    with ThreadPoolExecutor(THREADS) as pool:
        started = time.monotonic()
        list(pool.map(create, orders))
        print(f"{COUNT} orders in {time.monotonic() - started:.1f} s")
        started = time.monotonic()
        list(pool.map(upload_invoice, orders))
        print(f"{COUNT} NF-e in {time.monotonic() - started:.1f} s")

    corrected = call("PATCH", f"orders/{quote(ids[0], safe='')}", {"volumes": 2})["data"]
    print(f"{ids[0]}: {corrected['volumes']} volumes, freight R$ {corrected['freight']['amount'] / 100:.2f}")
    call("POST", "orders/cancel", {"orderId": ids[-1]})
    started = time.monotonic()
    print_labels(ids[:-1])
    hand_over(ids[:-1])
    print(f"labels and manifests in {time.monotonic() - started:.1f} s")

    deadline = time.monotonic() + 300
    while set(statuses(database).values()) != {"delivered", "cancelled"}:
        if time.monotonic() > deadline:
            sys.exit("Some orders are still on their way after five minutes.")
        if read_feed(database):
            print(counted(statuses(database)))
        time.sleep(1)  # a real ERP waits for a few minutes
    (found,) = call("GET", f"orders/tracking?{urlencode({'type': 'order_number', 'value': ids[0]})}")["data"]
    print(f"{ids[0]}: {', '.join(entry['status'] for entry in found['status_log'])}")
    told, now = statuses(database), listed(ids)
    if told != now:
        sys.exit(f"Not the same: {sorted(told.items() ^ now.items())}")
    print(f"Done, and the service lists the same: {counted(now)}")


if __name__ == "__main__":
    try:
        main()
    except Refused as refusal:
        sys.exit(str(refusal))
