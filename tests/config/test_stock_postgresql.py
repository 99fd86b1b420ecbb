"""Pages and metrics on PostgreSQL as Debian's package configures it, whose planner can have statements compiled."""

import json
import re
import subprocess
import sys

import psycopg
import pytest

from config.env import BASE_DIR
from tests.production import ENVIRONMENT
from tests.stock_postgresql import PROGRAM, stock_postgresql

# As the web server, without its sockets. Prints the statuses of the answers.
_ASK = """
import json
import config.rsgi
from django.contrib.auth.models import User
from django.test import Client
client = Client(HTTP_HOST="rota.example.com", HTTP_AUTHORIZATION="Bearer " + "m" * 32)
client.force_login(User.objects.create_superuser("ana"))
print(json.dumps({path: client.get(path, secure=True).status_code for path in %r}))
"""
_PATHS = ["/metrics", "/panel/", "/panel/board/", "/panel/reports/", "/admin/", "/admin/delivery/delivery/"]
_FORBIDDEN_PLAN = re.compile(r"cost=1\d{10}\.")  # what an operation costs that a setting has switched off


@pytest.mark.timeout(300)  # the migrations
def test_no_statement_is_compiled_or_planned_against_a_setting(program, settings):
    program(PROGRAM)
    with stock_postgresql(session_preload_libraries="auto_explain", **{"auto_explain.log_min_duration": "0"}) as (
        url,
        log,
    ):
        environment = {
            "PATH": "", **ENVIRONMENT, "DATABASE_URL": url, "REDIS_URL": settings.REDIS_URL,
            "METRICS_TOKEN": "m" * 32, "REQUIRE_TWO_FACTOR": "0",
        }  # fmt: skip  # one row each
        _run(environment, "manage.py", "migrate", "--verbosity", "0")
        before = len(log.read_text())

        answers = json.loads(_run(environment, "-c", _ASK % _PATHS))

        plans = log.read_text()[before:]
        with psycopg.connect(url) as connection:
            can_compile, compiles = connection.execute("SELECT pg_jit_available(), current_setting('jit')").fetchone()
    assert (can_compile, compiles) == (True, "on")  # for other programs
    assert answers == dict.fromkeys(_PATHS, 200)
    assert plans.count("plan:") > len(_PATHS)
    assert "\tJIT:" not in plans
    assert _FORBIDDEN_PLAN.findall(plans) == []


def _run(environment, *arguments):
    done = subprocess.run(
        [sys.executable, *arguments],
        cwd=BASE_DIR, env=environment, check=False, capture_output=True, text=True, timeout=200,
    )  # fmt: skip  # a command in few lines
    assert done.returncode == 0, done.stderr[-2000:]
    return done.stdout
