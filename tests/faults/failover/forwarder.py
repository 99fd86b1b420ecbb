"""TCP from a port of its own to one of several others, as a network that can be cut."""

import socket
import threading
from collections.abc import Sequence
from contextlib import suppress
from typing import Self

_SECONDS = 5


class Forwarder:
    """Leads to the first of the ports `to` that accepts; `to` may be changed. Connections stay where they are."""

    def __init__(self, to: Sequence[int]) -> None:
        self.to = to
        self._listening = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listening.getsockname()[1]
        self._is_cut = False
        self._open: list[socket.socket] = []

    def __enter__(self) -> Self:
        threading.Thread(target=self._accept, daemon=True).start()
        return self

    def __exit__(self, *_error: object) -> None:
        self._listening.shutdown(socket.SHUT_RDWR)
        self._listening.close()
        self.cut()

    def cut(self) -> None:
        """End all connections, and those that are made until `mend`."""
        self._is_cut = True
        for each in self._open:
            with suppress(OSError):  # its thread has closed it
                each.shutdown(socket.SHUT_RDWR)

    def mend(self) -> None:
        self._is_cut = False

    def _accept(self) -> None:
        while True:
            try:
                client = self._listening.accept()[0]
            except OSError:  # the end
                return
            server = None if self._is_cut else self._connected()
            if server is None:
                client.close()
                continue
            self._open += [client, server]
            for source, target in ((client, server), (server, client)):
                threading.Thread(target=_copy, args=(source, target), daemon=True).start()

    def _connected(self) -> socket.socket | None:
        for port in self.to:
            with suppress(OSError):
                connection = socket.create_connection(("127.0.0.1", port), _SECONDS)
                connection.settimeout(None)
                return connection
        return None


def _copy(source: socket.socket, target: socket.socket) -> None:
    """Until one of them ends. Closes `source`, which no other thread reads from."""
    with suppress(OSError):
        while data := source.recv(65_536):
            target.sendall(data)
    for each in (source, target):
        with suppress(OSError):
            each.shutdown(socket.SHUT_RDWR)
    source.close()
