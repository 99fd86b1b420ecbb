"""Backups of a PostgreSQL server, and servers that are restored from them."""

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from unittest import mock
from urllib.parse import quote

import psycopg

from config.env import BASE_DIR, data_dir
from dev import embedded
from dev.embedded.account import Account

_SECONDS = 120
# Seen from the data folder of a server, which may not enter the folders above by their names.
_ARCHIVE = "../../archive"
_TABLES = """
SELECT format('%I.%I', schemaname, tablename) FROM pg_tables
WHERE schemaname NOT IN ('pg_catalog', 'information_schema') ORDER BY 1
"""


def run(program: str, *arguments: str) -> None:
    """Run one of PostgreSQL's programs. Raises CalledProcessError."""
    command = [str(Account.for_server().programs / program), *arguments]
    subprocess.run(command, check=True, timeout=_SECONDS, stdin=subprocess.DEVNULL)


def digests(connection: psycopg.Connection[Any]) -> dict[str, tuple[int, str]]:
    """The number of rows of each table and a digest of all of them."""
    tables = [name for (name,) in connection.execute(_TABLES)]
    digest = "SELECT count(*), coalesce(md5(string_agg(t::text, ',' ORDER BY t::text)), '') FROM {} t"
    found = {}
    for table in tables:
        row = connection.execute(digest.format(table)).fetchone()
        assert row is not None
        found[table] = row
    return found


class Installation:
    """A data folder with a PostgreSQL of its own and the secrets of this installation; all share an archive."""

    def __init__(self, name: str) -> None:
        self.folder = data_dir() / "backup" / name
        self.server: embedded.Postgres | None = None
        shutil.rmtree(self.folder, ignore_errors=True)
        self.folder.mkdir(parents=True)
        self.copy_secrets()

    def copy_secrets(self) -> None:
        secrets = self.folder / "secrets.json"
        shutil.copyfile(data_dir() / "secrets.json", secrets)
        secrets.chmod(0o600)

    @property
    def url(self) -> str:
        return f"postgres://postgres@{quote(str(self.folder / 'postgres'), safe='')}:5432/postgres"

    def restore(self, dump: Path) -> None:
        """Start an empty server and restore a dump in it."""
        self.start()
        run("pg_restore", f"--dbname={self.url}", "--no-owner", "--exit-on-error", "--single-transaction", str(dump))

    def start(self) -> None:
        self.server = embedded.Postgres(self.folder / "postgres")

    def stop(self) -> None:
        if self.server is not None:
            self.server.release()
            self.server = None

    def restore_photos(self, folder: Path) -> None:
        shutil.copytree(folder, self.folder / "proofs")

    @contextmanager
    def redis(self) -> Iterator[None]:
        """An empty Redis for its processes."""
        own_folder = mock.patch.dict(os.environ, DATA_DIR=str(self.folder))
        with own_folder:
            process = subprocess.Popen(embedded.redis_command(), stdin=subprocess.DEVNULL)
        try:
            with own_folder:
                embedded.wait_for_redis(process)
            yield
        finally:
            process.terminate()
            process.wait(_SECONDS)

    def manage(self, *arguments: str) -> str:
        """Run a command of the project. Returns what it printed; raises CalledProcessError."""
        done = subprocess.run(
            [sys.executable, "manage.py", *arguments],
            cwd=BASE_DIR, env={**os.environ, "DATA_DIR": str(self.folder)},
            check=True, capture_output=True, text=True, timeout=_SECONDS, stdin=subprocess.DEVNULL,
        )  # fmt: skip  # one call
        return done.stdout

    def archive_log(self) -> None:
        """Restart with the write-ahead log archived."""
        archive = self.folder.with_name("archive")
        shutil.rmtree(archive, ignore_errors=True)
        archive.mkdir()
        Account.for_server().give(archive)
        with psycopg.connect(self.url, autocommit=True) as connection:
            connection.execute("ALTER SYSTEM SET archive_mode = 'on'")
            connection.execute(f"ALTER SYSTEM SET archive_command = 'test ! -f {_ARCHIVE}/%f && cp %p {_ARCHIVE}/%f'")
        self.stop()
        self.start()

    def base_backup(self, target: Path) -> None:
        shutil.rmtree(target, ignore_errors=True)
        run("pg_basebackup", f"--dbname={self.url}", f"--pgdata={target}", "--checkpoint=fast", "--wal-method=stream")

    def start_from(self, base: Path, *, until: str) -> None:
        """Start with a base backup and the archived log up to a moment."""
        target = self.folder / "postgres"
        # The lock of the socket is in the data folder of the embedded server only, and so is its log.
        shutil.copytree(base, target, ignore=shutil.ignore_patterns(".s.PGSQL.*", "log"))
        with (target / "postgresql.auto.conf").open("a") as file:
            file.write(f"restore_command = 'cp {_ARCHIVE}/%f %p'\n")
            file.write(f"recovery_target_time = '{until}'\nrecovery_target_action = 'promote'\n")
            file.write("archive_mode = 'off'\n")
        (target / "recovery.signal").touch()
        account = Account.for_server()
        for path in (target, *target.rglob("*")):
            os.chown(path, account.uid, account.gid, follow_symlinks=False)
        self.start()
