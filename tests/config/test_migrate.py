"""`manage.py migrate` beside a transaction that holds a table, such as that of pg_dump."""

import io
import threading

import pytest
from django.core.management import CommandError, call_command
from django.core.management.commands import migrate as djangos
from django.db import connection, transaction
from django.db.migrations.recorder import MigrationRecorder

from config.management.commands import migrate

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def migration(monkeypatch):
    """Make one migration of `migrate`, which locks a table that every call reads. Returns what it printed so far."""

    def alter(_command, *_arguments, **_options):
        with connection.schema_editor() as editor:
            editor.execute("ALTER TABLE delivery_token ALTER COLUMN name SET DEFAULT ''")
            editor.execute("ALTER TABLE delivery_token ALTER COLUMN name DROP DEFAULT")

    monkeypatch.setattr(djangos.Command, "handle", alter)
    monkeypatch.setattr(migrate, "_PAUSE_SECONDS", 0.05)
    return io.StringIO()


@pytest.fixture
def dump():
    """Another connection, which has read the table in a transaction that goes on."""
    other = connection.copy()
    other.set_autocommit(False)
    with other.cursor() as cursor:
        cursor.execute("SELECT count(*) FROM delivery_token")
    yield other
    other.close()


class TestMigrate:
    def test_lets_calls_pass_while_it_waits_and_ends_after_the_dump(self, migration, dump):
        told, failed = threading.Event(), []
        write = migration.write

        def write_and_tell(text):
            told.set()
            return write(text)

        migration.write = write_and_tell

        def run():
            try:
                call_command("migrate", stderr=migration)
            except Exception as error:  # noqa: BLE001  # looked at below
                failed.append(error)
            finally:
                connection.close()

        running = threading.Thread(target=run)
        running.start()
        assert told.wait(20)
        with transaction.atomic(), connection.cursor() as cursor:
            cursor.execute("SET LOCAL statement_timeout = '4s'")
            cursor.execute("SELECT count(*) FROM delivery_token")
        assert running.is_alive()
        dump.rollback()
        running.join(20)

        assert not running.is_alive()
        assert failed == []
        assert "A table is in use" in migration.getvalue()

    def test_gives_up_in_a_sentence(self, migration, dump, monkeypatch):
        monkeypatch.setattr(migrate, "_MOST_SECONDS", 0)

        with pytest.raises(CommandError, match="pg_stat_activity has the oldest transactions"):
            call_command("migrate", stderr=migration)


class TestAnotherHistory:
    @pytest.fixture
    def recorder(self):
        """What the database has recorded, with a migration of former files."""
        recorder = MigrationRecorder(connection)
        recorder.record_applied("delivery", "0002_webhook_turns")
        yield recorder
        recorder.record_unapplied("delivery", "0002_webhook_turns")

    def test_is_refused_in_a_sentence(self, recorder):
        recorder.migration_qs.filter(app="mail").update(app="other")

        with pytest.raises(CommandError, match=r"not those of this one: it has delivery\.0002_webhook_turns"):
            call_command("migrate", verbosity=0)
        recorder.migration_qs.filter(app="other").update(app="mail")

    def test_of_a_newer_version_is_left_as_it_is(self, recorder):
        call_command("migrate", verbosity=0)


class TestOlderProcesses:
    @pytest.fixture
    def pending(self):
        """One migration that is not recorded, which is made again if nothing refuses it."""
        recorder = MigrationRecorder(connection)
        recorder.record_unapplied("config", "0001_cache_table")
        yield recorder
        recorder.record_applied("config", "0001_cache_table")

    @pytest.fixture
    def connected(self):
        """Have a process with this name connect."""
        others = []

        def connect(name):
            other = connection.copy()
            other.settings_dict["OPTIONS"] = {**other.settings_dict["OPTIONS"], "application_name": name}
            with other.cursor() as cursor:
                cursor.execute("SELECT pg_backend_pid()")
                (backend,) = cursor.fetchone()
            others.append(other)
            return backend

        yield connect
        for other in others:
            other.close()

    @pytest.fixture
    def made(self, monkeypatch):
        """The calls of Django's own command."""
        calls = []
        monkeypatch.setattr(djangos.Command, "handle", lambda *_arguments, **_options: calls.append("made"))
        return calls

    def test_that_cannot_work_with_the_new_tables_are_named_and_nothing_is_done(self, pending, connected, made):
        backend = connected("rota worker 0.2.7")

        with pytest.raises(CommandError, match=rf"rota worker 0\.2\.7 at \S+ \(backends {backend}\)\. Stop them first"):
            call_command("migrate")
        assert made == []

        call_command("migrate", beside_older_processes=True)
        assert made == ["made"]

    @pytest.mark.parametrize("name", ["rota web 0.3.0", "rota beat 1.0.0.dev0", "rotate 0.1.0", "psql", ""])
    def test_others_are_none(self, pending, connected, made, name):
        connected(name)

        call_command("migrate")

        assert made == ["made"]

    def test_are_left_alone_where_nothing_is_to_be_done(self, connected, made):
        connected("rota web 0.2.0")

        call_command("migrate")

        assert made == ["made"]


class TestSchemaEditor:
    @pytest.mark.parametrize(("atomic", "waits"), [(True, "1s"), (False, "0")])
    def test_limits_the_wait_for_locks_in_a_transaction(self, atomic, waits):
        with connection.schema_editor(atomic=atomic), connection.cursor() as cursor:
            cursor.execute("SHOW lock_timeout")
            assert cursor.fetchone() == (waits,)
