"""Reports of errors to an endpoint on loopback that receives Sentry's envelopes."""

import json
import logging
from unittest.mock import Mock

import psycopg
import pytest
import sentry_sdk
from django.db import OperationalError

from common.observability import log_context
from config.monitoring import error_reports, outages
from tests.config.monitoring.receivers import receiver
from tests.factories import payload

# Not among the lines of code that a report has of this file.
PATH = "/api/request-delivery?email=maria@example.com"
SECRET = "rota_live_" + "x9Y" * 12  # pragma: allowlist secret


@pytest.fixture
def sentry(settings):
    with receiver() as server:
        settings.SENTRY_DSN = f"http://key@127.0.0.1:{server.server_port}/1"
        error_reports.start()
        yield server
        sentry_sdk.get_client().close(2)
        sentry_sdk.get_global_scope().set_client(None)


@pytest.fixture
def reports(sentry):
    def do():
        error_reports.stop()
        return sentry.reports()

    return do


class TestOutage:
    def test_is_reported_once_until_a_minute_has_passed_without_errors(self, reports, monkeypatch):
        clock = Mock()
        monkeypatch.setattr(outages, "time", clock)
        monkeypatch.setattr(error_reports, "_outages", outages.OutageReports())
        log = logging.getLogger("rota.server")
        for clock.monotonic.return_value in (100.0, 101.0, 159.0, 218.0, 279.0):
            away = OperationalError("away")
            away.__cause__ = psycopg.OperationalError("away")
            log.error("failed", exc_info=away)
        log.error("a defect", exc_info=ValueError())

        found = [report["exception"]["values"][-1]["type"] for report in reports()]
        assert found == ["OperationalError", "OperationalError", "ValueError"]


class TestReport:
    def test_of_a_view_that_fails_has_its_place_and_ids_and_nothing_that_was_sent(
        self, api, token, reports, sentry, monkeypatch
    ):
        api.raise_request_exception = False

        def fail(**arguments):
            name = arguments["payload"].pickup.contact_name
            raise ValueError(f"{name}: {token.clear_text}")

        monkeypatch.setattr("delivery.actions.deliveries.request", fail)

        response = api.post(PATH, payload(stops=1))

        (report,) = reports()
        assert response.status_code == 500
        assert report["tags"] == {"account": str(token.integrator_id)}
        (exception,) = report["exception"]["values"]
        assert (exception["type"], exception["value"]) == ("ValueError", "")
        assert exception["stacktrace"]["frames"][-1]["function"] == "fail"
        sent = b"".join(body for _path, _headers, body in sentry.received).decode()
        for value in (token.clear_text, "Loja Paulista", "Maria", "97777", "maria@example.com", "Avenida Paulista"):
            assert value not in sent
        assert "vars" not in exception["stacktrace"]["frames"][-1]

    def test_of_a_logged_error_has_its_constant_text(self, reports):
        scope = log_context.begin()
        log_context.note("delivery", "7")

        logging.getLogger("delivery").error("The phone %s of %s failed", SECRET, "Maria", extra={"body": SECRET})

        log_context.end(scope)
        (report,) = reports()
        assert report["logentry"] == {"message": "The phone %s of %s failed"}
        assert report["tags"] == {"delivery": "7"}
        assert SECRET not in json.dumps(report)
        assert "Maria" not in json.dumps(report)

    def test_is_not_made_of_warnings(self, reports):
        logging.getLogger("delivery").warning("Redis is away")

        assert reports() == []


def test_without_a_dsn_nothing_is_started(settings):
    settings.SENTRY_DSN = ""

    error_reports.start()

    assert not sentry_sdk.get_client().is_active()
