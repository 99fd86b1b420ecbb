"""The settings of a read replica, and what may be read from it. tests/faults/replica has a real one."""

import time
from types import SimpleNamespace
from unittest.mock import Mock

import psycopg
import pytest
from django.contrib.auth.models import User
from django.db import DataError, InterfaceError, OperationalError, ProgrammingError, transaction
from django.http import Http404, HttpResponse, StreamingHttpResponse
from django.test import RequestFactory, override_settings
from psycopg import errors

from common.connections import BackOff
from common.postgresql import replica
from common.postgresql.replica import CHANGED_SECONDS, Router
from config.middleware import ChangedCookieMiddleware
from delivery.models import Delivery
from tests.production import settings_of

URL = "postgres://rota@replica.example.com/rota"


READ = ("s.DATABASES", "s.DATABASE_ROUTERS", "s.MIDDLEWARE", "s.CHANGED_COOKIE_NAME")


class TestSettings:
    def test_of_a_web_process_have_one_database_without_the_variable_keep_connections_and_limit_statements(self):
        """Nothing that the entry point imports may read the settings before it has set its own."""
        databases, routers, middleware, _cookie = settings_of(*READ, module="config.server.rsgi")

        assert (set(databases), routers) == ({"default"}, [])
        assert "config.middleware.ChangedCookieMiddleware" not in middleware
        assert databases["default"]["CONN_MAX_AGE"] is None
        assert "statement_timeout=15000ms" in databases["default"]["OPTIONS"]["options"]

    def test_give_the_replica_the_limits_of_the_primary(self):
        databases, routers, middleware, cookie = settings_of(
            *READ,
            module="config.server.rsgi",
            DATABASE_REPLICA_URL=URL,
            DATABASE_PREPARE="0",
            DATABASE_STATEMENT_SECONDS="7",
        )
        of_replica, primary = databases["replica"], databases["default"]

        assert (routers, cookie) == (["common.postgresql.replica.Router"], "__Host-changed")
        assert "config.middleware.ChangedCookieMiddleware" in middleware
        assert (of_replica["HOST"], of_replica["TEST"]["MIRROR"]) == ("replica.example.com", "default")
        assert (of_replica["OPTIONS"].pop("connect_timeout"), primary["OPTIONS"].pop("connect_timeout")) == (2, 5)
        attributes = [each["OPTIONS"].pop("target_session_attrs") for each in (of_replica, primary)]
        assert attributes == ["standby", "read-write"]
        assert of_replica["OPTIONS"] == primary["OPTIONS"]
        assert "statement_timeout=7000ms" in of_replica["OPTIONS"]["options"]
        assert of_replica["OPTIONS"]["prepare_threshold"] is None
        for name in ("CONN_MAX_AGE", "CONN_HEALTH_CHECKS", "DISABLE_SERVER_SIDE_CURSORS"):
            assert of_replica[name] == primary[name]


@pytest.fixture
def _reading():
    token = replica._is_reading.set(True)
    yield
    replica._is_reading.reset(token)


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
        monkeypatch.setattr(replica, "_back_off", BackOff(10))

    def read(self, method="GET", respond=None, **headers):
        """Whether queries could be sent to the replica at each call of the view, and the answer."""
        calls = []

        def get():
            calls.append(replica._is_reading.get())
            return respond() if respond else HttpResponse()

        request = RequestFactory().generic(method, "/", headers=headers)
        return calls, replica.answered(request, get)

    def test_is_read_from_the_replica(self):
        calls, _answer = self.read()

        assert calls == [True]
        assert not replica._is_reading.get()

    @pytest.mark.parametrize(
        ("method", "headers"),
        [("POST", {}), ("GET", {"Rota-Automatic": "yes"}), ("GET", {"Cookie": "changed=1"})],
        ids=["change", "page that was told", "somebody who has changed something"],
    )
    def test_is_read_from_the_primary_where_it_must_be_new(self, method, headers):
        with override_settings(CHANGED_COOKIE_NAME="changed"):
            calls, _answer = self.read(method, **headers)

        assert calls == [False]

    def test_of_a_file_is_complete_while_it_may_be_read(self):
        parts = []

        def file():
            parts.append(replica._is_reading.get())
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
        monkeypatch.setattr(replica, "connections", {"replica": broken})

        def fail_at_replica():
            if replica._is_reading.get():
                raise kind from cause()
            return HttpResponse("from the primary")

        calls, answer = self.read(respond=fail_at_replica)

        assert (calls, answer.content, closed) == ([True, False], b"from the primary", [True])
        assert self.read()[0] == [False]
        assert 0 < replica._back_off.until - time.monotonic() <= 10

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
        assert not replica._back_off.is_on


class TestChangedCookie:
    @pytest.mark.parametrize(
        ("method", "path", "is_set"),
        [("POST", "/panel/x/", True), ("GET", "/panel/x/", False), ("POST", "/api/request-delivery", False)],
    )
    def test_follows_changes_on_pages(self, method, path, is_set):
        answer = ChangedCookieMiddleware(Mock()).process_response(
            RequestFactory().generic(method, path), HttpResponse()
        )

        cookie = answer.cookies.get("changed")
        assert (cookie is not None) == is_set
        if cookie:
            assert cookie["max-age"] == CHANGED_SECONDS
            assert cookie["httponly"]
            assert cookie["samesite"] == "Lax"
