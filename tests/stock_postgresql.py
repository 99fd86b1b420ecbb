"""PostgreSQL as Debian's package configures it, with JIT compilation, which the embedded one is built without."""

import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import quote

PROGRAM = "pg_ctlcluster"  # of the package; the server's own programs are not in PATH
_PROGRAMS = Path("/usr/lib/postgresql")
_USER = "postgres"  # which the package makes, for a caller who is root
_SECONDS = 60


def programs() -> Path:
    """The folder of the newest installed version's programs."""
    return max(_PROGRAMS.glob("*/bin"), key=lambda folder: int(folder.parent.name))


@contextmanager
def stock_postgresql(**settings: str) -> Iterator[tuple[str, Path]]:
    """Start one of its own, whatever runs on the machine already. Yields its URL and its log."""
    with tempfile.TemporaryDirectory(prefix="rota-stock-") as name:
        folder = Path(name)
        run_as: dict[str, Any] = {}
        if folder.owner() == "root":
            shutil.chown(folder, _USER, _USER)
            run_as = {"user": _USER, "group": _USER, "extra_groups": []}

        def run(program: str, *arguments: str) -> None:
            subprocess.run(
                [programs() / program, "-D", "data", *arguments],
                cwd=folder, check=True, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, timeout=_SECONDS, **run_as,
            )  # fmt: skip  # a command in few lines

        run("initdb", "--auth=trust", "--username=postgres", "--encoding=UTF8", "--locale=C.UTF-8", "--no-sync")
        given = {"listen_addresses": "", "unix_socket_directories": str(folder), "fsync": "off", **settings}
        with (folder / "data" / "postgresql.conf").open("a") as file:
            file.writelines(f"{key} = '{value}'\n" for key, value in given.items())
        run("pg_ctl", "start", "-w", "-l", "log")
        try:
            yield f"postgres://postgres@{quote(name, safe='')}/postgres", folder / "log"
        finally:
            run("pg_ctl", "stop", "-w", "-m", "fast")
