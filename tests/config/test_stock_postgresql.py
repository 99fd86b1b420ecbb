"""Pages, metrics and a restore on PostgreSQL as Debian's package configures it, which can compile statements."""

import json
import re
import shlex
import subprocess
import sys
from urllib.parse import unquote, urlsplit

import psycopg
import pytest
from django.conf import settings

from config.env import BASE_DIR
from tests import servers
from tests.production import ENVIRONMENT
from tests.stock_postgresql import PROGRAM, programs, stock_postgresql

# As the web server, without its sockets. Prints the statuses of the answers.
_ASK = """
import json
import config.server.rsgi
from django.conf import settings
from django.contrib.auth.models import User
from django.test import Client
settings.REQUIRE_TWO_FACTOR = False
client = Client(HTTP_HOST="rota.example.com", HTTP_AUTHORIZATION="Bearer " + "m" * 32)
client.force_login(User.objects.create_superuser("ana"))
print(json.dumps({path: client.get(path, secure=True).status_code for path in %r}))
"""
_PATHS = ["/metrics", "/panel/", "/panel/board/", "/panel/reports/", "/admin/", "/admin/delivery/delivery/"]
_FORBIDDEN_PLAN = re.compile(r"cost=1\d{10}\.")  # what an operation costs that a setting has switched off


@pytest.fixture(scope="module")
def server(program):
    """The URL of a database with all tables, and the log of its server, with the plans of all statements."""
    program(PROGRAM)
    logged = {"session_preload_libraries": "auto_explain", "auto_explain.log_min_duration": "0"}
    with stock_postgresql(**logged) as (url, log):
        servers.make_tables(url)
        yield url, log


def test_no_statement_is_compiled_or_planned_against_a_setting(server):
    url, log = server
    before = len(log.read_text())

    answers = json.loads(_run(_environment(url), "-c", _ASK % _PATHS))

    plans = log.read_text()[before:]
    with psycopg.connect(url) as connection:
        can_compile = connection.execute("SELECT pg_jit_available(), current_setting('jit')").fetchone()
    assert can_compile == (True, "on")  # for other programs
    assert answers == dict.fromkeys(_PATHS, 200)
    assert plans.count("plan:") > len(_PATHS)
    assert "\tJIT:" not in plans
    assert _FORBIDDEN_PLAN.findall(plans) == []


def test_a_dump_is_restored_as_documented(server, tmp_path):
    """With the commands of docs/backup.md, where only the names of role, file and server are others."""
    url, _log = server
    restored_url = f"{url.rpartition('/')[0]}/rota_restored"
    changes = {
        "rota-$(date +%F).dump": "dump", "rota-2026-11-22.dump": "dump", "--owner=rota": "--owner=postgres",
        '"$DATABASE_URL"': url, "postgres://…/rota_restored": restored_url,
    }  # fmt: skip  # few rows
    text = (BASE_DIR / "docs" / "backup.md").read_text()
    for name in ("pg_dump", "createdb", "pg_restore"):
        (command,) = re.findall(rf"^    ({name} .*)$", text, re.MULTILINE)
        for written, here in changes.items():
            command = command.replace(written, here)
        _name, *arguments = shlex.split(command)
        subprocess.run(
            [programs() / name, *arguments], cwd=tmp_path, check=True, timeout=100,
            env={"PGHOST": unquote(urlsplit(url).hostname), "PGUSER": "postgres"},
        )  # fmt: skip  # a command in few lines

    tables = "SELECT count(*) FROM pg_tables WHERE schemaname = 'public'"
    with psycopg.connect(url) as original, psycopg.connect(restored_url) as restored:
        assert restored.execute(tables).fetchone() == original.execute(tables).fetchone()
        assert restored.execute("SELECT 'SÃO' ILIKE 'são', lower('ÇÃÉ')").fetchone() == (True, "çãé")


def test_role_and_database_are_made_as_documented(server):
    url, _log = server
    page = (BASE_DIR / "docs" / "deployment.md").read_text()
    text = page.partition("\n## systemd\n")[2].partition("\n## ")[0]
    with psycopg.connect(url, autocommit=True) as connection:
        statements = re.findall(r"^    ((?:CREATE|ALTER) (?:ROLE|DATABASE) .*;)$", text, re.MULTILINE)
        for statement in statements:
            connection.execute(statement)

    own = url.replace("postgres@", "rota@").replace("/postgres", "/rota")
    with psycopg.connect(own) as connection:
        shown = connection.execute("SELECT lower('ÇÃÉ'), current_setting('log_min_error_statement')").fetchone()
    assert len(statements) == 6
    assert shown == ("çãé", "panic")


def _environment(url):
    return {
        "PATH": "", **ENVIRONMENT, "DATABASE_URL": url, "REDIS_URL": settings.REDIS_URL,
        "METRICS_TOKEN": "m" * 32,
    }  # fmt: skip  # one row each


def _run(environment, *arguments):
    done = subprocess.run(
        [sys.executable, *arguments],
        cwd=BASE_DIR, env=environment, check=False, capture_output=True, text=True, timeout=50,
    )  # fmt: skip  # a command in few lines
    assert done.returncode == 0, done.stderr[-2000:]
    return done.stdout
