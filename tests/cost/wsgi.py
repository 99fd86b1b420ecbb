"""Requests to the WSGI application as it is served. Django's test client would bypass the code that wraps Django."""

import io
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any
from wsgiref.util import setup_testing_defaults

from django.core.signals import request_finished, request_started
from django.db import close_old_connections

from config.server.rsgi import application as served


@dataclass(frozen=True)
class Answer:
    status: int
    headers: dict[str, str]
    body: bytes


def ask(method: str, path: str, *, query: str = "", headers: dict[str, str] | None = None, body: bytes = b"") -> Answer:
    """Make a request to the application. `path` is percent-decoded, as in WSGI."""
    environ: dict[str, Any] = {}
    setup_testing_defaults(environ)
    environ |= {
        "REQUEST_METHOD": method,
        "PATH_INFO": path.encode().decode("latin-1"),
        "QUERY_STRING": query,
        "CONTENT_LENGTH": str(len(body)),
        "wsgi.input": io.BytesIO(body),
        "REMOTE_ADDR": "127.0.0.1",
    }
    for name, value in (headers or {}).items():
        key = name.upper().replace("-", "_")
        environ[key if key in {"CONTENT_TYPE", "CONTENT_LENGTH"} else f"HTTP_{key}"] = value.encode().decode("latin-1")
    started: list[tuple[str, list[tuple[str, str]]]] = []

    def start_response(status: str, given: list[tuple[str, str]], *_error: Any) -> Any:
        started.append((status, given))

    with _open_connections():
        response = served._wsgi(environ, start_response)
        content = b"".join(response)
        response.close()
    ((status, given),) = started
    return Answer(int(status.split()[0]), dict(given), content)


@contextmanager
def _open_connections() -> Iterator[None]:
    """Keep the test's database connection open across requests, as Django's test client does."""
    request_started.disconnect(close_old_connections)
    request_finished.disconnect(close_old_connections)
    try:
        yield
    finally:
        request_started.connect(close_old_connections)
        request_finished.connect(close_old_connections)
