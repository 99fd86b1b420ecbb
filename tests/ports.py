"""TCP ports of this machine."""

import socket


def free_port() -> int:
    """A port that nothing listens on now."""
    with socket.create_server(("127.0.0.1", 0)) as probe:
        port: int = probe.getsockname()[1]
        return port


def listens(port: int) -> bool:
    """Whether something accepts connections on it."""
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0
