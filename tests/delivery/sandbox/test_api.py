"""The API with a test token: requests, the speed of simulated drivers, moves by hand, and what is refused."""

from datetime import timedelta
from urllib.parse import urlsplit

import pytest
from django.utils import timezone

from delivery.actions import deliveries
from delivery.models import Delivery, DriverPosition, DropoffOptions, ProofPhoto, Simulation, Stop, StopProof
from tests.cases import in_turn
from tests.delivery.api.calls import (
    DETAIL,
    LOCATION,
    REQUEST,
    UNKNOWN,
    assert_field_refused,
    assert_nothing_written,
    assert_problem,
    send,
)
from tests.delivery.simulated import advance, history, statuses
from tests.factories import BY, DeliveryFactory, TariffFactory, TokenFactory, payload

pytestmark = pytest.mark.django_db
MOVE = "/api/sandbox/deliveries/{}/{}"
MOVES = ("accept", "collect", "deliver/B", "fail/B", "return", "position", "expire")


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

    def test_over_the_most_that_are_simulated_at_once_is_refused(self, api, client_of, token, monkeypatch):
        monkeypatch.setattr("common.simulation.rows.MOST", 2)
        later = (timezone.now() + timedelta(days=2)).isoformat()
        assert api.post(REQUEST, {**named("later"), "pickupReadyAt": later}).status_code == 201  # nothing moves it yet
        other, live = TokenFactory.create(sandbox=True), TokenFactory.create(integrator=token.integrator)
        for _number in range(2):
            request(api)

        refused = api.post(REQUEST, named("order-3"))

        assert_problem(refused, 429, "too_many_simulations")
        assert refused.headers["Retry-After"] == "60"
        assert Delivery.objects.count() == 3
        answers = [
            api.post(REQUEST, named("sim-manual-1")),
            *[client_of(each).post(REQUEST, named("a")) for each in (other, live)],
        ]
        assert [answer.status_code for answer in answers] == [201] * 3


class TestAMisspeltOutcome:
    KNOWN = "sim-delivered- sim-fail- sim-nodriver- sim-return- sim-cancel-late- sim-stale- sim-manual- sim-closed-"

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


class TestMoves:
    def test_lead_through_a_whole_delivery(self, api, token):
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
        assert {*delivery.transitions.values_list("by", flat=True)} == {f"token {token.hint}"}

    def test_of_accept_show_a_driver_near_a(self, api, delivery):
        api.post(MOVE.format(delivery.pk, "accept"))

        located = api.get(LOCATION.format(delivery.pk)).json()
        assert located["tracking"]["available"] is True
        assert DriverPosition.objects.count() == 1

    @in_turn(
        ("body", "reason"),
        [
            (None, "Simulated failure: nobody was there."),
            ({}, "Simulated failure: nobody was there."),
            ({"reason": None}, "Simulated failure: nobody was there."),
            ({"reason": "  "}, "Simulated failure: nobody was there."),
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

    def test_of_expire_need_no_deadline(self, api, delivery):
        response = api.post(MOVE.format(delivery.pk, "expire"))

        assert (response.json()["status"], response.json()["route"]["status"]) == ("FAILED", "EXPIRED")
        assert delivery.offer_expires_at > timezone.now() + timedelta(minutes=50)


@pytest.fixture
def collected(api):
    """A collected delivery whose first drop-off asks for photo and PIN."""
    body = payload(stops=2)
    body["dropoffs"][0] |= {"externalId": "sim-manual-1", "proof": {"photo": True, "pin": True}}
    created = api.post(REQUEST, body).json()
    for move in ("accept", "collect"):
        assert api.post(MOVE.format(created["deliveryId"], move)).status_code == 200
    return Delivery.objects.get(pk=created["deliveryId"])


@pytest.fixture
def deliver(api, collected):
    def call(point="B", **body):
        return api.post(MOVE.format(collected.pk, f"deliver/{point}"), body or None)

    return call


def pin():
    return DropoffOptions.objects.get().pin


@pytest.mark.usefixtures("photo_folder")
class TestDeliverWithProof:
    def test_is_shown_with_the_delivery(self, deliver, client):
        answer = deliver(receivedBy=" Maria ", pin=pin())

        proof = answer.json()["orders"][0]["proof"]
        assert (answer.status_code, answer.json()["orders"][0]["status"]) == (200, "DELIVERED")
        assert (proof["receivedBy"], proof["pin"]) == ("Maria", pin())
        confirmed_at = StopProof.objects.get().pin_confirmed_at
        assert confirmed_at is not None
        assert proof["pinConfirmedAt"] == timezone.localtime(confirmed_at).isoformat()
        (photo,) = proof["photos"]
        assert client.get(urlsplit(photo["url"]).path).headers["Content-Type"] == "image/jpeg"

    def test_is_a_dispatchers_without_a_body(self, deliver):
        answer = deliver()

        assert answer.json()["orders"][0]["status"] == "DELIVERED"
        assert not StopProof.objects.exists()
        assert not ProofPhoto.objects.exists()

    def test_names_the_field_that_is_wrong(self, deliver):
        names = ["x" * 121, ["x"], "\0"]

        for name, value in [("pin", 1234), ("pin", "1" * 11), *(("receivedBy", name) for name in names)]:
            assert_field_refused(deliver(**{name: value}), f"#/{name}")
        assert Stop.objects.get(index=0).status == "COLLECTED"


class TestRefusedMoves:
    @in_turn(
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

    @pytest.mark.parametrize(
        ("traits", "possible"),
        [
            ({}, "accept, cancel"),
            ({"accepted": True}, "collect, cancel"),
            ({"collected": True}, "deliver, fail, cancel"),
        ],
    )
    def test_name_the_moves_that_integrators_can_make(self, api, token, traits, possible):
        delivery = DeliveryFactory.create(token=token, **traits)

        problem = send(api, MOVE.format(delivery.pk, "return"), {}).json()

        assert problem["detail"] == (
            f"Cannot return while the route is {delivery.route_status}. Possible now: {possible}."
        )

    def test_of_a_closed_route_say_that_it_is_closed(self, api, token):
        delivery = DeliveryFactory.create(token=token)
        deliveries.cancel(delivery=delivery, reason="", by=BY, at=timezone.now())

        problem = send(api, MOVE.format(delivery.pk, "return"), {}).json()

        assert problem["detail"] == "Cannot return while the route is CANCELLED: it is closed."

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
        ("latitude", "longitude", "status", "code"),
        [
            (-46.65, -23.56, 422, "swapped_coordinates"),
            (40.7, -74.0, 400, "outside_service_area"),
            (1, 1, 400, "outside_service_area"),
        ],
    )
    def test_name_a_position_outside_the_service_area(self, api, token, latitude, longitude, status, code):
        delivery = DeliveryFactory.create(token=token, collected=True)

        response = api.post(MOVE.format(delivery.pk, "position"), {"latitude": latitude, "longitude": longitude})

        problem = assert_problem(response, status, code)
        assert [error["pointer"] for error in problem.get("errors", [])] == ["#"] * (status == 422)
        assert f"({float(latitude)}, {float(longitude)})" in problem["detail"]
        assert DriverPosition.objects.count() == 0

    @pytest.mark.parametrize("move", ["accept", "fail/B"])
    def test_read_json_objects_only(self, api, delivery, move):
        assert_problem(send(api, MOVE.format(delivery.pk, move), "[1]"), 422, "malformed_body")
        assert statuses(delivery) == ["PENDING"]

    def test_of_another_name_have_no_path(self, api, delivery):
        for move in ("cancel", "request", "x", "deliver", "accept/B"):
            assert_problem(api.post(MOVE.format(delivery.pk, move)), 404, "no_such_path")


class TestWhatIsNotFound:
    def test_is_everything_but_the_accounts_deliveries_of_the_sandbox(self, api, client_of, token):
        """For a live token even its own, before the body is read."""
        live = TokenFactory.create(integrator=token.integrator)
        own, of_sandbox = DeliveryFactory.create(token=live), DeliveryFactory.create(token=token)
        foreign = DeliveryFactory.create(token=TokenFactory.create(sandbox=True))
        cases = [
            (client_of(live), (own.pk, of_sandbox.pk), "sandbox_only"),
            (api, (own.pk, foreign.pk, UNKNOWN, "x"), "delivery_not_found"),
        ]

        for client, ids, code in cases:
            answers = [send(client, MOVE.format(one, move), "{") for one in ids for move in MOVES]
            bodies = [assert_problem(answer, 404, code) for answer in answers]
            assert len({body["detail"] for body in bodies}) == 1
        assert statuses(own) == statuses(of_sandbox) == statuses(foreign) == ["PENDING"]
