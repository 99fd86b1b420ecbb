"""Caddy with the settings of deploy/Caddyfile, before web servers of this machine."""

import re
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from config.env import BASE_DIR, data_dir
from tests.faults.waiting import DEADLINE_SECONDS, until
from tests.ports import free_port, listens


@contextmanager
def caddy(ports: Sequence[int]) -> Iterator[str]:
    """Yields the address. It is plain HTTP, and the servers are named instead of found by Docker's name server."""
    port, folder = free_port(), data_dir() / "caddy"
    folder.mkdir(parents=True, exist_ok=True)
    text = (BASE_DIR / "deploy" / "Caddyfile").read_text()
    settings, _sites = text.split("http://{$ALLOWED_HOSTS}", 1)
    servers = " ".join(f"127.0.0.1:{each}" for each in ports)
    settings, found = re.subn(r"dynamic a \{.*?\}", f"to {servers}", settings, flags=re.DOTALL)
    assert found == 1
    settings = settings.replace("{\n", "{\n\tadmin off\n", 1)
    file = folder / "Caddyfile"
    file.write_text(f"{settings}http://127.0.0.1:{port} {{\n\timport rota\n}}\n")
    with (folder / "log").open("w") as log:
        process = subprocess.Popen(
            [f"{sys.prefix}/bin/caddy", "run", "--adapter", "caddyfile", "--config", str(file)],
            env={"HOME": str(folder), "XDG_DATA_HOME": str(folder), "XDG_CONFIG_HOME": str(folder)},
            stdin=subprocess.DEVNULL, stdout=log, stderr=log,
        )  # fmt: skip  # a command in few lines
    try:
        until(lambda: listens(port), what="Caddy")
        yield f"http://127.0.0.1:{port}"
    finally:
        process.terminate()
        process.wait(DEADLINE_SECONDS)
