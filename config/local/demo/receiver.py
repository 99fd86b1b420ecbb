"""An integrator's webhook endpoint: an HTTP server on 127.0.0.1 that queues what it receives."""

import json
import queue
import threading
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, Self

from common.webhooks import signing


@dataclass(frozen=True)
class Received:
    """One webhook as it arrived."""

    headers: dict[str, str]
    raw: str

    @property
    def body(self) -> dict[str, Any]:
        parsed: dict[str, Any] = json.loads(self.raw)
        return parsed

    def error(self, *, token: str, secret: str) -> str:
        """What is wrong with its headers; empty for a valid webhook."""
        if self.headers.get("authorization") != f"Bearer {token}":
            return "its Bearer token is not ours"
        expected = signing.sign(
            webhook_id=self.headers.get("webhook-id", ""),
            timestamp=int(self.headers.get("webhook-timestamp", "0")),
            body=self.raw.encode(),
            secrets=[secret],
        )
        return "" if expected in self.headers.get("webhook-signature", "").split() else "its signature is wrong"


class Receiver:
    """Context manager of the endpoint."""

    def __init__(self) -> None:
        self.received: queue.Queue[Received] = queue.Queue()
        received = self.received

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                raw = self.rfile.read(int(self.headers.get("Content-Length", "0")))
                headers = {name.lower(): value for name, value in self.headers.items()}
                received.put(Received(headers, raw.decode()))
                self.send_response(204)
                self.end_headers()

            def log_message(self, format: str, *args: Any) -> None:  # noqa: A002  # the base class's name
                """Log nothing: the demo prints the webhooks."""

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_address[1]}/webhooks"

    def __enter__(self) -> Self:
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._server.shutdown()
        self._server.server_close()
