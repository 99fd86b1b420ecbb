"""An integrator's endpoint that does as it is told and keeps what it receives; and a trap that nobody may call."""

import json
import socket
import ssl
import threading
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

_DRIP_SECONDS = 0.3
_DRIPS = 200  # a minute


@dataclass(frozen=True)
class Answer:
    """What an endpoint answers, `after` seconds. `drips` names the part that comes byte by byte: head or body."""

    status: int = 204
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes = b""
    after: float = 0
    drips: str = ""


@dataclass
class Receipt:
    """One request as it arrived. Moments are on the monotonic clock; `status` is what it was, or would be, answered."""

    headers: Mapping[str, str]
    body: str
    status: int
    at: float = field(default_factory=time.monotonic)
    answered_at: float | None = None
    cut_at: float | None = None

    @property
    def webhook_id(self) -> str:
        return self.headers["webhook-id"]

    @property
    def event(self) -> tuple[str, int]:
        """Delivery and sequence."""
        return json.loads(self.body)["deliveryId"], int(self.headers["webhook-sequence"])

    @property
    def is_accepted(self) -> bool:
        return 200 <= self.status < 300


class Endpoint(ThreadingHTTPServer):
    """HTTP on loopback; HTTPS with a server's TLS `context`."""

    daemon_threads = True
    request_queue_size = 128

    def __init__(self, answer: Answer | None = None, *, context: ssl.SSLContext | None = None) -> None:
        self.answer = answer or Answer()
        self.receipts: list[Receipt] = []
        self._open: set[socket.socket] = set()
        super().__init__(("127.0.0.1", 0), _Handler)
        self.url = f"http{'s' if context else ''}://127.0.0.1:{self.server_port}/hook"
        if context is not None:
            # The handshake takes place in the connection's own thread.
            self.socket = context.wrap_socket(self.socket, server_side=True, do_handshake_on_connect=False)
        threading.Thread(target=self.serve_forever, args=(0.05,), daemon=True).start()

    def accepted(self) -> set[tuple[str, int]]:
        return {receipt.event for receipt in list(self.receipts) if receipt.is_accepted}

    def close(self) -> None:
        self.shutdown()
        self.server_close()
        for connection in list(self._open):
            with suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)

    def finish_request(self, request: Any, client_address: Any) -> None:
        self._open.add(request)
        try:
            super().finish_request(request, client_address)
        finally:
            self._open.discard(request)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A caller that goes away or fails its handshake is what these tests are about."""


class _Handler(BaseHTTPRequestHandler):
    server: Endpoint
    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"])).decode()
        answer = self.server.answer
        receipt = Receipt({name.lower(): value for name, value in self.headers.items()}, body, answer.status)
        self.server.receipts.append(receipt)
        try:
            time.sleep(answer.after)
            self._write(answer)
            receipt.answered_at = time.monotonic()
        except OSError:
            receipt.cut_at = time.monotonic()
            self.close_connection = True

    def _write(self, answer: Answer) -> None:
        if answer.drips == "head":
            self._drip(f"HTTP/1.1 {answer.status} OK\r\nX-Slow: ".encode())
            return
        self.send_response(answer.status)
        for name, value in answer.headers.items():
            self.send_header(name, value)
        if answer.status != 204:
            self.send_header("Content-Length", str(_DRIPS if answer.drips else len(answer.body)))
        self.end_headers()
        if answer.drips == "body":
            self._drip(b"")
        self.wfile.write(answer.body)

    def _drip(self, start: bytes) -> None:
        """Write a byte at a time until the caller has had enough."""
        self.wfile.write(start)
        for _byte in range(_DRIPS):
            self.wfile.write(b"x")
            time.sleep(_DRIP_SECONDS)

    def log_message(self, *args: Any) -> None:
        pass


class Trap:
    """Listens and counts who connects."""

    def __init__(self, host: str = "127.0.0.1", port: int = 0) -> None:
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        self.connections = 0
        self._socket = socket.create_server((host, port), family=family)
        self.port = self._socket.getsockname()[1]
        threading.Thread(target=self._listen, daemon=True).start()

    def _listen(self) -> None:
        with suppress(OSError):
            while True:
                connection, _address = self._socket.accept()
                self.connections += 1
                connection.close()

    def close(self) -> None:
        with suppress(OSError):
            self._socket.shutdown(socket.SHUT_RDWR)
        self._socket.close()
