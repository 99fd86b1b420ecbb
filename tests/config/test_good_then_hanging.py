"""Servers outside that answer well, then do not: nothing of before is told as if it were new, and a recovery is seen.

The connection is kept open between the calls, as such servers do, so that a late answer could be read as the next one.
"""

import asyncio
import gzip
import io
import json
import re
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from socketserver import StreamRequestHandler, ThreadingTCPServer
from typing import Any
from unittest import mock

import pytest
from botocore.exceptions import BotoCoreError, ClientError
from django.conf import settings as django_settings
from django.utils import timezone
from pmtiles.reader import MemorySource, Reader
from pmtiles.tile import Compression, TileType
from pmtiles.writer import Writer
from s3transfer.exceptions import RetriesExceededError

from common.mail import outbox, sending
from common.mail.models import Kind, MessageState
from common.webhooks import endpoints, http_client
from common.workers.deadlines import BoundedCalls
from config import proof_storage
from delivery.actions import proofs
from delivery.alerts import actions as alerts
from delivery.alerts import posts
from delivery.alerts.models import AlertKind, AlertPost, EndpointAlerts, PostState
from delivery.drivers import offer_pushes, web_push
from delivery.errors import PhotosBusy
from delivery.geo import routing
from delivery.geo.distance import Point
from delivery.models import PushSubscription, WebhookEndpoint
from delivery.places import geocoding
from delivery.streets import copying, tiles
from delivery.streets.errors import MapNotCopied
from tests import smtp
from tests.delivery.drivers.browsers import Browser
from tests.delivery.drivers.phones import phone
from tests.delivery.geo.geocoder import feature, nominatim, photon
from tests.delivery.geo.routing_server import osrm_answer, valhalla_answer
from tests.factories import BY, DeliveryFactory, IntegratorFactory

DEADLINE = 0.3
# What a loaded machine needs beside the deadline.
SLACK = 3
START, END = Point(-23.5614, -46.6559), Point(-23.5520, -46.6500)


class Server(ThreadingHTTPServer):
    """Answers each request with `body`, or the range of it that is asked for, in the `way` of that moment."""

    daemon_threads = True

    def __init__(self) -> None:
        self.way, self.body = "good", b""
        self.ended = threading.Event()
        super().__init__(("127.0.0.1", 0), _Handler)
        self.url = f"http://127.0.0.1:{self.server_port}"


class _Handler(BaseHTTPRequestHandler):
    server: Server
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        self.rfile.read(int(self.headers.get("Content-Length", 0)))
        way, body = self.server.way, self.server.body
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

    do_HEAD = do_POST = do_PUT = do_GET  # noqa: N815  # the names of the base class

    def _answer(self, status: int, body: bytes, *, sent: int | None = None, pause: float = 0) -> None:
        asked = re.fullmatch(r"bytes=(\d+)-(\d+)", self.headers.get("Range", ""))
        self.send_response(206 if asked and status == 200 else status)
        self.send_header("Content-Type", "application/json")
        if asked:
            size, first, body = len(body), int(asked[1]), body[int(asked[1]) : int(asked[2]) + 1]
            self.send_header("Content-Range", f"bytes {first}-{first + len(body) - 1}/{size}")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command == "HEAD":
            return
        # An empty body is whole at once: to close after it would race with the next request of the kept connection.
        self.close_connection = sent is not None and sent < len(body)
        step = 1 if pause else max(len(body), 1)
        for start in range(0, len(body[:sent]), step):
            self.wfile.write(body[:sent][start : start + step])
            if self.server.ended.wait(pause):
                return

    def log_message(self, *args: Any) -> None:
        pass


class MailServer(ThreadingTCPServer):
    """Answers each message in the `way` of that moment."""

    daemon_threads = True

    def __init__(self) -> None:
        self.way, self.body = "good", b""
        self.ended = threading.Event()
        super().__init__(("127.0.0.1", 0), _MailHandler)
        self.url = f"smtp://127.0.0.1:{self.server_address[1]}"


class _MailHandler(StreamRequestHandler):
    server: MailServer

    def handle(self) -> None:
        self.wfile.write(b"220 loopback\r\n")
        for line in self.rfile:
            if line.startswith(b"data"):
                self.wfile.write(b"354 go on\r\n")
                while self.rfile.readline() != b".\r\n":
                    pass
                self._answer(self.server.way)
                if self.server.way == "answers half":
                    return
            else:
                self.wfile.write(b"250 OK\r\n")

    def _answer(self, way: str) -> None:
        answer = {
            "fails": b"451 later\r\n", "answers garbage": b"\0\1\2\r\n", "speaks no HTTP": b"\0\1\2\r\n\r\n",
            "answers half": b"25",
        }.get(way, b"250 OK\r\n")  # fmt: skip  # a table
        if way in {"hangs", "is late"}:
            self.server.ended.wait(None if way == "hangs" else DEADLINE * 2)
        for byte in answer:
            self.wfile.write(bytes([byte]))
            if self.server.ended.wait(DEADLINE / 3 if way == "drips" else 0):
                return


class NotTakenError(Exception):
    """What was sent has not been taken."""


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
    failure: type[Exception] | tuple[type[Exception], ...]
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


def sink(is_taken: Callable[[str, int], bool], *, enough: tuple[str, ...] = (), body: bytes = b"OK") -> Outsider:
    """One that answers by a status alone: a number is sent, and told again if it was taken."""
    sent: list[int] = []

    def answer(number: int) -> bytes:
        sent.append(number)
        return body

    def ask(url: str) -> int:
        if not is_taken(url, sent[-1]):
            raise NotTakenError
        return sent[-1]

    return Outsider(answer, ask, NotTakenError, enough=enough)


def mail_is_sent(_url: str, number: int) -> bool:
    at, context = timezone.now(), {"account": str(number), "inviter": "maria", "link": outbox.link("/"), "days": 7}
    message = outbox.record(
        kind=Kind.INVITATION, recipient="ana@example.com", template="invitation", context=context, language="en",
        at=at, lifetime=timedelta(days=1),
    )  # fmt: skip  # short arguments
    sending.send_due()
    message.refresh_from_db()
    return _is_sent(message, MessageState)


def alert_is_sent(url: str, number: int) -> bool:
    if not AlertPost.objects.exists():
        endpoint = endpoints.first(WebhookEndpoint, owner=IntegratorFactory.create().pk, environment="live")
        alerts.set_url(endpoint=endpoint, url=url, language="en", by=BY, at=timezone.now())
    now = {"created_at": timezone.now(), "due_at": timezone.now()}
    post = AlertPost.objects.create(alerts=EndpointAlerts.objects.get(), kind=AlertKind.TEST, text=str(number), **now)
    posts.post_due()
    post.refresh_from_db()
    return _is_sent(post, PostState)


def _is_sent(row: Any, states: Any) -> bool:
    """What is not is tried again, and not at once."""
    assert row.state == states.SENT or (row.state == states.WAITING and row.due_at > timezone.now())
    return bool(row.state == states.SENT)


def push_is_taken(url: str, _number: int) -> bool:
    if not PushSubscription.objects.exists():
        assert phone().post("push/", Browser(url).body).status_code == 204
    delivery = DeliveryFactory.create(stops=1)
    with mock.patch.object(offer_pushes, "_log") as log:
        offer_pushes.push([delivery.pk], at=timezone.now())
    is_silent = PushSubscription.objects.get().silent_since is not None
    assert not is_silent or log.warning.called
    return not log.warning.called


def photo_is_kept(_url: str, number: int) -> bool:
    try:
        proofs._save(f"2026-11-22/{number}.jpg", b"photo")
    except PhotosBusy:
        return False
    return True


def photo_in_bucket(_url: str) -> str:
    with proofs.files().open("2026-11-22/a.jpg") as file:
        content: bytes = file.read()
        return content.decode()


def map_of(number: int) -> bytes:
    """A map whose only tile is this number."""
    file = io.BytesIO()
    writer = Writer(file)
    writer.write_tile(0, gzip.compress(str(number).encode()))
    writer.finalize({"tile_type": TileType.MVT, "tile_compression": Compression.GZIP}, {})
    return file.getvalue()


def copied_map(url: str) -> str:
    client: dict[str, Any] = {"allow_loopback": True, "seconds": DEADLINE, "pauses": ()}
    copying.copy(
        [tiles.box(START, km=1)], sources=[url], to=django_settings.MAP_FILE, tell=lambda _progress: None, **client
    )
    copied = Reader(MemorySource(django_settings.MAP_FILE.read_bytes())).get(0, 0, 0)
    return gzip.decompress(copied).decode()


# What takes a POST or PUT has taken it once its status is known.
BY_STATUS = ("answers garbage", "answers half", "drips")
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
        lambda number: number, Webhooks(), NotTakenError, enough=BY_STATUS
    ),
    "URL of alerts": lambda: sink(alert_is_sent, enough=BY_STATUS),
    "push service": lambda: sink(push_is_taken, enough=BY_STATUS),
    "mail server": lambda: sink(mail_is_sent),
    "bucket that keeps": lambda: sink(photo_is_kept, enough=("answers half", "drips"), body=b""),
    # The deadline is that of each part of an answer.
    "bucket that is read": lambda: Outsider(
        lambda number: number, photo_in_bucket, (OSError, BotoCoreError, ClientError, RetriesExceededError),
        enough=("answers garbage", "drips"),
    ),
    "source of maps": lambda: Outsider(map_of, copied_map, MapNotCopied),
}  # fmt: skip  # a table


@pytest.fixture
def server(name: str) -> Iterator[Server | MailServer]:
    made: Server | MailServer = MailServer() if name == "mail server" else Server()
    threading.Thread(target=made.serve_forever, args=(0.01,), daemon=True).start()
    yield made
    made.ended.set()
    made.shutdown()
    made.server_close()


@pytest.fixture
def outsider(
    name: str, server: Server | MailServer, settings: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> Iterator[Outsider]:
    geocoding._server.cache_clear()
    for module in (routing, geocoding, offer_pushes):
        monkeypatch.setattr(module, "_SECONDS", DEADLINE)
    for module in (routing, geocoding, sending):
        monkeypatch.setattr(module, "_calls", BoundedCalls(most=8, seconds=DEADLINE, each=4))
    monkeypatch.setattr(http_client, "TOTAL_SECONDS", DEADLINE)
    monkeypatch.setattr(proof_storage, "_READ_SECONDS", DEADLINE)
    monkeypatch.setattr(proof_storage, "_TRIES", 1)
    for key, value in {"ACCESS_KEY_ID": "key", "SECRET_ACCESS_KEY": "secret", "DEFAULT_REGION": "sa-east-1"}.items():
        monkeypatch.setenv(f"AWS_{key}", value)
    monkeypatch.setenv("AWS_ENDPOINT_URL_S3", server.url)
    settings.STORAGES = {**settings.STORAGES, "proofs": proof_storage.setting(bucket="photos", folder=Path("unused"))}
    settings.MAP_FILE = tmp_path / "map.pmtiles"
    settings.VAPID_PRIVATE_KEY, settings.VAPID_SUBJECT = web_push.new_key(), "mailto:rota@example.com"
    if name == "mail server":
        smtp.use(settings, server.url)
    made = OUTSIDERS[name]()
    yield made
    if isinstance(made.ask, Webhooks):
        made.ask.close()


@pytest.mark.parametrize(
    "way",
    ["hangs", "is late", "drips", "fails", "answers garbage", "answers half", "speaks no HTTP"],
)
@pytest.mark.parametrize("name", OUTSIDERS)
@pytest.mark.django_db
def test_is_believed_again_and_not_meanwhile(server, outsider, name, way):
    def answers(number: int, *, way: str = "good") -> Any:
        answer = outsider.answer(number)
        server.way, server.body = way, answer if isinstance(answer, bytes) else json.dumps(answer).encode()
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
