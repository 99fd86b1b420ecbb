"""An RSGI application for granian: `/topic,topic?user` is a stream of these topics, `/plain` is none.

The environment variables STREAMS_REDIS and STREAM_LIMITS (JSON) are the server and the limits of streams.
"""

import json
import os
from collections.abc import Callable
from typing import Any

from common.pages.page_updates import STREAM, StreamRequest
from config.server.page_streams import PageStreams, StreamLimits
from config.server.rsgi import Application
from tests.config.server.echo_server import Response


def answer(environ: dict[str, Any], start_response: Callable[..., Any]) -> Response:
    path = environ["PATH_INFO"]
    content = b"data: without a stream\n\n"
    if path != "/plain":
        environ[STREAM] = StreamRequest(tuple(path[1:].split(",")), user=environ["QUERY_STRING"])
    status = "403 Forbidden" if path == "/refused" else "200 OK"
    start_response(status, [("Content-Type", "text/event-stream"), ("Content-Length", str(len(content)))])
    return Response(content)


application = Application(
    answer,
    threads=2,
    streams=PageStreams(os.environ["STREAMS_REDIS"], StreamLimits(**json.loads(os.environ["STREAM_LIMITS"]))),
)
