"""TCP ports of this machine."""

import random
import socket
from contextlib import suppress

# Below those that Linux gives to outgoing connections, one of which could take the port before its server starts.
_PORTS = range(20_000, 32_000)
_BY_CHANCE = random.SystemRandom()  # other processes that run tests choose others, whatever seeds `random`


def free_port() -> int:
    """A port that nothing uses now."""
    while True:
        port = _BY_CHANCE.choice(_PORTS)
        with suppress(OSError), socket.create_server(("127.0.0.1", port)):
            return port


def listens(port: int) -> bool:
    """Whether something accepts connections on it."""
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0
