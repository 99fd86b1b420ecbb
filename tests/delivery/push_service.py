"""The push service of a browser's maker, on loopback."""

import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

_LONGEST_SILENCE = 30  # seconds


class PushService:
    """Takes messages, and answers with `status`; to paths of `silent` not before `speaks` is set."""

    def __init__(self) -> None:
        self.silent: set[str] = set()
        self.speaks = threading.Event()
        self.received: list[tuple[str, dict[str, str], bytes]] = []
        self.status = 201
        service = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:  # the server's name for it
                body = self.rfile.read(int(self.headers["Content-Length"]))
                service.received.append((self.path, {k.lower(): v for k, v in self.headers.items()}, body))
                if self.path in service.silent:
                    service.speaks.wait(_LONGEST_SILENCE)
                self.send_response(service.status)
                self.send_header("Content-Length", "0")
                self.end_headers()

            def log_message(self, *_arguments: Any) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}"
        threading.Thread(target=self.server.serve_forever, args=(0.01,), daemon=True).start()

    def close(self) -> None:
        self.speaks.set()
        self.server.shutdown()
        self.server.server_close()
