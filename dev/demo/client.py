"""What `manage.py demo` calls with and receives webhooks at: an API client, commands, an endpoint on 127.0.0.1."""

import json
import queue
import threading
from collections.abc import Callable
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from io import StringIO
from types import TracebackType
from typing import Any, Self

import requests
from django.core.management import call_command
from django.db import connection

from common.webhooks import signing

_TIMEOUT_SECONDS = 20
_LONGEST_LINE = 600


class DemoFailed(Exception):
    """The service deviates from what the demo expects."""


class Client:
    """An API client that prints each request and response. `say` prints a line."""

    def __init__(self, *, url: str, authorization: str, say: Callable[[str], None]) -> None:
        self.url = url.rstrip("/")
        self.say = say
        self._session = requests.Session()
        self._session.trust_env = False
        self._session.headers["Authorization"] = authorization

    def call(self, method: str, path: str, *, expect: int, **options: Any) -> dict[str, Any]:
        """One request. Raises DemoFailed unless the answer has the status `expect`."""
        try:
            response = self._session.request(method, self.url + path, timeout=_TIMEOUT_SECONDS, **options)
        except requests.RequestException as error:
            raise DemoFailed(f"{self.url} does not answer; is `make run` up? ({error})") from error
        self.say(f"→ {method} {path}")
        self.say(f"← {response.status_code} {response.text[:_LONGEST_LINE]}")
        self.check(response.status_code == expect, f"{method} {path} answers {expect}")
        body: dict[str, Any] = response.json()
        return body

    def check(self, condition: bool, what: str) -> None:
        if not condition:
            raise DemoFailed(f"expected: {what}")


def check_service(url: str) -> None:
    """Raise DemoFailed unless the service answers and this command uses its database."""
    try:
        requests.get(f"{url.rstrip('/')}/healthz", timeout=_TIMEOUT_SECONDS).raise_for_status()
    except requests.RequestException as error:
        raise DemoFailed(f"{url} does not answer; is `make run` up? ({error})") from error
    if "delivery_delivery" not in connection.introspection.table_names():
        raise DemoFailed("this database has no tables: use the DATA_DIR, or the URLs, of `make run`")


def command(name: str, *arguments: str) -> dict[str, str]:
    """Result of one of the commands for scripts. Raises DemoFailed when it refuses."""
    out = StringIO()
    try:
        call_command(name, *arguments, stdout=out)
    except SystemExit as stop:
        raise DemoFailed(f"{name} {' '.join(arguments)}: {out.getvalue().strip()}") from stop
    answer: dict[str, str] = json.loads(out.getvalue())
    return answer


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
    """Context manager of the endpoint, which queues what it receives."""

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
