"""The settings of a read replica, and what may be read from it. tests/faults/replica has a real one."""

import json
import math
import subprocess
import sys
import time
from decimal import Decimal
from types import SimpleNamespace

import psycopg
import pytest
from django.contrib.auth.models import User
from django.db import DataError, InterfaceError, OperationalError, ProgrammingError, transaction
from django.http import Http404, HttpResponse, StreamingHttpResponse
from django.test import RequestFactory, override_settings
from psycopg import errors

from common.replica import reading, watch
from common.replica.router import Router
from config.checks import problems
from config.env import BASE_DIR
from config.middleware import ChangedCookieMiddleware
from delivery.models import Delivery
from tests.production import ENVIRONMENT

URL = "postgres://rota@replica.example.com/rota"


def settings_of(module, **environment):
    """Settings of the databases in a process that imports the module."""
    code = (
        f"import {module}, json; from django.conf import settings as s;"
        "print(json.dumps([s.DATABASES, s.DATABASE_ROUTERS, s.MIDDLEWARE, s.CHANGED_COOKIE_NAME]))"
    )
    environment = {"DJANGO_SETTINGS_MODULE": "config.settings", **ENVIRONMENT, **environment}
    done = subprocess.run([sys.executable, "-c", code], cwd=BASE_DIR, env=environment, capture_output=True, check=True)
    return json.loads(done.stdout)


class TestSettings:
    def test_have_one_database_without_the_variable(self):
        databases, routers, middleware, _cookie = settings_of("config.rsgi")

        assert (set(databases), routers) == ({"default"}, [])
        assert "config.middleware.ChangedCookieMiddleware" not in middleware

    def test_give_the_replica_the_limits_of_the_primary(self):
        databases, routers, middleware, cookie = settings_of(
            "config.rsgi", DATABASE_REPLICA_URL=URL, DATABASE_PREPARE="0", DATABASE_STATEMENT_SECONDS="7"
        )
        replica, primary = databases["replica"], databases["default"]

        assert (routers, cookie) == (["common.replica.router.Router"], "__Host-changed")
        assert "config.middleware.ChangedCookieMiddleware" in middleware
        assert (replica["HOST"], replica["TEST"]["MIRROR"]) == ("replica.example.com", "default")
        assert (replica["OPTIONS"].pop("connect_timeout"), primary["OPTIONS"].pop("connect_timeout")) == (2, 5)
        assert replica["OPTIONS"] == primary["OPTIONS"]
        assert "statement_timeout=7000ms" in replica["OPTIONS"]["options"]
        assert replica["OPTIONS"]["prepare_threshold"] is None
        for name in ("CONN_MAX_AGE", "CONN_HEALTH_CHECKS", "DISABLE_SERVER_SIDE_CURSORS"):
            assert replica[name] == primary[name]

    @pytest.mark.parametrize(
        ("value", "fault"),
        [
            ("mysql://replica/rota", "DATABASE_REPLICA_URL has to begin with postgres://"),
            ("postgres://replica", "DATABASE_REPLICA_URL names no database"),
            (ENVIRONMENT["DATABASE_URL"], "DATABASE_REPLICA_URL is the same as DATABASE_URL"),
        ],
    )
    def test_are_refused_with_a_wrong_url(self, value, fault):
        (found,) = problems({**ENVIRONMENT, "DATABASE_REPLICA_URL": value})

        assert found.startswith(fault)


@pytest.fixture
def _reading():
    token = reading._is_reading.set(True)
    yield
    reading._is_reading.reset(token)


class TestRouter:
    def test_reads_from_the_primary(self):
        assert Router().db_for_read(Delivery) == "default"

    @pytest.mark.django_db(transaction=True)
    @pytest.mark.usefixtures("_reading")
    def test_reads_what_may_be_old_from_the_replica_outside_transactions(self):
        outside = Router().db_for_read(Delivery)
        with transaction.atomic():
            inside = Router().db_for_read(Delivery)

        assert (outside, inside) == ("replica", "default")

    @pytest.mark.usefixtures("_reading")
    def test_never_reads_people_and_never_writes_or_migrates_there(self):
        assert Router().db_for_read(User) == "default"
        assert Router().db_for_write(Delivery) == "default"
        assert not Router().allow_migrate("replica", "delivery")


@pytest.mark.filterwarnings("ignore:Overriding setting DATABASES")
class TestAnswered:
    @pytest.fixture(autouse=True)
    def _replica(self, settings, monkeypatch):
        settings.DATABASES = {**settings.DATABASES, "replica": {}}
        self.watch = watch.Watch()
        self.watch._state = watch._State(time.monotonic(), 0.1)
        monkeypatch.setattr(reading, "watch", self.watch)

    def read(self, method="GET", respond=None, **headers):
        """Whether queries could be sent to the replica at each call of the view, and the answer."""
        calls = []

        def get():
            calls.append(reading.is_reading())
            return respond() if respond else HttpResponse()

        request = RequestFactory().generic(method, "/", headers=headers)
        return calls, reading.answered(request, get)

    def test_is_read_from_the_replica(self):
        calls, _answer = self.read()

        assert calls == [True]
        assert not reading.is_reading()

    @pytest.mark.parametrize(
        ("method", "headers"),
        [("POST", {}), ("GET", {"Rota-Automatic": "yes"}), ("GET", {"Cookie": "changed=1"})],
        ids=["change", "page that was told", "somebody who has changed something"],
    )
    def test_is_read_from_the_primary_where_it_must_be_new(self, method, headers):
        with override_settings(CHANGED_COOKIE_NAME="changed"):
            calls, _answer = self.read(method, **headers)

        assert calls == [False]

    @pytest.mark.parametrize(
        "state",
        [
            watch._State(),
            watch._State(math.inf, None),
            watch._State(math.inf, 10.1),
            watch._State(math.inf, 0.1, failed=True),
        ],
        ids=["never answered", "lag not known", "lag", "failed"],
    )
    def test_is_read_from_the_primary_while_the_replica_is_no_use(self, state):
        self.watch._state = state

        assert self.read()[0] == [False]

    def test_of_a_file_is_complete_while_it_may_be_read(self):
        parts = []

        def file():
            parts.append(reading.is_reading())
            yield "row"

        _calls, answer = self.read(respond=lambda: StreamingHttpResponse(file()))

        assert parts == [True]
        assert answer.getvalue() == b"row"

    def test_passes_on_what_is_no_failure_of_the_replica(self):
        def refuse():
            raise Http404

        with pytest.raises(Http404):
            self.read(respond=refuse)

    @pytest.mark.parametrize(
        ("kind", "cause"),
        [
            (OperationalError, psycopg.OperationalError),
            (OperationalError, errors.AdminShutdown),
            (OperationalError, errors.SerializationFailure),
            (ProgrammingError, errors.UndefinedColumn),
            (ProgrammingError, errors.UndefinedTable),
        ],
    )
    def test_is_read_from_the_primary_after_a_failure_of_the_replica(self, monkeypatch, kind, cause):
        closed = []
        broken = SimpleNamespace(close=lambda: closed.append(True))
        monkeypatch.setattr(reading, "connections", {"replica": broken})

        def fail_at_replica():
            if reading.is_reading():
                raise kind from cause()
            return HttpResponse("from the primary")

        calls, answer = self.read(respond=fail_at_replica)

        assert (calls, answer.content, closed) == ([True, False], b"from the primary", [True])
        assert self.watch.fault() == "it does not answer"

    @pytest.mark.parametrize(
        ("kind", "cause"),
        [
            (OperationalError, errors.QueryCanceled),  # it would take as long at the primary
            (OperationalError, errors.TooManyColumns),
            (ProgrammingError, errors.SyntaxError),
            (ProgrammingError, psycopg.ProgrammingError),
            (InterfaceError, psycopg.InterfaceError),
            (DataError, errors.DivisionByZero),
        ],
    )
    def test_does_not_repeat_at_the_primary_what_is_no_failure_of_the_replica(self, kind, cause):
        calls = []

        def fail():
            calls.append(1)
            raise kind from cause()

        with pytest.raises(kind):
            self.read(respond=fail)

        assert calls == [1]
        assert self.watch.fault() == ""


class TestThread:
    def test_goes_on_after_a_defect_and_reads_from_the_primary_meanwhile(self, monkeypatch, caplog):
        outcomes = [ValueError("a defect"), ValueError("a defect"), ValueError("a defect"), None, None]
        watched, faults, left = watch.Watch(), [], list(outcomes)

        def measured():
            if outcome := left.pop(0):
                raise outcome
            return watch._State(time.monotonic(), 0.1)

        main = SimpleNamespace(is_alive=lambda: bool(left), join=lambda _seconds: faults.append(watched.fault()))
        monkeypatch.setattr(watch, "threading", SimpleNamespace(main_thread=lambda: main))
        monkeypatch.setattr(watch, "_close_connections", lambda: None)
        monkeypatch.setattr(watched, "_measured", measured)
        monkeypatch.setattr(watch, "watch", watched)

        watch.watch_until_exit()

        assert faults == ["it does not answer"] * 3 + [""] * 2
        assert [bool(record.exc_info) for record in caplog.records] == [True, True, False, False]
        assert "from the primary" in caplog.messages[2]
        assert "again" in caplog.messages[3]


class TestLag:
    """Positions in the logs of two servers: the primary's end, and up to where the replica has replayed it."""

    @pytest.fixture
    def measure(self, monkeypatch):
        clock, watched = [0.0], watch.Watch()
        monkeypatch.setattr(time, "monotonic", lambda: clock[0])

        def check(*, at, end, replayed):
            clock[0] = at
            positions = {"default": ("1/rota", Decimal(end)), "replica": ("1/rota", Decimal(replayed))}
            monkeypatch.setattr(watch, "_asked", lambda alias, _statement: positions[alias])
            watched.check()
            return watched.lag

        return check

    def test_is_the_age_of_the_last_position_that_was_passed(self, measure):
        assert measure(at=1, end=100, replayed=90) is None
        assert measure(at=2, end=200, replayed=100) == 1
        assert measure(at=3, end=300, replayed=199) == 2
        assert measure(at=4, end=400, replayed=400) == 0

    def test_is_none_while_the_primary_is_idle(self, measure):
        measure(at=1, end=100, replayed=100)

        assert measure(at=1000, end=100, replayed=100) == 0


class TestChangedCookie:
    @pytest.mark.parametrize(
        ("method", "path", "is_set"),
        [("POST", "/panel/x/", True), ("GET", "/panel/x/", False), ("POST", "/api/request-delivery", False)],
    )
    def test_follows_changes_on_pages(self, method, path, is_set):
        answer = ChangedCookieMiddleware(lambda _request: HttpResponse())(RequestFactory().generic(method, path))

        cookie = answer.cookies.get("changed")
        assert (cookie is not None) == is_set
        if cookie:
            assert cookie["max-age"] > watch.MOST_LAG_SECONDS + watch.SILENT_SECONDS
            assert cookie["httponly"]
            assert cookie["samesite"] == "Lax"
