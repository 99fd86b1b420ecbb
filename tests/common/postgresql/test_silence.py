"""A server that does not answer, on connections to the tests' PostgreSQL and to a port that says nothing."""

import socket
from contextlib import ExitStack

import psycopg
import pytest
from django.db import OperationalError, connection
from psycopg.pq import TransactionStatus

from common.postgresql import silence as module
from common.postgresql.base import DatabaseWrapper
from config.database import for_web_process, with_deadlines

_SECONDS = 1  # a busy machine answers in time
silence = module.silence_of("default")


@pytest.fixture(autouse=True)
def _nothing_is_known():
    silence.ends()
    yield
    silence.ends()


@pytest.fixture
def connect(db):
    """Makes a connection of its own to the tests' database, which waits a second for an answer."""
    opened = []

    def make():
        opened.append(DatabaseWrapper({**connection.settings_dict, "MOST_SECONDS": _SECONDS}))
        return opened[-1]

    yield make
    for wrapper in opened:
        wrapper.close()


@pytest.fixture
def psycopg_connect(db):
    """A connection without Django, which executes a statement at once."""
    with ExitStack() as opened:

        def make(**changes):
            parameters = {**connection.get_connection_params(), **changes}
            return opened.enter_context(module.connect(_SECONDS, silence, **parameters))

        yield make


def run(wrapper, sql):
    with wrapper.cursor() as cursor:
        cursor.execute(sql)
        return cursor.fetchone()[0]


class TestConnection:
    def test_gives_up_a_statement_without_an_answer(self, connect):
        wrapper = connect()

        with pytest.raises(OperationalError, match="PostgreSQL does not answer"):
            run(wrapper, "SELECT pg_sleep(3)")

        assert wrapper.connection.closed
        assert silence.is_noticed

    def test_is_replaced_after_that(self, connect, monkeypatch):
        monkeypatch.setattr(module, "_PAUSE_SECONDS", 0)
        wrapper = connect()
        with pytest.raises(OperationalError):
            run(wrapper, "SELECT pg_sleep(3)")
        wrapper.close_if_unusable_or_obsolete()

        assert run(wrapper, "SELECT 1") == 1
        assert not silence.is_noticed

    def test_leaves_a_transaction_as_a_lost_connection_does(self, connect):
        wrapper = connect()
        run(wrapper, "SELECT 1")
        wrapper.set_autocommit(False)

        with pytest.raises(OperationalError, match="PostgreSQL does not answer"):
            run(wrapper, "SELECT pg_sleep(3)")
        with pytest.raises(OperationalError, match="the connection is closed"):
            wrapper.commit()

    def test_waits_for_an_answer_that_comes_in_time(self, connect):
        assert run(connect(), "SELECT 1 FROM pg_sleep(0.1)") == 1
        assert not silence.is_noticed

    def test_waits_for_a_shorter_time_while_the_server_is_silent(self, connect, monkeypatch):
        wrapper = connect()
        run(wrapper, "SELECT 1")
        monkeypatch.setattr(module, "_SHORT_SECONDS", 0.05)
        silence.begins()

        with pytest.raises(OperationalError, match="PostgreSQL does not answer"):
            run(wrapper, "SELECT pg_sleep(0.2)")

    @pytest.mark.parametrize("statement", ["SELECT pg_terminate_backend(pg_backend_pid())", "SELECT nothing"])
    def test_takes_an_error_for_an_answer(self, connect, statement):
        with pytest.raises(Exception, match=r"terminating|does not exist"):
            run(connect(), statement)

        assert not silence.is_noticed

    def test_waits_for_ever_without_the_setting(self, connect):
        wrapper = connect()
        del wrapper.settings_dict["MOST_SECONDS"]

        assert run(wrapper, "SELECT 1 FROM pg_sleep(1.5)") == 1


class TestConnecting:
    def test_is_tried_by_one_thread_at_a_time_while_the_server_is_silent(self, psycopg_connect, monkeypatch):
        monkeypatch.setattr(module, "_PAUSE_SECONDS", 0)
        silence.begins()

        first = psycopg_connect()
        with pytest.raises(psycopg.OperationalError, match="PostgreSQL does not answer"):
            psycopg_connect()

        first.execute("SELECT 1")
        assert psycopg_connect().info.transaction_status == TransactionStatus.IDLE

    def test_is_no_answer(self, psycopg_connect, monkeypatch):
        """Poolers accept a connection while their server is silent."""
        monkeypatch.setattr(module, "_PAUSE_SECONDS", 0)
        silence.begins()

        psycopg_connect().autocommit = True  # psycopg notes it, and tells the server nothing

        assert silence.is_noticed

    def test_is_refused_for_a_moment_after_the_last_try(self, connect):
        silence.begins()

        with pytest.raises(OperationalError, match="PostgreSQL does not answer"):
            connect().ensure_connection()

    def test_notices_a_server_that_accepts_and_says_nothing(self, psycopg_connect):
        with (
            socket.create_server(("127.0.0.1", 0)) as server,
            pytest.raises(psycopg.OperationalError, match="timeout"),
        ):
            psycopg_connect(host="127.0.0.1", port=server.getsockname()[1], connect_timeout=2)

        assert silence.is_noticed

    def test_does_not_take_a_refused_connection_for_silence(self, psycopg_connect):
        with pytest.raises(psycopg.OperationalError, match="does not exist"):
            psycopg_connect(dbname="no_such_database")

        assert not silence.is_noticed


class TestWebProcess:
    def test_waits_longer_than_a_statement_may_take(self):
        database = with_deadlines({}, statement_seconds=15)

        for_web_process(database)

        assert database["MOST_SECONDS"] == 18

    def test_waits_for_ever_if_a_statement_may(self):
        database = with_deadlines({}, statement_seconds=0)

        for_web_process(database)

        assert "MOST_SECONDS" not in database
