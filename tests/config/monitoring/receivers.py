"""HTTP servers on loopback that receive what a collector of traces and Sentry would."""

import gzip
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest


class Receiver(ThreadingHTTPServer):
    """Keeps path, headers and decompressed body of every POST. Answers while `may_answer` is set."""

    daemon_threads = True

    def __init__(self) -> None:
        self.may_answer = threading.Event()
        self.may_answer.set()
        self.received: list[tuple[str, dict[str, str], bytes]] = []
        super().__init__(("127.0.0.1", 0), _Handler)

    def spans(self) -> list[tuple[str, Any]]:
        """Every span that was received, with the process that it came from."""
        found = []
        for path, _headers, body in self.received:
            assert path == "/v1/traces"
            for resource in ExportTraceServiceRequest.FromString(body).resource_spans:
                attributes = {each.key: each.value.string_value for each in resource.resource.attributes}
                assert attributes["service.name"] == "rota"
                found += [(attributes["rota.process"], span) for scope in resource.scope_spans for span in scope.spans]
        return found

    def reports(self) -> list[dict[str, Any]]:
        """Every event of Sentry's envelopes."""
        found = []
        for _path, _headers, body in self.received:
            lines = body.split(b"\n")
            for header, payload in zip(lines[1::2], lines[2::2], strict=False):
                if header and json.loads(header).get("type") == "event":
                    found.append(json.loads(payload))
        return found


class _Handler(BaseHTTPRequestHandler):
    server: Receiver

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        if self.headers.get("Content-Encoding") == "gzip":
            body = gzip.decompress(body)
        self.server.received.append((self.path, dict(self.headers.items()), body))
        self.server.may_answer.wait()
        self.send_response(200)
        self.send_header("Content-Length", "2")
        self.end_headers()
        self.wfile.write(b"{}")

    def log_message(self, *args: object) -> None:
        pass


@contextmanager
def receiver() -> Iterator[Receiver]:
    server = Receiver()
    threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()
