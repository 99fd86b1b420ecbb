"""An endpoint so light that it is never what is measured: HTTP/1.1 with keep-alive, just enough of it.

`python -m benchmarks.sink FILE` prints its port, and on SIGTERM writes what it received: a line for each request with
its webhook-id and the monotonic time of its arrival.
"""

import asyncio
import signal
import sys
import time
from pathlib import Path

_ANSWER = b"HTTP/1.1 204 No Content\r\nContent-Length: 0\r\n\r\n"
_DELAY_SECONDS = 0.001
_received: list[tuple[bytes, float]] = []


class Connection(asyncio.Protocol):
    """One client."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport: asyncio.Transport = transport  # type: ignore[assignment]  # a TCP server's is one
        self._unread = b""

    def data_received(self, data: bytes) -> None:
        self._unread += data
        while (end := self._unread.find(b"\r\n\r\n")) >= 0:
            head = self._unread[:end].lower()
            whole = end + 4 + int(_header(head, b"content-length"))
            if len(self._unread) < whole:
                return
            self._unread = self._unread[whole:]
            _received.append((_header(head, b"webhook-id"), time.monotonic()))
            if not head.startswith(b"post /hang"):
                asyncio.get_running_loop().call_later(_DELAY_SECONDS, self._answer)

    def _answer(self) -> None:
        if not self._transport.is_closing():
            self._transport.write(_ANSWER)


def _header(head: bytes, name: bytes) -> bytes:
    _, found, rest = head.partition(b"\r\n" + name + b":")
    return rest.partition(b"\r\n")[0].strip() if found else b"0"


async def serve() -> None:
    loop = asyncio.get_running_loop()
    ended = asyncio.Event()
    loop.add_signal_handler(signal.SIGTERM, ended.set)
    server = await loop.create_server(Connection, "127.0.0.1", 0, backlog=1024)
    print(server.sockets[0].getsockname()[1], flush=True)
    await ended.wait()


if __name__ == "__main__":
    asyncio.run(serve())
    Path(sys.argv[1]).write_text("".join(f"{name.decode()} {at}\n" for name, at in _received))
