"""Moves by hand that are refused."""

import pytest

from delivery.models import DriverPosition
from tests.delivery.api.calls import (
    MOVES,
    UNKNOWN,
    assert_field_refused,
    assert_problem,
    send,
)
from tests.delivery.api.sandbox.sandbox_calls import MOVE
from tests.delivery.simulated import statuses
from tests.factories import DeliveryFactory, TokenFactory

pytestmark = pytest.mark.django_db


class TestRefusedMoves:
    @pytest.mark.parametrize(
        ("traits", "move", "code"),
        [
            ({}, "collect", "move_refused"),
            ({}, "deliver/B", "move_refused"),
            ({}, "return", "move_refused"),
            ({}, "position", "no_driver_assigned"),
            ({"accepted": True}, "accept", "route_taken"),
            ({"accepted": True}, "expire", "move_refused"),
            ({"collected": True}, "deliver/A", "stop_not_found"),
            ({"collected": True}, "deliver/D", "stop_not_found"),
            ({"collected": True}, "fail/" + "x" * 500, "stop_not_found"),
        ],
    )
    def test_answer_the_lifecycles_code(self, api, token, traits, move, code):
        delivery = DeliveryFactory.create(token=token, stops=2, **traits)
        before = statuses(delivery)

        response = send(api, MOVE.format(delivery.pk, move), {"latitude": -23.5, "longitude": -46.6})

        assert_problem(response, 422, code)
        assert statuses(delivery) == before

    def test_name_a_field_that_is_invalid(self, api, token):
        delivery = DeliveryFactory.create(token=token, collected=True)

        for move, body, pointer in [
            ("fail/B", {"reason": 5}, "#/reason"),
            ("fail/B", {"reason": "x" * 256}, "#/reason"),
            ("position", {"latitude": 91, "longitude": 0}, "#/latitude"),
            ("position", {"latitude": 0, "longitude": "x"}, "#/longitude"),
            ("position", {"latitude": 0}, "#/longitude"),
            ("position", {"latitude": True, "longitude": 0}, "#/latitude"),
        ]:
            assert_field_refused(send(api, MOVE.format(delivery.pk, move), body), pointer)

        assert statuses(delivery) == ["PENDING", "ACCEPT", "COLLECTED"]
        assert DriverPosition.objects.count() == 0

    @pytest.mark.parametrize(
        ("latitude", "longitude", "is_swapped"), [(-46.65, -23.56, True), (40.7, -74.0, False), (1, 1, False)]
    )
    def test_name_a_position_outside_the_service_area(self, api, token, latitude, longitude, is_swapped):
        delivery = DeliveryFactory.create(token=token, collected=True)

        response = api.post(MOVE.format(delivery.pk, "position"), {"latitude": latitude, "longitude": longitude})

        problem = assert_problem(response, 422, "outside_service_area")
        assert [error["pointer"] for error in problem["errors"]] == ["#"]
        assert ("seem to be swapped" in problem["errors"][0]["detail"]) is is_swapped
        assert DriverPosition.objects.count() == 0

    @pytest.mark.parametrize("move", ["accept", "fail/B"])
    def test_read_json_objects_only(self, api, delivery, move):
        assert_problem(send(api, MOVE.format(delivery.pk, move), "[1]"), 422, "malformed_body")
        assert statuses(delivery) == ["PENDING"]

    def test_of_another_name_have_no_path(self, api, delivery):
        for move in ("cancel", "request", "x", "deliver", "accept/B"):
            assert_problem(api.post(MOVE.format(delivery.pk, move)), 404, "no_such_path")


class TestWhatIsNotFound:
    def test_is_everything_for_a_live_token(self, client_of, token):
        live = TokenFactory.create(integrator=token.integrator)
        own, of_sandbox = DeliveryFactory.create(token=live), DeliveryFactory.create(token=token)
        ids = (own.pk, of_sandbox.pk, UNKNOWN, "x")

        answers = [send(client_of(live), move.format(one), "{") for move in MOVES for one in ids]

        bodies = [assert_problem(answer, 404, "delivery_not_found") for answer in answers]
        assert len({body["detail"] for body in bodies}) == 1
        assert statuses(own) == statuses(of_sandbox) == ["PENDING"]

    def test_is_a_live_and_a_foreign_delivery_for_a_test_token(self, api, token):
        live = DeliveryFactory.create(token=TokenFactory.create(integrator=token.integrator))
        foreign = DeliveryFactory.create(token=TokenFactory.create(sandbox=True))

        answers = [send(api, move.format(one), {}) for move in MOVES for one in (live.pk, foreign.pk, UNKNOWN, "x")]

        bodies = [assert_problem(answer, 404, "delivery_not_found") for answer in answers]
        assert len({body["detail"] for body in bodies}) == 1
        assert statuses(live) == statuses(foreign) == ["PENDING"]
