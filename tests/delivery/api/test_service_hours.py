"""Quotes and requests outside the hours of service."""

from datetime import UTC, datetime, timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from common import clock
from common.cached import Cached
from delivery.hours import models
from delivery.models import Delivery, Environment
from tests.delivery.api.calls import QUOTE, REQUEST, assert_nothing_written, assert_problem
from tests.factories import TokenFactory, payload
from tests.service_hours import make

NIGHT = datetime(2026, 11, 24, 2, 30, 15, tzinfo=UTC)  # Monday 23:30 in São Paulo
MORNING = "2026-11-24T08:00:00-03:00"


@pytest.fixture
def at(monkeypatch):
    """Set the moment of the calls."""

    def set_to(moment):
        monkeypatch.setattr(clock, "now", lambda: moment)

    set_to(NIGHT)
    return set_to


@pytest.mark.parametrize("path", [QUOTE, REQUEST])
class TestOutsideTheHours:
    def test_is_refused_with_when_it_opens(self, api, at, path, settings):
        make()

        response = api.post(path, payload())

        assert assert_problem(response, 400, "closed") == {
            "type": f"{settings.PROBLEM_TYPES}closed",
            "title": "Closed at this hour",
            "status": 400,
            "detail": "Nothing is picked up there at this hour. It opens 2026-11-24 08:00:00-03:00.",
            "instance": path,
            "code": "closed",
            "retryable": True,
            "opensAt": MORNING,
        }
        assert_nothing_written()

    def test_tells_the_moment_with_the_offset_of_the_service(self, api, at, path, token):
        make("08:00-18:00", integrator=token.integrator, time_zone="America/Rio_Branco")

        assert api.post(path, payload()).json()["opensAt"] == "2026-11-24T10:00:00-03:00"

    def test_is_null_where_it_does_not_open_within_60_days(self, api, at, path):
        days = "\n".join(f"{(NIGHT + timedelta(days=number)).date()} Strike" for number in range(-1, 62))
        make(days_off=days)

        assert assert_problem(api.post(path, payload()), 400, "closed")["opensAt"] is None

    def test_is_accepted_for_a_window_that_begins_within_them(self, api, at, path):
        make()

        assert api.post(path, {**payload(), "pickupReadyAt": MORNING}).status_code < 300

    def test_is_refused_for_a_window_that_begins_outside_them(self, api, at, path):
        at(NIGHT - timedelta(hours=6))
        make()

        refused = api.post(path, {**payload(), "pickupReadyAt": "2026-11-23T23:30:00-03:00"})

        assert assert_problem(refused, 400, "closed")["opensAt"] == MORNING
        assert_nothing_written()

    def test_costs_no_statement_of_its_own(self, api, at, path, monkeypatch):
        make("00:00-24:00")
        api.post(path, payload())  # records the use of the token

        def statements():
            with CaptureQueriesContext(connection) as queries:
                assert api.post(path, payload()).status_code < 300
            return [query["sql"] for query in queries]

        known = statements()
        monkeypatch.setattr(models, "_CACHED", Cached(models._read, seconds=5))

        assert not [sql for sql in known if "servicehours" in sql]
        assert len(statements()) == len(known) + 1  # once in five seconds


class TestRequest:
    def test_is_answered_anew_when_it_opens_with_the_same_key(self, api, at):
        make()
        key = {"HTTP_IDEMPOTENCY_KEY": "1"}

        assert_problem(api.post(REQUEST, payload(), **key), 400, "closed")
        at(NIGHT + timedelta(hours=9))
        made, again = (api.post(REQUEST, payload(), **key) for _number in range(2))

        assert (made.status_code, again["Idempotency-Replayed"]) == (201, "true")
        assert Delivery.objects.count() == 1

    def test_is_refused_after_the_end_with_a_quote_of_before(self, api, at):
        make()
        at(NIGHT.replace(hour=20, minute=59))
        quote = api.post(QUOTE, payload())["Quote-Id"]

        at(NIGHT.replace(hour=21, minute=0))
        assert_problem(api.post(REQUEST, payload(), HTTP_QUOTE_ID=quote), 400, "closed")

    def test_of_the_sandbox_is_refused_by_its_external_id(self, token, client_of, at):
        sandbox = client_of(TokenFactory.create(integrator=token.integrator, environment=Environment.SANDBOX))
        make()
        refused = payload(stops=1)
        refused["dropoffs"][0]["externalId"] = "sim-closed-1"

        assert sandbox.post(REQUEST, payload()).status_code == 201
        opens_at = assert_problem(sandbox.post(REQUEST, refused), 400, "closed")["opensAt"]
        at(NIGHT + timedelta(minutes=1))
        early = assert_problem(
            sandbox.post(QUOTE, refused | {"pickupReadyAt": "2026-11-23T23:59:59-03:00"}), 400, "closed"
        )

        assert opens_at == early["opensAt"] == "2026-11-24T00:00:00-03:00"
        assert sandbox.post(REQUEST, refused | {"pickupReadyAt": opens_at}).status_code == 201
