"""PgBouncer with the settings of docs/deployment.md, in front of the embedded PostgreSQL or another one.

Debian's 1.18 knows no prepared statements. One that does is tried with its folder before the others in PATH.
"""

import os
import re
import subprocess
from collections.abc import Iterator
from configparser import ConfigParser
from contextlib import contextmanager
from pathlib import Path
from textwrap import dedent
from typing import Any

from psycopg.conninfo import conninfo_to_dict

from config.env import BASE_DIR
from tests.faults.waiting import until
from tests.ports import free_port, listens

_SAMPLE = re.compile(r"^ {4}\[databases\]\n(?: {4}.*\n|\n)+", re.MULTILINE)
_SERVER_OF_SAMPLE = "host=10.0.0.5 dbname=rota"
_LOCAL = {"listen_addr": "127.0.0.1", "unix_socket_dir": "", "auth_type": "any"}
_PREPARES = (1, 22)
_OF_VERSION = {True: {"max_prepared_statements": 200}, False: {}}


def variables(program: str) -> dict[str, str]:
    """Those of the service that this version needs."""
    return {} if _prepares(program) else {"DATABASE_PREPARE": "0"}


@contextmanager
def pgbouncer(program: str, postgres_url: str, folder: Path, **settings: Any) -> Iterator[str]:
    """Start it with these settings in place of the documented ones; its file is written to `folder`.

    Yields the URL without the name of a database: `/rota_web` is that of web servers, `/rota` that of others.
    """
    port, ini = free_port(), folder / "pgbouncer.ini"
    server, started_in = conninfo_to_dict(postgres_url), Path("/")
    user = ["-u", "nobody"] if os.getuid() == 0 else []  # as root it refuses to run
    host = str(server["host"])
    if host.startswith("/"):
        # It is started in the folder of the server's socket, whose parents it cannot enter as the server's user.
        started_in = Path(host).resolve()
        server["host"] = "/proc/self/cwd"
        user[1:] = [started_in.owner()] if user else []
    with ini.open("w") as file:
        _settings(server, listen_port=port, **_OF_VERSION[_prepares(program)], **settings).write(file)
    process = subprocess.Popen([program, "-q", *user, str(ini)], cwd=started_in, stdin=subprocess.DEVNULL)
    try:
        until(lambda: listens(port), seconds=30, what="PgBouncer")
        yield f"postgres://rota@127.0.0.1:{port}"
    finally:
        process.terminate()
        process.wait(10)


def _prepares(program: str) -> bool:
    done = subprocess.run([program, "--version"], capture_output=True, check=True, text=True, timeout=10)
    major, minor = done.stdout.split()[1].split(".")[:2]
    return (int(major), int(minor)) >= _PREPARES


def _settings(server: dict[str, Any], **changes: Any) -> ConfigParser:
    sample = _SAMPLE.search((BASE_DIR / "docs" / "deployment.md").read_text())
    assert sample is not None
    assert sample[0].count(_SERVER_OF_SAMPLE) == 2  # the entries for web servers and for others
    made = " ".join(f"{name}={value}" for name, value in server.items())
    parser = ConfigParser(delimiters="=", interpolation=None)
    parser.read_string(dedent(sample[0]).replace(_SERVER_OF_SAMPLE, made))
    parser["pgbouncer"].update({**_LOCAL, **{name: str(value) for name, value in changes.items()}})
    return parser
