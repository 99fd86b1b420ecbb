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
        elif way == "drips":
            return self._answer(200, body, pause=DEADLINE / 3)
        elif way == "speaks no HTTP":
            self.wfile.write(b"\0\1\2\r\n\r\n")
            self.close_connection = True
            return None
        return self._answer(200, body)

    do_POST = do_GET  # noqa: N815  # the name of the base class

    def _answer(self, status: int, body: bytes, *, sent: int | None = None, pause: float = 0) -> None:
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.close_connection = sent is not None
        step = 1 if pause else len(body)
        for start in range(0, len(body[:sent]), step):
            self.wfile.write(body[:sent][start : start + step])
            if self.server.ended.wait(pause):
                return

    def log_message(self, *args: Any) -> None:
        pass


class NotTakenError(Exception):
    """A webhook that its endpoint has not taken."""


class Webhooks:
    """A worker's client: the session and its connections stay from one event to the next."""

    def __init__(self) -> None:
        self._runner = asyncio.Runner(loop_factory=http_client.new_event_loop)
        self._session: Any = None

    async def _send(self, url: str) -> http_client.Result:
        if self._session is None:
            self._session = http_client.open_session(allow_loopback=True, seconds=DEADLINE)
        return await http_client.send(self._session, http_client.Request(url, {}, b"{}"))

    def __call__(self, url: str) -> Any:
        result = self._runner.run(self._send(url))
        if not result.succeeded:
            raise NotTakenError
        return result.response_start

    def close(self) -> None:
        if self._session is not None:
            self._runner.run(self._session.close())
        self._runner.close()


@dataclass(frozen=True)
class Outsider:
    """`answer`: a body that says this number, and `ask` what was understood of it; it raises `failure` otherwise.

    `failures`: how many are counted. `enough`: the ways in which it has answered enough, since a status is.
    """

    answer: Callable[[int], Any]
    ask: Callable[[str], Any]
    failure: type[Exception]
    failures: Callable[[str], float] | None = None
    enough: tuple[str, ...] = ()


def metres_by(name: str, url: str) -> int:
    engine = routing.engine(name, url=url, vehicle="CAR")
    assert engine is not None
    return round(engine([START, END])[0].metres)


def failures_of(name: str, _url: str) -> float:
    found = [each for metric in routing._FAILURES.collect() for each in metric.samples]
    return sum(each.value for each in found if each.labels["engine"] == name and each.name.endswith("_total"))


def house_at(url: str) -> str:
    return geocoding.search(url, "Rua Augusta", language="en", account="a")[0].number or ""


def failures_at(url: str) -> float:
    return geocoding._server(url)._failures["a"]


OUTSIDERS = {
    "OSRM": lambda: Outsider(
        lambda number: osrm_answer((number, 600)), partial(metres_by, "osrm"), routing.RoutingFailed,
        partial(failures_of, "osrm"),
    ),
    "Valhalla": lambda: Outsider(
        lambda number: valhalla_answer((number / 1000, 600, "")), partial(metres_by, "valhalla"),
        routing.RoutingFailed, partial(failures_of, "valhalla"),
    ),
    "Nominatim": lambda: Outsider(
        lambda number: [nominatim(house_number=str(number))], house_at, geocoding.GeocodingFailed, failures_at
    ),
    "Photon": lambda: Outsider(
        lambda number: photon(feature(housenumber=str(number))), house_at, geocoding.GeocodingFailed, failures_at
    ),
    "endpoint of webhooks": lambda: Outsider(
        lambda number: number, Webhooks(), NotTakenError, enough=("answers garbage", "answers half", "drips")
    ),
}  # fmt: skip  # a table


@pytest.fixture
def server() -> Iterator[Server]:
    made = Server()
    threading.Thread(target=made.serve_forever, args=(0.01,), daemon=True).start()
    yield made
    made.ended.set()
    made.shutdown()
    made.server_close()


@pytest.fixture
def outsider(name: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[Outsider]:
    geocoding._server.cache_clear()
    for module in (routing, geocoding):
        monkeypatch.setattr(module, "_SECONDS", DEADLINE)
        monkeypatch.setattr(module, "_calls", BoundedCalls(most=8, seconds=DEADLINE, each=4))
    made = OUTSIDERS[name]()
    yield made
    if isinstance(made.ask, Webhooks):
        made.ask.close()


@pytest.mark.parametrize(
    "way",
    ["hangs", "is late", "drips", "fails", "answers garbage", "answers half", "speaks no HTTP"],
)
@pytest.mark.parametrize("name", OUTSIDERS)
def test_is_believed_again_and_not_meanwhile(server, outsider, name, way):
    def answers(number: int, *, way: str = "good") -> Any:
        server.way, server.body = way, json.dumps(outsider.answer(number)).encode()
        return outsider.ask(server.url)

    def failures() -> float:
        return outsider.failures(server.url) if outsider.failures else 0

    first, before = answers(2001), failures()
    began = time.monotonic()
    if way in outsider.enough:
        assert "2001" not in str(answers(2002, way=way))
    else:
        with pytest.raises(outsider.failure):
            answers(2002, way=way)
    seconds, counted = time.monotonic() - began, failures()
    again, later = answers(2003), answers(2004)

    assert [str(each) for each in (first, again, later)] == ["2001", "2003", "2004"]
    assert seconds < DEADLINE + SLACK
    assert counted - before == (outsider.failures is not None)
