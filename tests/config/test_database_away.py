"""Calls and pages while PostgreSQL is away: 503 with Retry-After."""

import io
import logging
from contextlib import suppress
from unittest.mock import Mock

import psycopg
import pytest
from django.contrib.sessions.models import Session
from django.db import InterfaceError, OperationalError, ProgrammingError, connection, transaction
from psycopg.errors import (
    AdminShutdown,
    CannotConnectNow,
    DiskFull,
    LockNotAvailable,
    OutOfMemory,
    TooManyConnections,
)

from common.connections import is_unavailable
from config.monitoring import outages
from delivery.actions import deliveries, quotes
from delivery.models import Delivery
from tests.cases import in_turn
from tests.delivery.api.calls import LIST, QUOTE, REQUEST
from tests.factories import payload

KEY = {"Authorization": "Basic rota_key_x"}


def end_connection(*_arguments, **_options):
    """What happens to a statement when PostgreSQL stops."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_terminate_backend(pg_backend_pid())")


def wait_for_lock(*_arguments, **_options):
    raise OperationalError from LockNotAvailable()


def become_a_standby(*_arguments, **_options):
    """What a statement is answered by a server that is a standby."""
    with connection.cursor() as cursor:
        cursor.execute("SET default_transaction_read_only = on")
        cursor.execute("DELETE FROM delivery_delivery")


def use_closed_cursor(*_arguments, **_options):
    """A defect of the code."""
    with connection.cursor() as cursor:
        pass
    cursor.execute("SELECT 1")


@pytest.fixture
def _close_afterwards(transactional_db):
    """As the server does at the end of a request, and Django's test client does not."""
    yield
    connection.close()


@pytest.fixture
def api(api):
    api.raise_request_exception = False
    return api


@pytest.mark.usefixtures("_close_afterwards")
class TestImmediateDelivery:
    @pytest.mark.parametrize(("headers", "can_repeat"), [({}, False), ({"Idempotency-Key": "order-1"}, True)])
    def test_answers_503(self, api, monkeypatch, headers, can_repeat):
        monkeypatch.setattr(deliveries, "request", end_connection)

        answer = api.post(REQUEST, payload(), headers=headers)

        body = answer.json()
        assert (answer.status_code, body["code"], body["retryable"]) == (503, "unavailable", can_repeat)
        assert ("may have taken effect" in body["detail"]) is not can_repeat
        assert answer["Retry-After"] == "5"

    @pytest.mark.parametrize(("fail", "status"), [(end_connection, 503), (wait_for_lock, 500)])
    def test_lets_quotes_be_repeated(self, api, monkeypatch, fail, status):
        monkeypatch.setattr(quotes, "quote", fail)

        answer = api.post(QUOTE, payload())

        body = answer.json()
        assert (answer.status_code, body["retryable"]) == (status, True)
        assert "may have taken effect" not in body["detail"]

    def test_lets_reads_be_repeated_before_the_caller_is_known(self, api, monkeypatch):
        monkeypatch.setattr("delivery.api.authentication.BearerAuthentication.authenticate", end_connection)

        answers = [api.get(LIST), api.post(QUOTE, payload())]

        assert [(answer.status_code, answer.json()["retryable"]) for answer in answers] == [(503, True), (503, True)]

    def test_works_again_afterwards(self, api, monkeypatch):
        with monkeypatch.context() as patch:
            patch.setattr(quotes, "quote", end_connection)
            api.post(QUOTE, payload())
        connection.close()

        assert api.post(QUOTE, payload()).status_code == 200
        assert not Delivery.objects.exists()

    def test_leaves_a_server_that_is_a_standby(self, api, monkeypatch):
        """The next request has another connection, whatever the check of this one's health would find."""
        with monkeypatch.context() as patch:
            patch.setattr(quotes, "quote", become_a_standby)
            answer = api.post(QUOTE, payload())
        refused_at = connection.connection

        assert (answer.status_code, answer.json()["code"]) == (503, "unavailable")
        connection.close_if_unusable_or_obsolete()  # as at the end of a request
        assert api.post(QUOTE, payload()).status_code == 200
        assert connection.connection is not refused_at

    @pytest.mark.usefixtures("_close_afterwards")
    def test_does_not_connect_to_a_standby(self, settings, monkeypatch):
        connection.close()

        with monkeypatch.context() as patch:  # the test's end connects again
            patch.setitem(connection.settings_dict, "OPTIONS", {
                **settings.DATABASES["default"]["OPTIONS"], "options": "-c default_transaction_read_only=on",
            })  # fmt: skip  # one change
            with pytest.raises(OperationalError, match="read-only") as raised:
                connection.ensure_connection()

        assert is_unavailable(raised.value)

    @pytest.mark.parametrize("fail", [wait_for_lock, use_closed_cursor])
    def test_answers_500_to_other_errors_of_the_database(self, api, monkeypatch, fail):
        monkeypatch.setattr(quotes, "quote", fail)

        answer = api.post(QUOTE, payload())

        assert (answer.status_code, answer.json()["code"]) == (500, "server_error")


@pytest.mark.usefixtures("_close_afterwards")
class TestOrderIntegration:
    def test_answers_503(self, client, monkeypatch):
        monkeypatch.setattr("integration.api.authentication.KeyAuthentication.authenticate", end_connection)
        client.raise_request_exception = False

        answer = client.get("/api/integration/orders", headers=KEY)

        assert (answer.status_code, answer.json()["code"]) == (503, "unavailable")
        assert answer["Retry-After"] == "5"

    @pytest.mark.parametrize(("fail", "status"), [(end_connection, 503), (wait_for_lock, 500)])
    def test_claims_an_effect_of_what_changes_something_only(self, client, monkeypatch, fail, status):
        monkeypatch.setattr("integration.api.authentication.KeyAuthentication.authenticate", fail)
        client.raise_request_exception = False
        paths = ["shipping/quote", "shipping/services", "labels", "orders", "orders/cancel", "manifests"]

        answers = {path: client.post(f"/api/integration/{path}", headers=KEY) for path in paths}

        assert {answer.status_code for answer in answers.values()} == {status}
        claimed = [path for path, answer in answers.items() if "pode ter tido efeito" in answer.json()["message"]]
        assert claimed == ["orders", "orders/cancel", "manifests"]


@pytest.mark.usefixtures("_close_afterwards")
class TestPage:
    def test_says_so(self, client, monkeypatch):
        monkeypatch.setattr("panel.views.home.Home.dispatch", end_connection)
        client.raise_request_exception = False

        answer = client.get("/panel/")

        assert (answer.status_code, answer["Retry-After"]) == (503, "5")
        assert "não alcança seu banco de dados" in answer.content.decode()

    def test_says_so_when_the_session_cannot_be_saved(self, client, django_user_model, monkeypatch):
        """Django answers 400 otherwise, as if the person had logged out meanwhile."""
        client.force_login(django_user_model.objects.create_user("maria"))
        monkeypatch.setattr("access.sessions._SEEN_RESOLUTION_SECONDS", 0)  # each request changes the session
        monkeypatch.setattr(Session, "save", end_connection)
        client.raise_request_exception = False

        answer = client.get("/panel/")

        assert (answer.status_code, answer["Retry-After"]) == (503, "5")


@pytest.fixture
def log(monkeypatch):
    """What is written to standard error."""
    stream = io.StringIO()
    (handler,) = [each for each in logging.getLogger().handlers if each.name == "stderr"]
    monkeypatch.setattr(handler, "stream", stream)
    (outage_filter,) = handler.filters
    monkeypatch.setattr(outage_filter, "_next", 0.0)  # an earlier test has failed a moment ago
    monkeypatch.setattr(outage_filter, "_left_out", 0)
    return stream


@pytest.mark.usefixtures("_close_afterwards")
class TestLog:
    def test_has_no_traceback(self, api, monkeypatch, log):
        """An outage under load would fill the disk with tracebacks otherwise."""
        monkeypatch.setattr(quotes, "quote", end_connection)

        api.post(QUOTE, payload())

        line, error, *more = log.getvalue().splitlines()
        assert line.endswith(f"Service Unavailable: {QUOTE}")
        assert error.startswith("    OperationalError: terminating connection due to administrator command")
        assert "Traceback" not in "".join(more)

    def test_has_one_line_a_second_of_each_process_with_the_number_of_the_others(self, api, monkeypatch, log):
        moments = [100.0, 100.5, 100.9, 101.0, 103.0]
        monkeypatch.setattr(outages, "time", Mock(monotonic=Mock(side_effect=moments)))
        monkeypatch.setattr(quotes, "quote", end_connection)
        for _moment in moments:
            api.post(QUOTE, payload())

        lines = [line for line in log.getvalue().splitlines() if "Service Unavailable" in line]
        ends = [line.partition(f"Service Unavailable: {QUOTE}")[2] for line in lines]
        assert ends == ["", " (and 2 others since the last line)", ""]

    @pytest.mark.parametrize("fail", [wait_for_lock, use_closed_cursor])
    def test_keeps_the_traceback_of_other_errors(self, api, monkeypatch, log, fail):
        monkeypatch.setattr(quotes, "quote", fail)

        api.post(QUOTE, payload())

        assert "    Traceback" in log.getvalue()


class TestUnavailable:
    @pytest.mark.parametrize("cause", [DiskFull, OutOfMemory, TooManyConnections, CannotConnectNow, AdminShutdown])
    def test_is_what_is_used_up_or_stops(self, cause):
        error = OperationalError()
        error.__cause__ = cause()

        assert is_unavailable(error)

    @pytest.mark.usefixtures("_close_afterwards")
    def test_is_a_server_that_cannot_be_reached(self, monkeypatch):
        connection.close()

        with monkeypatch.context() as patch:  # the test's end connects again
            patch.setitem(connection.settings_dict, "HOST", "127.0.0.1")
            patch.setitem(connection.settings_dict, "PORT", "1")
            with pytest.raises(OperationalError, match="failed") as raised:
                connection.ensure_connection()

        assert is_unavailable(raised.value)

    @pytest.mark.usefixtures("_close_afterwards")
    def test_is_a_connection_that_was_lost_in_a_transaction(self):
        @transaction.atomic
        def go_on():
            with suppress(OperationalError):
                end_connection()
            end_connection()

        with pytest.raises(OperationalError, match="closed") as raised:
            go_on()

        assert is_unavailable(raised.value)

    @in_turn("cause", [None, psycopg.InterfaceError(), psycopg.ProgrammingError(), ValueError()])
    @in_turn("kind", [OperationalError, InterfaceError, ProgrammingError])
    def test_is_no_other_error(self, kind, cause):
        error = kind()
        error.__cause__ = cause

        assert not is_unavailable(error)
