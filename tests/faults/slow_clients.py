"""Clients that open a request and never finish it, each over a connection of its own."""

import socket
import threading
from collections import Counter
from contextlib import suppress
from types import TracebackType
from typing import Self


def _head(path: str, content_type: str, framing: str) -> bytes:
    return f"POST {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: {content_type}\r\n{framing}\r\n\r\n".encode()


_JSON = "application/json"
_FORM = "application/x-www-form-urlencoded"
_UPLOAD = "multipart/form-data; boundary=x"

# Kind: what is sent at once, and whether a byte follows every second.
KINDS: dict[str, tuple[bytes, bool]] = {
    "half a JSON body": (_head("/api/request-delivery", _JSON, "Content-Length: 1000") + b'{"a":', False),
    "a chunked body without its end": (
        _head("/api/integration/orders", _JSON, "Transfer-Encoding: chunked") + b'5\r\n{"a":\r\n',
        False,
    ),
    "a log-in form without a body": (_head("/account/login/", _FORM, "Content-Length: 500"), False),
    "an upload, a byte a second": (
        _head("/api/integration/invoices/marketplace", _UPLOAD, "Content-Length: 99999"),
        True,
    ),
    "headers, a byte a second": (b"POST /api/request-delivery HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Slow: ", True),
}


class SlowClients:
    """`each` clients of every kind, connected from `with` on. `answers` counts status lines by kind once they ended."""

    def __init__(self, port: int, *, each: int) -> None:
        self._port, self._each = port, each
        self._stopping = threading.Event()
        self._sockets: list[tuple[str, socket.socket]] = []
        self._dripper = threading.Thread(target=self._drip)

    def __enter__(self) -> Self:
        for kind, (start, _drips) in KINDS.items():
            for _number in range(self._each):
                connection = socket.create_connection(("127.0.0.1", self._port), timeout=10)
                connection.sendall(start)
                self._sockets.append((kind, connection))
        self._dripper.start()
        return self

    def __exit__(
        self, _type: type[BaseException] | None, _error: BaseException | None, _trace: TracebackType | None
    ) -> None:
        self._stopping.set()
        self._dripper.join()
        for _kind, connection in self._sockets:
            connection.close()

    def __len__(self) -> int:
        return len(self._sockets)

    def answers(self) -> Counter[tuple[str, str]]:
        """(kind, status) of what has been answered by now; `waiting` where nothing has."""
        return Counter((kind, _status(connection)) for kind, connection in self._sockets)

    def _drip(self) -> None:
        while not self._stopping.wait(1):
            for kind, connection in self._sockets:
                if KINDS[kind][1]:
                    with suppress(OSError):  # the server may have ended the connection
                        connection.send(b"a")


def _status(connection: socket.socket) -> str:
    connection.setblocking(False)
    try:
        line = connection.recv(64, socket.MSG_PEEK)
    except BlockingIOError:
        return "waiting"
    except OSError:
        return "closed"
    return line.split(b" ")[1].decode() if line else "closed"
