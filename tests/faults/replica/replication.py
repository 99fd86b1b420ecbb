"""A streaming replica of the tests' PostgreSQL."""

import os
import shutil
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any
from urllib.parse import quote

import psycopg

from config.env import data_dir
from dev import embedded
from dev.embedded.account import Account
from tests.faults import backup, outages
from tests.faults.waiting import until

# Seen from the data folder of the replica, which may not enter the folders above by their names.
_PRIMARY = "host=/proc/self/cwd/../../postgres port=5432 user=postgres"
_REPLAYED = "SELECT pg_last_wal_replay_lsn() >= %s"


class Replica:
    """Made from a base backup. Follows the primary until it is paused, stopped or frozen."""

    def __init__(self) -> None:
        self.folder = data_dir() / "replica" / "postgres"
        shutil.rmtree(self.folder, ignore_errors=True)
        self.folder.parent.mkdir(exist_ok=True)
        backup.run(
            "pg_basebackup", f"--dbname={embedded.postgres_url()}", f"--pgdata={self.folder}", "--checkpoint=fast"
        )
        (self.folder / "standby.signal").touch()
        with (self.folder / "postgresql.auto.conf").open("a") as file:
            file.write(f"primary_conninfo = '{_PRIMARY}'\n")
        # The lock of the primary's socket.
        for path in self.folder.glob(".s.PGSQL.*"):
            path.unlink()
        account = Account.for_server()
        for path in (self.folder, *self.folder.rglob("*")):
            os.chown(path, account.uid, account.gid)
        self.start()

    @property
    def url(self) -> str:
        return f"postgres://postgres@{quote(str(self.folder), safe='')}:5432/postgres"

    def start(self) -> None:
        self._server = embedded.Postgres(self.folder)

    def stop(self) -> None:
        self._server.stop("immediate")
        self._server.release()

    def value(self, query: str, *parameters: Any) -> Any:
        """The only value of a query's only row."""
        with psycopg.connect(self.url, autocommit=True) as connection:
            (row,) = connection.execute(query.encode(), parameters).fetchall()
        return row[0]

    def catch_up(self) -> None:
        """Wait until it has what is committed now."""
        with psycopg.connect(embedded.postgres_url(), autocommit=True) as primary:
            (end,) = primary.execute("SELECT pg_current_wal_flush_lsn()").fetchall()
        until(lambda: self.value(_REPLAYED, end[0]), what="the replica has the primary's log")

    @contextmanager
    def paused(self) -> Iterator[None]:
        """It has what is committed now, and gets nothing more."""
        self.catch_up()
        self.value("SELECT pg_wal_replay_pause()")
        until(lambda: self.value("SELECT pg_get_wal_replay_pause_state()") == "paused", what="the pause")
        try:
            yield
        finally:
            self.value("SELECT pg_wal_replay_resume()")

    def frozen(self) -> AbstractContextManager[None]:
        """Its processes stand still: connections stay open, and nothing is answered."""
        return outages.frozen_postgres(self.folder)
