"""An integrator's endpoint whose answers a test sets: real HTTP on loopback."""

import asyncio
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from django.utils import timezone

from common.webhooks import endpoints
from common.webhooks.sender import Sender
from delivery.webhooks.outbox import OUTBOX
from tests.factories import BY, DeliveryFactory, TokenFactory


class Sink(ThreadingHTTPServer):
    """Records requests as (headers by lower-case name, body).

    `answers` are (status, headers, body) of the next requests, the last for all that follow.
    Each answer is sent `delay_seconds` after its request. Each event is first answered with 500, `refused_first` times.
    """

    daemon_threads = True

    def __init__(self):
        self.received: list[tuple[dict[str, str], str]] = []
        self.answers: list[tuple[int, dict[str, str], bytes]] = [(204, {}, b"")]
        self.delay_seconds = 0.0
        self.refused_first = 0
        self.open_requests = self.most_open_requests = 0
        super().__init__(("127.0.0.1", 0), _Handler)

    @property
    def url(self):
        return f"http://127.0.0.1:{self.server_port}/hook"


class _Handler(BaseHTTPRequestHandler):
    server: Sink

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"])).decode()
        self.server.open_requests += 1
        self.server.most_open_requests = max(self.server.most_open_requests, self.server.open_requests)
        answers = self.server.answers
        status, headers, answer = answers.pop(0) if len(answers) > 1 else answers[0]
        self.server.received.append(({name.lower(): value for name, value in self.headers.items()}, body))
        ids = [received.get("webhook-id") for received, _body in self.server.received]
        if ids.count(self.headers.get("webhook-id")) <= self.server.refused_first:
            status, headers, answer = 500, {}, b""
        time.sleep(self.server.delay_seconds)
        self.server.open_requests -= 1
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(answer)

    def log_message(self, *args):
        pass


@pytest.fixture
def sink():
    server = Sink()
    threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
    yield server
    server.shutdown()
    server.server_close()


async def _send_due(outbox=OUTBOX):
    sender = Sender(outbox)
    running = asyncio.create_task(sender.run())
    sender.wake()
    await sender.idle.wait()
    sender.stop()
    await running


@pytest.fixture
def send_due():
    """Send until nothing is due. The sender has its own connections and sees only what the test has committed."""
    return lambda: asyncio.run(_send_due())


@pytest.fixture
def receiving(db, sink):
    """Returns the token, after its integrator has set the URL of `sink` for its environment."""

    def receive(token):
        endpoint = token.integrator.endpoints.get(environment=token.environment)
        endpoints.set_url(endpoint=endpoint, url=sink.url, by=BY, at=timezone.now())
        return token

    return receive


@pytest.fixture
def token(receiving):
    """A token whose integrator receives its webhooks at `sink`."""
    return receiving(TokenFactory.create())


@pytest.fixture
def endpoint(token):
    return token.integrator.endpoints.get(environment="live", number=1)


@pytest.fixture
def first(token):
    """The first event of a delivery that has three."""
    return DeliveryFactory.create(token=token, collected=True).events.get(sequence=1)
