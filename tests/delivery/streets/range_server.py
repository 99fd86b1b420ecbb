"""A server of one file on loopback that answers ranges, and what other servers do instead."""

import re
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any


class RangeServer(ThreadingHTTPServer):
    """`instead` answers a request with its number, from 1, and its handler; it returns False to have it answered."""

    daemon_threads = True
    instead: Callable[[int, Any], bool]

    def __init__(self, content: bytes) -> None:
        self.content, self.etag = content, '"1"'
        self.asked: list[str] = []
        self.instead = lambda _number, _handler: False
        server = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self) -> None:
                server.asked.append(self.headers["Range"])
                asked = re.fullmatch(r"bytes=([0-9]+)-([0-9]+)", self.headers["Range"])
                assert asked
                self.range = int(asked[1]), min(int(asked[2]), len(server.content) - 1)
                if server.instead(len(server.asked), self):
                    return
                if not self.path.startswith("/map"):
                    self.answer(404)
                    return
                self.send_range(*self.range)

            def send_range(self, first: int, last: int, *, cut: int | None = None) -> None:
                """`cut`: so many bytes only, with a head that promises all of them."""
                said = f"bytes {first}-{last}/{len(server.content)}"
                self.answer(
                    206, server.content[first : last + 1], cut=cut, **{"Content-Range": said, "ETag": server.etag}
                )

            def answer(self, status: int, body: bytes = b"", *, cut: int | None = None, **headers: str) -> None:
                self.send_response(status)
                for name, value in {"Content-Length": str(len(body)), **headers}.items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(body[:cut])
                if cut is not None:
                    self.close_connection = True

            def log_message(self, *_arguments: object) -> None: ...

        super().__init__(("127.0.0.1", 0), Handler)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}/map.pmtiles"

    def start(self) -> None:
        Thread(target=self.serve_forever, args=(0.01,), daemon=True).start()
