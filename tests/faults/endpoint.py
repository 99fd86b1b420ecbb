"""An integrator's endpoint that answers as a test says and records requests; and a server that counts connections."""

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

_PAUSE_SECONDS = 0.3
_SLOW_BYTES = 200  # a minute


@dataclass(frozen=True)
class Answer:
    """What an endpoint answers, `after` seconds. `slow_part`, head or body, is sent byte by byte."""

    status: int = 204
    headers: Mapping[str, str] = field(default_factory=dict)
    after: float = 0
    slow_part: str = ""


@dataclass
class Receipt:
    """A received request. Times are on the monotonic clock; `status` is that of the answer, sent or not."""

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
        """Delivery, or order, and sequence."""
        body = json.loads(self.body)
        return body.get("deliveryId") or body["orderId"], int(self.headers["webhook-sequence"])

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
        """Ignore clients that disconnect or fail the TLS handshake, which these tests provoke."""


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
        if answer.slow_part == "head":
            self._write_slowly(f"HTTP/1.1 {answer.status} OK\r\nX-Slow: ".encode())
            return
        self.send_response(answer.status)
        for name, value in answer.headers.items():
            self.send_header(name, value)
        if answer.status != 204:
            self.send_header("Content-Length", str(_SLOW_BYTES if answer.slow_part else 0))
        self.end_headers()
        if answer.slow_part == "body":
            self._write_slowly(b"")

    def _write_slowly(self, start: bytes) -> None:
        """Write a byte at a time until the client disconnects."""
        self.wfile.write(start)
        for _byte in range(_SLOW_BYTES):
            self.wfile.write(b"x")
            time.sleep(_PAUSE_SECONDS)

    def log_message(self, *args: Any) -> None:
        pass


class ConnectionCounter:
    """Accepts connections, closes them and counts them."""

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
