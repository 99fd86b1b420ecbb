"""Policies of failures, reverse routes and changes of drop-offs: their keys, answers and refusals."""

import json

import pytest

from delivery.models import Delivery, DropoffOptions, StopChange
from tests.cases import in_turn
from tests.delivery.api.calls import (
    DETAIL,
    QUOTE,
    REQUEST,
    UNKNOWN,
    assert_field_refused,
    assert_problem,
    assert_values_refused,
)
from tests.delivery.simulated import advance
from tests.factories import TariffFactory, TokenFactory, payload

pytestmark = pytest.mark.django_db
MOVE = "/api/sandbox/deliveries/{}/{}"
DROPOFF = DETAIL + "/dropoffs/{}"
INSTRUCT = DROPOFF + "/instruct"


@pytest.fixture
def token():
    TariffFactory.create()
    return TokenFactory.create(sandbox=True)


def with_policies(*policies, external_id="sim-manual-1", **changes):
    body = payload(stops=len(policies), **changes)
    body["dropoffs"][0]["externalId"] = external_id
    for dropoff, policy in zip(body["dropoffs"], policies, strict=True):
        if policy:
            dropoff["onFailure"] = policy
    return body


@pytest.fixture
def request_of(api):
    def request(*policies, moves=(), **changes):
        """The id of a delivery whose drop-offs have these policies, after these moves."""
        answer = api.post(REQUEST, with_policies(*policies, **changes), HTTP_PREFER="handling=strict")
        assert answer.status_code == 201, answer.json()
        delivery = answer.json()["deliveryId"]
        for move in moves:
            assert api.post(MOVE.format(delivery, move), {}).status_code == 200
        return delivery

    return request


UNDER_WAY = ("accept", "collect")


class TestPolicy:
    @in_turn("path", [QUOTE, REQUEST])
    @in_turn("policy", ["RETURN", "RETRY", "LEAVE", None])
    def test_is_known(self, api, path, policy):
        response = api.post(path, with_policies(policy), HTTP_PREFER="handling=strict")

        assert response.status_code in {200, 201}
        assert "Rota-Warnings" not in response

    def test_is_the_nearest_of_a_misspelt_key(self, api):
        body = with_policies(None)
        body["dropoffs"][0]["on_failure"] = "RETRY"

        assert 'nearest="onFailure"' in api.post(QUOTE, body)["Rota-Warnings"]

    def test_is_one_of_three_words(self, api):
        assert_values_refused(api, ["#/dropoffs/0/onFailure"], ["retry", "", 1, ["RETRY"], "x" * 10_000])

    def test_null_is_as_unsent(self, api):
        body = with_policies(None)
        body["dropoffs"][0]["onFailure"] = None

        assert api.post(REQUEST, body).status_code == 201
        assert not DropoffOptions.objects.exists()

    def test_is_in_the_detail_with_what_was_tried(self, api, request_of):
        delivery = request_of("RETRY", None, moves=UNDER_WAY)

        failed = api.post(MOVE.format(delivery, "fail/B"), {"code": "ABSENT"}).json()

        first, second = failed["orders"]
        told = ("status", "failureCode", "failureReason", "attempts", "onFailure")
        assert [first[key] for key in told] == ["COLLECTED", "ABSENT", "Nobody there", 1, "RETRY"]
        assert [second[key] for key in told] == ["COLLECTED", None, None, 0, "RETURN"]
        api.post(MOVE.format(delivery, "deliver/B"), {})
        first = api.get(DETAIL.format(delivery)).json()["orders"][0]
        assert [first[key] for key in told] == ["DELIVERED", "ABSENT", "Nobody there", 1, "RETRY"]

    def test_counts_a_second_failure_and_tells_its_code(self, api, request_of):
        delivery = request_of("RETRY", moves=UNDER_WAY)

        api.post(MOVE.format(delivery, "fail/B"), {"code": "ABSENT"})
        body = api.post(MOVE.format(delivery, "fail/B"), {"reason": "Dog"}).json()

        (order,) = body["orders"]
        assert (order["status"], order["failureCode"], order["failureReason"], order["attempts"]) == (
            "FAILED", "OTHER", "Dog", 2,
        )  # fmt: skip  # a table
        assert (body["status"], body["route"]["status"]) == ("FAILED", "RETURNING")

    def test_is_simulated_to_the_end(self, api):
        delivery = api.post(REQUEST, with_policies("RETRY", None, external_id="sim-fail-1")).json()["deliveryId"]

        advance()

        body = api.get(DETAIL.format(delivery)).json()
        assert [(order["status"], order["attempts"]) for order in body["orders"]] == [("FAILED", 2), ("DELIVERED", 0)]
        triggers = [(each["trigger"], each["point"]) for each in body["transitions"]][3:]
        assert triggers == [("attempt", "B"), ("deliver", "C"), ("fail", "B"), ("return", None)]


class TestFailByHand:
    @pytest.mark.parametrize(
        ("body", "told"),
        [
            ({}, ("OTHER", "Simulated failure: nobody was there.")),
            ({"code": "CLOSED"}, ("CLOSED", "Place closed")),
            ({"code": "CLOSED", "reason": "Gate"}, ("CLOSED", "Place closed: Gate")),
            ({"code": None, "reason": "Rain"}, ("OTHER", "Rain")),
        ],
    )
    def test_takes_code_and_reason(self, api, request_of, body, told):
        delivery = request_of(None, moves=UNDER_WAY)

        (order,) = api.post(MOVE.format(delivery, "fail/B"), body).json()["orders"]

        assert (order["failureCode"], order["failureReason"]) == told

    def test_refuses_an_unknown_code_and_other_without_a_text(self, api, request_of):
        delivery = request_of(None, moves=UNDER_WAY)

        assert_field_refused(api.post(MOVE.format(delivery, "fail/B"), {"code": "LATE"}), "#/code")
        missing = assert_problem(api.post(MOVE.format(delivery, "fail/B"), {"code": "OTHER"}), 422, "reason_missing")
        assert [error["pointer"] for error in missing["errors"]] == ["#/reason"]
        assert Delivery.objects.get().transitions.count() == 3


class TestLeaveByHand:
    def test_delivers_with_a_photo(self, api, request_of):
        delivery = request_of("LEAVE", moves=UNDER_WAY)

        (order,) = api.post(MOVE.format(delivery, "deliver/B"), {"left": True}).json()["orders"]

        assert (order["status"], order["proof"]["left"], len(order["proof"]["photos"])) == ("DELIVERED", True, 1)

    def test_is_refused_under_another_policy(self, api, request_of):
        delivery = request_of("RETRY", moves=UNDER_WAY)

        response = api.post(MOVE.format(delivery, "deliver/B"), {"left": True})

        assert_problem(response, 422, "leaving_not_allowed")
        assert Delivery.objects.get().status == "COLLECTED"

    def test_false_is_a_delivery_to_a_person(self, api, request_of):
        delivery = request_of("RETRY", moves=UNDER_WAY)

        (order,) = api.post(MOVE.format(delivery, "deliver/B"), {"left": False}).json()["orders"]

        assert (order["status"], order["proof"]["left"]) == ("DELIVERED", False)


class TestReverse:
    def test_has_its_points_the_other_way_round(self, api):
        body = api.post(REQUEST, with_policies(None, None, deliveryMode="REVERSE")).json()

        assert body["route"]["points"] == [
            {"label": "A", "type": "dropoff"}, {"label": "B", "type": "pickup"}, {"label": "C", "type": "pickup"},
        ]  # fmt: skip  # a table

    def test_estimates_the_stops_and_then_a(self, api):
        response = api.post(QUOTE, payload(stops=2, deliveryMode="REVERSE"))

        assert [item.partition("=@")[0] for item in response["Rota-Estimate"].split(", ")] == ["b", "c", "dropoff"]

    def test_is_collected_point_by_point(self, api, request_of):
        delivery = request_of(None, None, None, deliveryMode="REVERSE", moves=["accept"])

        first = api.post(MOVE.format(delivery, "collect/B"), {}).json()
        second = api.post(MOVE.format(delivery, "fail/C"), {"code": "CLOSED"}).json()
        third = api.post(MOVE.format(delivery, "collect/D"), {}).json()
        end = api.post(MOVE.format(delivery, "return"), {}).json()

        statuses = [
            (b["status"], b["route"]["status"], [o["status"] for o in b["orders"]]) for b in (first, second, third, end)
        ]
        assert statuses == [
            ("COLLECTED", "COLLECTED", ["COLLECTED", "ACCEPT", "ACCEPT"]),
            ("COLLECTED", "COLLECTED", ["COLLECTED", "FAILED", "ACCEPT"]),
            ("COLLECTED", "RETURNING", ["COLLECTED", "FAILED", "COLLECTED"]),
            ("DELIVERED", "FINISHED", ["DELIVERED", "FAILED", "DELIVERED"]),
        ]
        assert end["orders"][0]["closedAt"] == end["closedAt"]
        assert end["collectedAt"] == first["collectedAt"]

    @pytest.mark.parametrize("move", ["collect", "collect/D"])
    def test_needs_a_point_that_the_route_has(self, api, request_of, move):
        delivery = request_of(None, None, deliveryMode="REVERSE", moves=["accept"])

        assert_problem(api.post(MOVE.format(delivery, move), {}), 422, "stop_not_found")

    @in_turn(
        ("external_id", "end"),
        [
            ("order", ("DELIVERED", ["DELIVERED", "DELIVERED"])),
            ("sim-fail-1", ("DELIVERED", ["FAILED", "DELIVERED"])),
            ("sim-return-1", ("FAILED", ["FAILED", "FAILED"])),
            ("sim-cancel-late-1", ("DELIVERED", ["DELIVERED", "DELIVERED"])),
            ("sim-nodriver-1", ("FAILED", ["FAILED", "FAILED"])),
        ],
    )
    def test_is_simulated_to_the_end(self, api, external_id, end):
        body = with_policies(None, None, external_id=external_id, deliveryMode="REVERSE")
        delivery = api.post(REQUEST, body).json()["deliveryId"]

        advance()

        body = api.get(DETAIL.format(delivery)).json()
        assert (body["status"], [order["status"] for order in body["orders"]]) == end
        assert body["closedAt"]

    @pytest.mark.parametrize(
        ("key", "value"),
        [("onFailure", "RETRY"), ("onFailure", "LEAVE"), ("proof", {"photo": True}), ("proof", {"pin": True})],
    )
    def test_has_no_policy_and_no_proof_at_its_pickups(self, api, key, value):
        body = payload(stops=2, deliveryMode="REVERSE")
        body["dropoffs"][1][key] = value

        response = api.post(REQUEST, body)

        assert_field_refused(response, f"#/dropoffs/1/{key}")
        assert {error["code"] for error in response.json()["errors"]} == {"not_in_reverse"}

    @pytest.mark.parametrize(("key", "value"), [("onFailure", "RETURN"), ("proof", {"photo": False, "pin": None})])
    def test_takes_the_keys_that_ask_for_nothing_there(self, api, key, value):
        body = payload(stops=1, deliveryMode="REVERSE")
        body["dropoffs"][0][key] = value

        assert api.post(REQUEST, body).status_code == 201


class TestInstruct:
    def test_answers_with_the_delivery(self, api, request_of):
        delivery = request_of("RETRY", moves=(*UNDER_WAY, "fail/B"))

        response = api.post(INSTRUCT.format(delivery, "B"), {"action": "LEAVE", "instructions": "Behind the gate"})

        assert response.status_code == 200
        (order,) = response.json()["orders"]
        assert (order["onFailure"], order["instructions"], order["attempts"]) == ("LEAVE", "Behind the gate", 1)
        assert response["Cancellation-Fee"]

    def test_to_return_fails_the_order(self, api, request_of):
        delivery = request_of("RETRY", moves=(*UNDER_WAY, "fail/b"))

        body = api.post(INSTRUCT.format(delivery, "b"), {"action": "RETURN"}).json()

        (order,) = body["orders"]
        assert (order["status"], order["attempts"], body["route"]["status"]) == ("FAILED", 1, "RETURNING")
        assert order["closedAt"]

    @pytest.mark.parametrize("body", [{}, {"action": None}, {"instructions": ""}, {"instructions": None}])
    def test_needs_one_of_the_two(self, api, request_of, body):
        delivery = request_of("RETRY", moves=(*UNDER_WAY, "fail/B"))

        assert_problem(api.post(INSTRUCT.format(delivery, "B"), body), 422, "invalid_payload")
        assert not StopChange.objects.exists()

    @pytest.mark.parametrize("action", ["retry", "CANCEL", 1])
    def test_names_a_wrong_action(self, api, request_of, action):
        delivery = request_of("RETRY", moves=(*UNDER_WAY, "fail/B"))

        assert_field_refused(api.post(INSTRUCT.format(delivery, "B"), {"action": action}), "#/action")

    def test_has_nothing_to_decide_before_a_failure(self, api, request_of):
        delivery = request_of("RETRY", moves=UNDER_WAY)

        assert_problem(api.post(INSTRUCT.format(delivery, "B"), {"action": "LEAVE"}), 409, "nothing_to_decide")

    def test_is_not_found_at_a_point_that_the_route_does_not_have(self, api, request_of):
        delivery = request_of("RETRY", moves=(*UNDER_WAY, "fail/B"))

        assert_problem(api.post(INSTRUCT.format(delivery, "C"), {"action": "LEAVE"}), 404, "stop_not_found")
        assert_problem(api.post(INSTRUCT.format(UNKNOWN, "B"), {"action": "LEAVE"}), 404, "delivery_not_found")


class TestChangeDropoff:
    def test_answers_with_the_delivery(self, api, request_of):
        delivery = request_of(None)

        response = api.patch(
            DROPOFF.format(delivery, "B"), {"contacts": {"phoneNumber": "+55 11 2222-0000"}, "instructions": "Knock"}
        )

        assert response.status_code == 200
        (order,) = response.json()["orders"]
        assert order["contacts"] == {"name": "Maria", "phoneNumber": "+55 11 2222-0000"}
        assert order["instructions"] == "Knock"

    def test_changes_nothing_of_the_specifications_bodies_and_makes_no_event(self, api, request_of):
        delivery = request_of(None)
        before = json.loads(Delivery.objects.get().events.get().body)

        after = api.patch(DROPOFF.format(delivery, "B"), {"instructions": "Knock"}).json()

        assert {key: after[key] for key in before if key != "orders"} == {
            key: value for key, value in before.items() if key != "orders"
        }
        assert Delivery.objects.get().events.count() == 1

    def test_removes_with_empty_text_and_null(self, api, request_of):
        delivery = request_of(None)
        api.patch(DROPOFF.format(delivery, "B"), {"instructions": "Knock"})

        body = api.patch(DROPOFF.format(delivery, "B"), {"contacts": {"name": None}, "instructions": ""}).json()

        assert (body["orders"][0]["contacts"]["name"], body["orders"][0]["instructions"]) == ("", "")
        again = api.patch(DROPOFF.format(delivery, "B"), {"contacts": None, "instructions": None}).json()
        assert again["orders"][0]["contacts"] == {"name": "", "phoneNumber": "+55 11 97777-0001"}

    @pytest.mark.parametrize(
        "body", [{"address": {}}, {"instructions": "Knock", "externalId": "2"}, {"proof": {}}, {"onFailure": "LEAVE"}]
    )
    def test_of_another_key_is_refused(self, api, request_of, body):
        delivery = request_of(None)

        assert_problem(api.patch(DROPOFF.format(delivery, "B"), body), 409, "route_is_immutable")
        assert not StopChange.objects.exists()

    @pytest.mark.parametrize("key", ["\ud800", "\0", "\udc00\ud800" * 500])
    def test_of_a_key_that_cannot_be_written_is_refused(self, api, request_of, key):
        path, body = DROPOFF.format(request_of(None), "B"), json.dumps({key: 1})

        assert_problem(api.generic("PATCH", path, body, content_type="application/json"), 409, "route_is_immutable")

    @pytest.mark.parametrize(
        ("body", "pointer"),
        [
            ({"instructions": "x" * 501}, "#/instructions"),
            ({"contacts": []}, "#/contacts"),
            ({"contacts": {"name": "x" * 256}}, "#/contacts/name"),
            ({"contacts": {"email": "maria"}}, "#/contacts/email"),
        ],
    )
    def test_names_the_key_that_is_wrong(self, api, request_of, body, pointer):
        assert_field_refused(api.patch(DROPOFF.format(request_of(None), "B"), body), pointer)

    def test_needs_a_key(self, api, request_of):
        assert_problem(api.patch(DROPOFF.format(request_of(None), "B"), {}), 422, "invalid_payload")

    def test_is_refused_once_the_stop_has_ended(self, api, request_of):
        delivery = request_of(None, None, moves=(*UNDER_WAY, "deliver/B"))

        assert_problem(api.patch(DROPOFF.format(delivery, "B"), {"instructions": "x"}), 409, "stop_has_ended")
        assert api.patch(DROPOFF.format(delivery, "C"), {"instructions": "x"}).status_code == 200

    def test_is_not_found_at_a_point_that_the_route_does_not_have(self, api, request_of):
        delivery = request_of(None)

        assert_problem(api.patch(DROPOFF.format(delivery, "C"), {"instructions": "x"}), 404, "stop_not_found")
        assert_problem(api.patch(DROPOFF.format(delivery, "A"), {"instructions": "x"}), 404, "stop_not_found")
        assert_problem(api.patch(DROPOFF.format(UNKNOWN, "B"), {"instructions": "x"}), 404, "delivery_not_found")
