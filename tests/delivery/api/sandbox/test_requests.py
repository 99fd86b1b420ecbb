"""Requests with a test token, and the speed of their simulated drivers."""

import pytest

from delivery.models import Delivery, Simulation
from tests.delivery.api.calls import (
    DETAIL,
    LOCATION,
    REQUEST,
    assert_nothing_written,
    assert_problem,
)
from tests.delivery.api.sandbox.sandbox_calls import named, request
from tests.delivery.simulated import advance, history, statuses
from tests.factories import TokenFactory

pytestmark = pytest.mark.django_db


class TestRequest:
    def test_with_a_test_token_is_simulated(self, api):
        delivery = request(api)

        advance()

        assert [seconds for _change, seconds in history(delivery)] == [0, 10, 40, 120]
        assert statuses(delivery) == ["PENDING", "ACCEPT", "COLLECTED", "DELIVERED"]
        assert api.get(LOCATION.format(delivery.pk)).json()["tracking"]["reason"] == "FINISHED"
        transitions = api.get(DETAIL.format(delivery.pk)).json()["transitions"]
        assert [transition["by"] for transition in transitions] == ["integrator", "driver", "driver", "driver"]

    def test_with_a_live_token_is_not(self, client_of, token):
        live = TokenFactory.create(integrator=token.integrator)

        response = client_of(live).post(REQUEST, named("sim-fail-1"), HTTP_SANDBOX_SPEED="fast")

        assert response.status_code == 201
        assert not Simulation.objects.exists()

    def test_over_the_most_that_are_simulated_at_once_is_refused(self, api, client_of, token, monkeypatch):
        monkeypatch.setattr("delivery.models.simulation.MOST_SIMULATIONS", 2)
        other, live = TokenFactory.create(sandbox=True), TokenFactory.create(integrator=token.integrator)
        for _number in range(2):
            request(api)

        refused = api.post(REQUEST, named("order-3"))

        assert_problem(refused, 429, "too_many_simulations")
        assert refused.headers["Retry-After"] == "60"
        assert Delivery.objects.count() == 2
        answers = [
            api.post(REQUEST, named("sim-manual-1")),
            *[client_of(each).post(REQUEST, named("a")) for each in (other, live)],
        ]
        assert [answer.status_code for answer in answers] == [201] * 3


class TestAMisspeltOutcome:
    KNOWN = "sim-delivered- sim-fail- sim-nodriver- sim-return- sim-cancel-late- sim-stale- sim-manual-"

    @pytest.mark.parametrize(
        ("external_id", "nearest"),
        [("SIM-FAIL-1", "sim-fail-"), ("sim-bogus-1", "")],
    )
    def test_is_named_with_the_known_ones(self, api, external_id, nearest):
        response = api.post(REQUEST, named(external_id))

        assert response.status_code == 201
        assert response["Rota-Warnings"] == (
            '"#/dropoffs/0/externalId";code=unknown_outcome'
            + (f';nearest="{nearest}"' if nearest else "")
            + f';known="{self.KNOWN}"'
        )

    def test_is_refused_from_a_caller_who_prefers_strict_handling(self, api):
        response = api.post(REQUEST, named("sim-fail"), HTTP_PREFER="handling=strict")

        problem = assert_problem(response, 422, "invalid_payload")
        assert [(error["pointer"], error["code"]) for error in problem["errors"]] == [
            ("#/dropoffs/0/externalId", "unknown_outcome")
        ]
        assert "Did you mean 'sim-fail-'? Known ones: sim-delivered-, " in problem["errors"][0]["detail"]
        assert_nothing_written()

    def test_has_no_meaning_with_a_live_token(self, client_of, token):
        live = TokenFactory.create(integrator=token.integrator)

        assert "Rota-Warnings" not in client_of(live).post(REQUEST, named("sim-fail"))


class TestSpeed:
    def test_is_taken_from_the_header(self, api):
        values = ("1", "120", "7.5", " 2 ", "1e1")

        assert [request(api, HTTP_SANDBOX_SPEED=value).simulation.speed for value in values] == [1, 120, 7.5, 2, 10]

    def test_out_of_range_is_refused(self, api):
        numbers = ["0", "0.99", "120.01", "121", "-1", "NaN", "inf", "1e400", "1,5", "1_0", "\u0661", "1" * 5000]

        for value in (*numbers, "", "fast", "10x"):
            body = assert_problem(
                api.post(REQUEST, named("order-1"), HTTP_SANDBOX_SPEED=value), 422, "invalid_sandbox_speed"
            )
            assert body["detail"] == "The header Sandbox-Speed is a number from 1 to 120."

        assert_nothing_written()
        assert not Simulation.objects.exists()
