"""PgBouncer with the settings of docs/deployment.md, in front of the embedded PostgreSQL."""

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
# The folder of the server's socket, where PgBouncer is started: it cannot enter the folders above as the server's user.
_SERVER = "host=/proc/self/cwd port=5432 dbname=postgres user=postgres"
_LOCAL = {"listen_addr": "127.0.0.1", "unix_socket_dir": "", "auth_type": "any"}


@contextmanager
def pgbouncer(program: str, postgres_url: str, folder: Path, **settings: Any) -> Iterator[str]:
    """Start it with these settings in place of the documented ones; its file is written to `folder`.

    Yields the URL without the name of a database: `/rota_web` is that of web servers, `/rota` that of others.
    """
    port, ini = free_port(), folder / "pgbouncer.ini"
    with ini.open("w") as file:
        _settings(listen_port=port, **settings).write(file)
    socket_folder = Path(str(conninfo_to_dict(postgres_url)["host"])).resolve()
    user = ["-u", socket_folder.owner()] if os.getuid() == 0 else []  # as root it refuses to run
    process = subprocess.Popen([program, "-q", *user, str(ini)], cwd=socket_folder, stdin=subprocess.DEVNULL)
    try:
        until(lambda: listens(port), seconds=30, what="PgBouncer")
        yield f"postgres://rota@127.0.0.1:{port}"
    finally:
        process.terminate()
        process.wait(10)


def _settings(**changes: Any) -> ConfigParser:
    sample = _SAMPLE.search((BASE_DIR / "docs" / "deployment.md").read_text())
    assert sample is not None
    assert sample[0].count(_SERVER_OF_SAMPLE) == 2  # the entries for web servers and for others
    parser = ConfigParser(delimiters="=", interpolation=None)
    parser.read_string(dedent(sample[0]).replace(_SERVER_OF_SAMPLE, _SERVER))
    parser["pgbouncer"].update({**_LOCAL, **{name: str(value) for name, value in changes.items()}})
    return parser
