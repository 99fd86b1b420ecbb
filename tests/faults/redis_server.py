"""Debian's redis-server, reached over TCP with a password."""

import secrets
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager

from redis import Redis

from tests.faults.waiting import DEADLINE_SECONDS, until
from tests.ports import free_port, listens


@contextmanager
def redis_server(program: str) -> Iterator[str]:
    """Start one of its own, whatever runs on the machine already. Yields its URL."""
    port, password = free_port(), secrets.token_urlsafe()
    settings = f'port {port}\nbind 127.0.0.1\nrequirepass {password}\nsave ""\nappendonly no\n'
    process = subprocess.Popen([program, "-"], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True)
    try:
        assert process.stdin is not None
        process.stdin.write(settings)
        process.stdin.close()
        until(lambda: listens(port), what="redis-server")
        yield f"redis://:{password}@127.0.0.1:{port}/0"
    finally:
        process.terminate()
        process.wait(DEADLINE_SECONDS)


def version_of(url: str) -> str:
    with Redis.from_url(url, socket_timeout=5) as client:
        return str(client.info("server")["redis_version"])
