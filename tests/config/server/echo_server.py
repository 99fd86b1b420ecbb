"""An RSGI application for granian: answers with the WSGI environ and the length of the body, as JSON."""

import json
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from django.conf import settings

from config.server.page_streams import PageStreams
from config.server.rsgi import Application, Limits


class Response:
    def __init__(self, content: bytes, *, fails_to_close: bool = False) -> None:
        self._content, self._fails_to_close = content, fails_to_close

    def __iter__(self) -> Iterator[bytes]:
        yield self._content

    def close(self) -> None:
        """WSGI's end of a response."""
        if self._fails_to_close:
            raise RuntimeError("a fault after the answer")


def echo(environ: dict[str, Any], start_response: Callable[..., Any]) -> Response:
    if environ["PATH_INFO"] == "/fault":
        raise RuntimeError("a fault below Django")
    if environ["PATH_INFO"] == "/slow":
        time.sleep(3)
    if environ["PATH_INFO"] == "/pause":
        time.sleep(0.05)
    seen = {key: value for key, value in environ.items() if isinstance(value, str)}
    content = json.dumps({**seen, "body_bytes": len(environ["wsgi.input"].read())}).encode()
    start_response("200 OK", [("Content-Type", "application/json"), ("Set-Cookie", "a=1"), ("Set-Cookie", "b=2")])
    return Response(content, fails_to_close=environ["PATH_INFO"] == "/late-fault")


class Together:
    """Answers with how many requests there are, unless their query says otherwise."""

    def takes(self, environ: dict[str, Any]) -> bool:
        return bool(environ["PATH_INFO"] == "/together")

    def answer(self, environs: Sequence[dict[str, Any]]) -> list[tuple[int, list[tuple[str, str]], bytes] | None]:
        queries = [environ["QUERY_STRING"] for environ in environs]
        if "fault" in queries:
            raise RuntimeError("a fault of one of them")
        return [
            None if query == "alone" else (202, [("x-kind", "gathered")], f"{len(queries)}".encode())
            for query in queries
        ]


application = Application(
    echo,
    threads=2,
    limits=Limits(body_seconds=0.5, most_seconds=3, large_bytes=5_000_000),
    streams=PageStreams(settings.REDIS_URL),
    gathered=Together(),
)
