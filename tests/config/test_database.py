"""Deadlines of the connection to PostgreSQL, on a real one."""

import re

import psycopg
import pytest
from django.db import connection
from django.db.backends.postgresql.base import DatabaseWrapper

from config.database import from_url, with_deadlines
from config.env import VERSION
from tests.cases import in_turn


@pytest.fixture
def connect(db):
    """Make a connection of its own to the tests' database, with `statement_seconds` and options of the URL."""
    opened = []

    def make(*, statement_seconds, **options):
        plain = {**connection.settings_dict, "OPTIONS": options}
        opened.append(DatabaseWrapper(with_deadlines(plain, statement_seconds=statement_seconds)))
        return opened[-1]

    yield make
    for wrapper in opened:
        wrapper.close()


def value_of(wrapper, name):
    with wrapper.cursor() as cursor:
        cursor.execute(f"SHOW {name}")
        return cursor.fetchone()[0]


class TestFromUrl:
    def test_takes_several_hosts_and_parameters_of_libpq(self):
        server = "postgres://rota:p%40w@h1:5432,h2:5433/main"  # pragma: allowlist secret
        url = f"{server}?sslmode=require&target_session_attrs=any"

        assert from_url(url) == {
            "ENGINE": "common.postgresql", "NAME": "main", "USER": "rota",
            "PASSWORD": "p@w",  # pragma: allowlist secret
            "HOST": "h1,h2", "PORT": "5432,5433", "OPTIONS": {"sslmode": "require", "target_session_attrs": "any"},
        }  # fmt: skip  # a table

    @pytest.mark.parametrize("url", ["postgres://rota@%2Fvar%2Frun/main", "postgresql:///main?host=/var/run&user=rota"])
    def test_takes_a_socket(self, url):
        found = from_url(url)

        assert (found["HOST"], found["PORT"], found["USER"], found["OPTIONS"]) == ("/var/run", "", "rota", {})


class TestWithDeadlines:
    @in_turn(
        ("name", "of_a_request", "of_a_worker"),
        [
            ("statement_timeout", "1500ms", "0"),
            ("lock_timeout", "5s", "0"),
            ("idle_in_transaction_session_timeout", "1min", "1min"),
            ("jit", "off", "off"),
            ("random_page_cost", "1.1", "1.1"),
        ],
    )
    def test_sets_the_session(self, connect, name, of_a_request, of_a_worker):
        assert value_of(connect(statement_seconds=1.5), name) == of_a_request
        assert value_of(connect(statement_seconds=0), name) == of_a_worker

    def test_notices_a_server_that_is_away_and_a_lost_peer_within_a_minute_on_either_side(self, connect):
        wrapper = connect(statement_seconds=0)
        wrapper.ensure_connection()
        client = psycopg.conninfo.conninfo_to_dict(wrapper.connection.info.dsn)

        assert (client["connect_timeout"], client["tcp_user_timeout"]) == ("5", "30000")
        # On a unix socket the server reports 0 for parameters of TCP, so they are read as they were sent.
        server = dict(re.findall(r"-c tcp_keepalives_(\w+)=(\d+)", str(client["options"])))
        for given in ({name: str(client[f"keepalives_{name}"]) for name in server}, server):
            assert int(given["idle"]) + int(given["interval"]) * int(given["count"]) == 60

    @pytest.mark.parametrize(
        ("command", "shown"),
        [
            (["/rota/config/server/web.py", "--interface", "rsgi"], "web"),
            (["/venv/celery/__main__.py", "--app", "config", "--quiet", "worker"], "worker"),
            (["/venv/celery/__main__.py", "--app", "config", "beat"], "beat"),
            (["manage.py", "verify"], "command"),
        ],
    )
    def test_names_the_process_and_its_version(self, connect, monkeypatch, command, shown):
        monkeypatch.setattr("sys.argv", command)

        assert value_of(connect(statement_seconds=0), "application_name") == f"rota {shown} {VERSION}"

    def test_keeps_what_the_url_says(self, connect):
        wrapper = connect(statement_seconds=15, connect_timeout=9, options="-c lock_timeout=1s -c work_mem=5MB")
        wrapper.ensure_connection()

        assert psycopg.conninfo.conninfo_to_dict(wrapper.connection.info.dsn)["connect_timeout"] == "9"
        assert [value_of(wrapper, name) for name in ("lock_timeout", "work_mem", "statement_timeout")] == [
            "1s", "5MB", "15s",
        ]  # fmt: skip  # one line for the three values
