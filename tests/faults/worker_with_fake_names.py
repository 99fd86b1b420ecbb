"""`python -m tests.faults.worker_with_fake_names …` is `python -m celery …` with the names of a file in place of DNS.

The variable ALLOW_LOOPBACK says whether webhooks may be sent to this machine.
Every connect() to an internet address is written to another file, and only loopback addresses are connected to.
"""

import errno
import json
import os
import socket
import sys
from ipaddress import ip_address
from pathlib import Path
from typing import Any

from celery.__main__ import main
from django.conf import settings

_names: dict[str, list[str]] = json.loads(Path(os.environ["FAKE_NAMES_FILE"]).read_text())
_connects = Path(os.environ["CONNECTS_FILE"])
_getaddrinfo, _connect = socket.getaddrinfo, socket.socket.connect


def getaddrinfo(host: Any, port: Any, *args: Any, **options: Any) -> Any:
    name = host.decode() if isinstance(host, bytes) else host
    if name not in _names:
        return _getaddrinfo(host, port, *args, **options)
    return [entry for address in _names[name] for entry in _getaddrinfo(address, port, type=socket.SOCK_STREAM)]


def connect(self: socket.socket, address: Any) -> None:
    if self.family in {socket.AF_INET, socket.AF_INET6}:
        with _connects.open("a") as file:
            file.write(f"{address[0]}\n")
        if not ip_address(address[0].partition("%")[0]).is_loopback:
            raise OSError(errno.ENETUNREACH, "Network is unreachable")
    _connect(self, address)


if __name__ == "__main__":
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    settings.WEBHOOK_ALLOW_LOOPBACK = bool(os.environ["ALLOW_LOOPBACK"])
    socket.getaddrinfo = getaddrinfo
    socket.socket.connect = connect  # type: ignore[method-assign, assignment]
    sys.exit(main())
