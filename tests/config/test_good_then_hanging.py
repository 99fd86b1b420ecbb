"""Servers outside that answer well, then do not: nothing of before is told as if it were new, and a recovery is seen.

The connection is kept open between the calls, as such servers do, so that a late answer could be read as the next one.
"""

import asyncio
import json
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from common.webhooks import http_client
from common.workers.deadlines import BoundedCalls
from delivery.geo import routing
from delivery.geo.distance import Point
from delivery.places import geocoding
from tests.delivery.geo.geocoder import feature, nominatim, photon
from tests.delivery.geo.routing_server import osrm_answer, valhalla_answer

DEADLINE = 0.3
# What a loaded machine needs beside the deadline; far below the deadline of the product.
SLACK = 1.2
START, END = Point(-23.5614, -46.6559), Point(-23.5520, -46.6500)


class Server(ThreadingHTTPServer):
    """Answers each request with `body` in the `way` of that moment."""

    daemon_threads = True

    def __init__(self) -> None:
        self.way, self.body = "good", b""
        self.asked = 0
        self.ended = threading.Event()
        super().__init__(("127.0.0.1", 0), _Handler)
        self.url = f"http://127.0.0.1:{self.server_port}"


class _Handler(BaseHTTPRequestHandler):
    server: Server
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        self.rfile.read(int(self.headers.get("Content-Length", 0)))
        way, body = self.server.way, self.server.body
        self.server.asked += 1
        if way == "hangs":
            self.server.ended.wait()
        elif way == "is late":
            self.server.ended.wait(DEADLINE * 2)
        elif way == "fails":
            return self._answer(503, body)
        elif way == "answers garbage":
            return self._answer(200, b"\0" + body[1:])
        elif way == "answers half":
            return self._answer(200, body, sent=len(body) // 2)
        elif way == "speaks no HTTP":
            self.wfile.write(b"\0\1\2\r\n\r\n")
            self.close_connection = True
            return None
        return self._answer(200, body)

    do_POST = do_GET  # noqa: N815  # the name of the base class

    def _answer(self, status: int, body: bytes, *, sent: int | None = None) -> None:
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body[:sent])
        self.close_connection = sent is not None

    def log_message(self, *args: Any) -> None:
        pass


@dataclass(frozen=True)
class Outsider:
    """`answer`: the body that says this number. `ask`: the number that was understood; raises `failure` without one.

    `failures`: how many are counted. `unharmed`: ways that are no failure, because only the status counts.
    """

    answer: Callable[[int], Any]
    ask: Callable[[str], int]
    failure: type[Exception]
    failures: Callable[[str], float]
    unharmed: frozenset[str] = frozenset()


class NotTaken(Exception):
    pass


def metres_by(name: str, url: str) -> int:
    engine = routing.engine(name, url=url, vehicle="CAR")
    assert engine is not None
    (leg,) = engine([START, END])
    return round(leg.metres)


def routing_failures(name: str, _url: str) -> float:
    (metric,) = routing._FAILURES.collect()
    return sum(each.value for each in metric.samples if each.labels["engine"] == name and each.name.endswith("_total"))


def number_of_house(url: str) -> int:
    (found,) = geocoding.search(url, "Rua Augusta", language="en", account="a")
    return int(found.number or 0)


def failures_of_geocoder(url: str) -> float:
    return geocoding._server(url)._failures["a"]


async def posted(url: str) -> Any:
    async with http_client.open_session(allow_loopback=True, seconds=DEADLINE) as session:
        return await http_client.send(session, http_client.Request(url, {}, b"{}"))
