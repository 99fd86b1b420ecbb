"""Quotes of one seller while another one asks for files of 200 labels: how much longer the slowest of 100 take."""

import json
import threading
import time
from collections import Counter
from contextlib import closing
from http import HTTPStatus
from http.client import HTTPConnection
from statistics import median, quantiles
from typing import Any, Self

from django.utils import timezone

from benchmarks import processes, seed
from integration.accounts import keys
from tests.integration.factories import OTHER_COMPANY, SellerFactory, create_order, load_tariff
from tests.ports import free_port

_QUOTES = 600
_ROUNDS = 3
_CONNECTIONS = 6  # of the seller who asks for labels
_GOAL = 5
_VOLUMES = (99, 99, 2)
_QUOTE = json.dumps(
    {
        "origin": "01310100", "destination": "40020000", "width": "20", "height": "10", "length": "15", "weight": 1,
        "declared_amount": 100,
    }
)  # fmt: skip  # a body reads as one


def run() -> None:
    """Print the times of quotes alone and beside the labels. Raises RuntimeError if they miss the goal."""
    seed.empty()
    load_tariff()
    buyer, printer = SellerFactory.create(documents=(OTHER_COMPANY,)), SellerFactory.create()
    orders = [create_order(printer, orderId=f"L-{volumes}-{i}", volumes=volumes) for i, volumes in enumerate(_VOLUMES)]
    labels = json.dumps({"orderIds": [order.code for order in orders], "format": "zpl"})
    port = free_port()
    with processes.web(port):
        quote = _Client(port, buyer, "/api/integration/shipping/quote", _QUOTE)
        quote.times(200)
        ratios = []
        for _round in range(_ROUNDS):
            alone = quote.times(_QUOTES)
            with _Flood([_Client(port, printer, "/api/integration/labels", labels)] * _CONNECTIONS) as flood:
                beside = quote.times(_QUOTES)
            ratios.append(_p99(beside) / _p99(alone))
            print(
                f"quote alone {_line(alone)}; beside labels {_line(beside)}; p99 {ratios[-1]:.1f} times; "
                f"labels in {sum(beside):.1f} s: {dict(sorted(flood.statuses.items()))}"
            )
    if median(ratios) > _GOAL:
        raise RuntimeError(f"The p99 of a quote is more than {_GOAL} times its own.")


class _Client:
    """One connection with one call."""

    def __init__(self, port: int, seller: Any, path: str, body: str) -> None:
        key = keys.issue(seller=seller, by="benchmark", at=timezone.now()).clear_text
        self._headers = {"Authorization": f"Basic {key}", "Content-Type": "application/json"}
        self.port, self._path, self._body = port, path, body

    def times(self, count: int) -> list[float]:
        """Seconds of each of so many calls, one after the other. Raises RuntimeError if one fails."""
        found = []
        with closing(HTTPConnection("127.0.0.1", self.port, timeout=120)) as connection:
            for _number in range(count):
                started = time.perf_counter()
                status = self.call(connection)
                found.append(time.perf_counter() - started)
                if status != HTTPStatus.OK:
                    raise RuntimeError(f"A quote was answered with {status}.")
        return found

    def call(self, connection: HTTPConnection) -> int:
        connection.request("POST", self._path, self._body, self._headers)
        answer = connection.getresponse()
        answer.read()
        return answer.status


class _Flood:
    """Calls by all clients at once, as fast as they are answered, until the block ends."""

    def __init__(self, clients: list[_Client]) -> None:
        self.statuses: Counter[int] = Counter()
        self._ended = threading.Event()
        self._threads = [threading.Thread(target=self._call, args=[client]) for client in clients]

    def __enter__(self) -> Self:
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *_error: object) -> None:
        self._ended.set()
        for thread in self._threads:
            thread.join()

    def _call(self, client: _Client) -> None:
        with closing(HTTPConnection("127.0.0.1", client.port, timeout=120)) as connection:
            while not self._ended.is_set():
                self.statuses[client.call(connection)] += 1


def _p99(times: list[float]) -> float:
    return quantiles(times, n=100)[98]


def _line(times: list[float]) -> str:
    return f"p50 {median(times) * 1000:.1f} ms, p99 {_p99(times) * 1000:.1f} ms, at most {max(times) * 1000:.0f} ms"
