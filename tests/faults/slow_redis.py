"""A relay before the embedded Redis that delays each of its answers."""

import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from dev import embedded

_BYTES = 65_536


class Relay:
    """Listens at a path and passes everything on to the Redis at another one. `delay` seconds hold each answer back."""

    def __init__(self, path: Path, redis: Path) -> None:
        self.delay = 0.0
        self.questions = 0
        self._redis = redis
        self._open: list[socket.socket] = []
        self._listener = socket.socket(socket.AF_UNIX)
        self._listener.bind(str(path))
        self._listener.listen(128)
        threading.Thread(target=self._accept, daemon=True).start()

    def close(self) -> None:
        """End everything, so that clients connect anew."""
        for each in [self._listener, *self._open]:
            with suppress(OSError):  # the other side was first
                each.shutdown(socket.SHUT_RDWR)
            each.close()

    def _accept(self) -> None:
        with suppress(OSError):  # closed
            while True:
                client, _address = self._listener.accept()
                server = socket.socket(socket.AF_UNIX)
                server.connect(str(self._redis))
                self._open += [client, server]
                threading.Thread(target=self._pass, args=(client, server), daemon=True).start()
                threading.Thread(target=self._pass, args=(server, client, True), daemon=True).start()

    def _pass(self, source: socket.socket, target: socket.socket, is_delayed: bool = False) -> None:
        with suppress(OSError):  # either side went away
            while content := source.recv(_BYTES):
                if is_delayed:
                    time.sleep(self.delay)
                else:
                    self.questions += 1
                target.sendall(content)
        for each in (source, target):
            with suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)


@contextmanager
def relay() -> Iterator[Relay]:
    """Stands at the path of Redis' socket. Connections that exist already, and those of afterwards, are not delayed."""
    path = embedded.redis_socket()
    behind = path.with_suffix(".behind")
    path.rename(behind)
    relay = Relay(path, behind)
    try:
        yield relay
    finally:
        path.unlink()
        behind.rename(path)
        relay.close()
