"""An RSGI application for granian: answers with the WSGI environ and the length of the body, as JSON."""

import json
import time
from collections.abc import Callable, Iterator
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


application = Application(
    echo,
    threads=2,
    limits=Limits(body_seconds=0.5, most_seconds=3, large_bytes=5_000_000),
    streams=PageStreams(settings.REDIS_URL),
)
