"""An RSGI application for granian: `/topic,topic?user` is a stream of these topics, `/plain` is none.

`?user+since` is of a page of that version. `/topic?user:name` has content, equal for those of one name: the ids in
brackets and how often it was computed; none of ids that begin with `x`, and an error of those that begin with `y`.

The environment variables STREAMS_REDIS and STREAM_LIMITS (JSON) are the server and the limits of streams.
"""

import json
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import count
from typing import Any

from common.pages.page_updates import STREAM, StreamRequest
from config.server.page_streams import PageStreams, StreamLimits
from config.server.rsgi import Application
from tests.config.server.echo_server import Response

_counted = count(1)


@dataclass(frozen=True)
class _Content:
    name: str

    def __call__(self, ids: Sequence[str], _message: str) -> str | None:
        if ids[0].startswith("y"):
            raise ValueError(ids[0])
        return None if ids[0].startswith("x") else f"[{' '.join(ids)}] {self.name} {next(_counted)}"


def answer(environ: dict[str, Any], start_response: Callable[..., Any]) -> Response:
    path = environ["PATH_INFO"]
    content = b"data: without a stream\n\n"
    if path != "/plain":
        query, _plus, since = environ["QUERY_STRING"].partition("+")
        user, _colon, name = query.partition(":")
        environ[STREAM] = StreamRequest(tuple(path[1:].split(",")), user, since, _Content(name) if name else None)
    status = "403 Forbidden" if path == "/refused" else "200 OK"
    start_response(status, [("Content-Type", "text/event-stream"), ("Content-Length", str(len(content)))])
    return Response(content)


application = Application(
    answer,
    threads=2,
    streams=PageStreams(os.environ["STREAMS_REDIS"], StreamLimits(**json.loads(os.environ["STREAM_LIMITS"]))),
)
