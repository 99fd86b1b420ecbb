"""A browser's side of Server-Sent Events, and a granian server to read them from."""

import json
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from config.env import BASE_DIR
from tests.ports import free_port, listens


@contextmanager
def granian(application: str, environment: Mapping[str, str]) -> Iterator[tuple[int, "subprocess.Popen[bytes]"]]:
    """A server with one worker process: its port and its process."""
    port = free_port()
    command = [
        sys.executable, "-m", "granian", "--interface", "rsgi", "--loop", "uvloop", "--port", str(port),
        "--http", "1", "--no-ws", "--log-level", "warning", application,
    ]  # fmt: skip
    process = subprocess.Popen(command, cwd=BASE_DIR, env=dict(environment))
    try:
        end = time.monotonic() + 90
        while not listens(port):
            assert process.poll() is None, "the server has ended"
            assert time.monotonic() < end
            time.sleep(0.05)
        yield port, process
    finally:
        process.terminate()
        process.wait(40)


class EventStream:
    """An open stream."""

    def __init__(self, port: int, path: str, **headers: str) -> None:
        self._connection = socket.create_connection(("127.0.0.1", port), timeout=40)
        lines = [
            f"GET {path} HTTP/1.1",
            f"Host: 127.0.0.1:{port}",
            *(f"{key}: {value}" for key, value in headers.items()),
        ]
        self._connection.sendall("\r\n".join([*lines, "", ""]).encode())
        self._buffer = b""
        head = self._until(b"\r\n\r\n").decode()
        self.status = int(head.split(" ")[1])
        self.headers = dict(line.lower().split(": ", 1) for line in head.split("\r\n")[1:])
        self._is_chunked = self.headers.get("transfer-encoding") == "chunked"
        self._text = ""
        self.id = ""  # of the last event

    def _until(self, end: bytes) -> bytes:
        while end not in self._buffer:
            received = self._connection.recv(65_536)
            if not received:
                raise EOFError
            self._buffer += received
        found, self._buffer = self._buffer.split(end, 1)
        return found

    def _read(self) -> str:
        if not self._is_chunked:
            while len(self._buffer) < int(self.headers["content-length"]):
                self._buffer += self._connection.recv(65_536)
            text, self._buffer = self._buffer.decode(), b""
            return text
        size = int(self._until(b"\r\n"), 16)
        if not size:
            raise EOFError
        while len(self._buffer) < size + 2:
            self._buffer += self._connection.recv(65_536)
        chunk, self._buffer = self._buffer[:size], self._buffer[size + 2 :]
        return chunk.decode()

    def next(self, *, beats: bool = False, seconds: float = 40) -> str:
        """The next event: its name, or the data of one without and of content. Signs of life only with `beats`.

        A stream that begins at the version of its page is `same`.

        Raises EOFError at the end of the stream, TimeoutError when it does not come within `seconds`.
        """
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            while "\n\n" not in self._text:
                self._connection.settimeout(max(end - time.monotonic(), 0.01))
                self._text += self._read()
            block, self._text = self._text.split("\n\n", 1)
            fields = dict(line.split(": ", 1) for line in block.split("\n"))
            self.id = fields.get("id", "")
            name = fields.get("event") or fields.get("data", "")
            if name == "content" or fields.get("data") == "same":
                name = fields["data"]
            if name and (beats or name != "beat"):
                return name
        raise TimeoutError

    def rest(self) -> list[str]:
        """All events until the end of the stream."""
        events = []
        while True:
            try:
                events.append(self.next())
            except EOFError:
                return events

    def close(self) -> None:
        self._connection.close()


def limits(**changed: float) -> dict[str, str]:
    """The environment of `stream_server` with these limits."""
    return {"STREAM_LIMITS": json.dumps({"pause_seconds": 0.05, "beat_seconds": 0.5, **changed})}
