"""The sandbox of integrators: the speed of the simulated driver, and moves by hand."""

from datetime import timedelta

import pytest
from django.utils import timezone

from delivery.models import Delivery, DriverPosition, Simulation
from tests.delivery.api.calls import (
    CANCEL,
    DETAIL,
    LOCATION,
    MOVES,
    REQUEST,
    UNKNOWN,
    assert_field_refused,
    assert_nothing_written,
    assert_problem,
    send,
)
from tests.delivery.simulated import advance, history, statuses
from tests.factories import DeliveryFactory, TariffFactory, TokenFactory, payload

pytestmark = pytest.mark.django_db

MOVE = "/api/sandbox/deliveries/{}/{}"


@pytest.fixture
def token():
    TariffFactory.create()
    return TokenFactory.create(sandbox=True)


@pytest.fixture
def delivery(token):
    return DeliveryFactory.create(token=token)


def named(external_id, *, stops=1):
    body = payload(stops=stops)
    body["dropoffs"][0]["externalId"] = external_id
    return body


def request(api, external_id="order-1", **headers):
    return Delivery.objects.get(pk=api.post(REQUEST, named(external_id), **headers).json()["deliveryId"])


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

    def test_that_asks_for_moves_by_hand_is_not(self, api):
        request(api, "sim-manual-1")

        assert not Simulation.objects.exists()

    def test_that_is_cancelled_after_pickup_makes_the_driver_return(self, api):
        delivery = request(api, "sim-cancel-late-1")
        advance()

        cancelled = api.post(CANCEL.format(delivery.pk), {"reason": "changed my mind"})
        advance()

        assert cancelled.json()["cancellation"]["returnToOrigin"] is True
        assert statuses(delivery) == ["PENDING", "ACCEPT", "COLLECTED", "FAILED", "FAILED"]
        assert api.get(DETAIL.format(delivery.pk)).json()["route"]["status"] == "FINISHED"
        assert not Simulation.objects.exists()


class TestSpeed:
    @pytest.mark.parametrize(("value", "speed"), [("1", 1), ("120", 120), ("7.5", 7.5), (" 2 ", 2), ("1e1", 10)])
    def test_is_taken_from_the_header(self, api, value, speed):
        delivery = request(api, HTTP_SANDBOX_SPEED=value)

        assert delivery.simulation.speed == speed

    @pytest.mark.parametrize(
        "value",
        [
            "",
            "0",
            "0.99",
            "120.01",
            "121",
            "-1",
            "NaN",
            "inf",
            "1e400",
            "fast",
            "1,5",
            "1_0",
            "10x",
            "\u0661",
            "1" * 5000,
        ],
    )
    def test_out_of_range_is_refused(self, api, value):
        response = api.post(REQUEST, named("order-1"), HTTP_SANDBOX_SPEED=value)

        body = assert_problem(response, 422, "invalid_sandbox_speed")
        assert body["detail"] == "The header Sandbox-Speed is a number from 1 to 120."
        assert_nothing_written()
        assert not Simulation.objects.exists()


class TestMoves:
    def test_lead_through_a_whole_delivery(self, api):
        delivery = request(api, "sim-manual-1")
        seen = []

        for move in ("accept", "collect", "deliver/B"):
            response = api.post(MOVE.format(delivery.pk, move))
            body = response.json()
            seen.append((response.status_code, body["status"], body["route"]["status"]))
            assert body == api.get(DETAIL.format(delivery.pk)).json()

        assert seen == [
            (200, "ACCEPT", "ACCEPTED"),
            (200, "COLLECTED", "COLLECTED"),
            (200, "DELIVERED", "FINISHED"),
        ]
        assert statuses(delivery) == ["PENDING", "ACCEPT", "COLLECTED", "DELIVERED"]

    def test_are_recorded_with_the_token(self, api, token, delivery):
        api.post(MOVE.format(delivery.pk, "accept"))

        assert delivery.transitions.last().by == f"token {token.hint}"

    def test_of_accept_show_a_driver_near_a(self, api, delivery):
        api.post(MOVE.format(delivery.pk, "accept"))

        located = api.get(LOCATION.format(delivery.pk)).json()
        assert located["tracking"]["available"] is True
        assert DriverPosition.objects.count() == 1

    @pytest.mark.parametrize(
        ("body", "reason"),
        [
            (None, "Simulated failure: nobody received the order."),
            ({}, "Simulated failure: nobody received the order."),
            ({"reason": None}, "Simulated failure: nobody received the order."),
            ({"reason": "  "}, "Simulated failure: nobody received the order."),
            ({"reason": " closed "}, "closed"),
        ],
    )
    def test_of_fail_take_a_reason(self, api, token, body, reason):
        delivery = DeliveryFactory.create(token=token, collected=True)

        response = api.post(MOVE.format(delivery.pk, "fail/b"), body)

        assert response.json()["orders"][0]["failureReason"] == reason

    def test_of_position_set_the_drivers_position(self, api, token):
        delivery = DeliveryFactory.create(token=token, collected=True)

        response = api.post(MOVE.format(delivery.pk, "position"), {"latitude": -23.5612345678, "longitude": "-46.5"})

        coordinates = {"latitude": -23.5612345678, "longitude": -46.5}
        assert response.json()["driver"]["coordinates"] == coordinates

    def test_of_return_end_a_delivery(self, api, token):
        delivery = DeliveryFactory.create(token=token, collected=True, stops=1)
        api.post(MOVE.format(delivery.pk, "fail/B"))

        response = api.post(MOVE.format(delivery.pk, "return"))

        assert response.json()["route"]["status"] == "FINISHED"

    def test_of_expire_need_no_deadline(self, api, delivery):
        response = api.post(MOVE.format(delivery.pk, "expire"))

        assert (response.json()["status"], response.json()["route"]["status"]) == ("FAILED", "EXPIRED")
        assert delivery.offer_expires_at > timezone.now() + timedelta(minutes=50)

    def test_end_the_simulation(self, api):
        delivery = request(api)

        api.post(MOVE.format(delivery.pk, "accept"))

        assert not Simulation.objects.exists()
        assert statuses(delivery) == ["PENDING", "ACCEPT"]


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

        response = send(api, MOVE.format(delivery.pk, move), {"latitude": 1, "longitude": 1})

        assert_problem(response, 422, code)
        assert statuses(delivery) == before

    @pytest.mark.parametrize(
        ("move", "body", "pointer"),
        [
            ("fail/B", {"reason": 5}, "#/reason"),
            ("fail/B", {"reason": "x" * 256}, "#/reason"),
            ("position", {"latitude": 91, "longitude": 0}, "#/latitude"),
            ("position", {"latitude": 0, "longitude": "x"}, "#/longitude"),
            ("position", {"latitude": 0}, "#/longitude"),
            ("position", {"latitude": True, "longitude": 0}, "#/latitude"),
        ],
    )
    def test_name_a_field_that_is_invalid(self, api, token, move, body, pointer):
        delivery = DeliveryFactory.create(token=token, collected=True)

        assert_field_refused(send(api, MOVE.format(delivery.pk, move), body), pointer)

        assert statuses(delivery) == ["PENDING", "ACCEPT", "COLLECTED"]
        assert DriverPosition.objects.count() == 0

    @pytest.mark.parametrize("move", ["accept", "fail/B"])
    def test_read_json_objects_only(self, api, delivery, move):
        assert_problem(send(api, MOVE.format(delivery.pk, move), "[1]"), 422, "malformed_body")
        assert statuses(delivery) == ["PENDING"]

    @pytest.mark.parametrize("move", ["cancel", "request", "x", "deliver", "accept/B"])
    def test_of_another_name_have_no_path(self, api, delivery, move):
        assert_problem(api.post(MOVE.format(delivery.pk, move)), 404, "no_such_path")


class TestWhatIsNotFound:
    @pytest.mark.parametrize("move", MOVES)
    def test_is_everything_for_a_live_token(self, client_of, token, move):
        live = TokenFactory.create(integrator=token.integrator)
        own, of_sandbox = DeliveryFactory.create(token=live), DeliveryFactory.create(token=token)

        answers = [send(client_of(live), move.format(one), "{") for one in (own.pk, of_sandbox.pk, UNKNOWN, "x")]

        bodies = [assert_problem(answer, 404, "delivery_not_found") for answer in answers]
        assert len({body["detail"] for body in bodies}) == 1
        assert statuses(own) == statuses(of_sandbox) == ["PENDING"]

    @pytest.mark.parametrize("move", MOVES)
    def test_is_a_live_and_a_foreign_delivery_for_a_test_token(self, api, token, move):
        live = DeliveryFactory.create(token=TokenFactory.create(integrator=token.integrator))
        foreign = DeliveryFactory.create(token=TokenFactory.create(sandbox=True))

        answers = [send(api, move.format(one), {}) for one in (live.pk, foreign.pk, UNKNOWN, "x")]

        bodies = [assert_problem(answer, 404, "delivery_not_found") for answer in answers]
        assert len({body["detail"] for body in bodies}) == 1
        assert statuses(live) == statuses(foreign) == ["PENDING"]
