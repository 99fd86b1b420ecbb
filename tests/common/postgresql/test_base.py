"""The check of a kept connection, on connections that really fail."""

import pytest
from django.db import DatabaseError, connection

from common.postgresql.base import DatabaseWrapper


@pytest.fixture
def kept(db):
    """A connection of its own to the tests' database."""
    wrapper = DatabaseWrapper(connection.settings_dict)
    wrapper.ensure_connection()
    yield wrapper
    wrapper.close()


def run(wrapper, sql, *parameters):
    with wrapper.cursor() as cursor:
        cursor.execute(sql, parameters)
        return cursor.fetchone()[0]


def backend(wrapper):
    """The process of PostgreSQL that serves the connection."""
    return run(wrapper, "SELECT pg_backend_pid()")


class TestIsUsable:
    def test_finds_an_idle_connection_usable(self, kept):
        assert kept.is_usable()

    def test_finds_a_connection_that_the_server_closed_unusable_so_that_the_next_request_opens_it_again(self, kept):
        process = backend(kept)

        assert run(connection, "SELECT pg_terminate_backend(%s, 5000)", process)

        assert not kept.is_usable()
        kept.close_if_unusable_or_obsolete()  # Django's at the start of a request
        assert backend(kept) != process

    def test_finds_a_closed_connection_unusable(self, kept):
        kept.connection.close()

        assert not kept.is_usable()

    def test_finds_a_connection_in_a_failed_transaction_unusable(self, kept):
        kept.set_autocommit(False)
        with pytest.raises(DatabaseError):
            run(kept, "SELECT 1 / 0")

        assert not kept.is_usable()

    def test_executes_no_statement(self, kept):
        process = backend(kept)

        kept.is_usable()

        # By PostgreSQL itself: a statement past Django's cursors, as in its own check, is in no log of queries.
        last = run(connection, "SELECT query FROM pg_stat_activity WHERE pid = %s", process)
        assert last == "SELECT pg_backend_pid()"
