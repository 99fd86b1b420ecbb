"""POST /api/sandbox/deliveries/{id}/deliver/{point} with what a driver brings."""

import pytest

from delivery.models import Delivery, DropoffOptions, ProofPhoto, Stop, StopProof
from tests.delivery.api.calls import REQUEST, assert_field_refused, assert_problem
from tests.delivery.api.sandbox.sandbox_calls import MOVE
from tests.factories import payload

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("photo_folder")]


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


class TestDeliverWithProof:
    def test_is_shown_with_the_delivery(self, deliver, client):
        answer = deliver(receivedBy=" Maria ", pin=pin())

        proof = answer.json()["orders"][0]["proof"]
        assert (answer.status_code, answer.json()["orders"][0]["status"]) == (200, "DELIVERED")
        assert (proof["receivedBy"], proof["pin"]) == ("Maria", pin())
        assert proof["pinConfirmedAt"] is not None
        (photo,) = proof["photos"]
        assert (
            client.get(photo["url"].partition("/api/")[2].join(["/api/", ""])).headers["Content-Type"] == "image/jpeg"
        )

    def test_is_refused_without_the_pin(self, deliver):
        assert_problem(deliver(receivedBy="Maria"), 422, "pin_required")
        assert Stop.objects.get(index=0).status == "COLLECTED"

    def test_is_a_dispatchers_without_a_body(self, deliver):
        answer = deliver()

        assert answer.json()["orders"][0]["status"] == "DELIVERED"
        assert not StopProof.objects.exists()
        assert not ProofPhoto.objects.exists()

    def test_is_refused_for_a_point_that_the_route_does_not_have(self, deliver):
        assert_problem(deliver("D", pin="1234"), 422, "stop_not_found")

    def test_names_the_field_that_is_wrong(self, deliver):
        names = ["x" * 121, ["x"], "\0"]

        for name, value in [("pin", 1234), ("pin", "1" * 11), *(("receivedBy", name) for name in names)]:
            assert_field_refused(deliver(**{name: value}), f"#/{name}")
        assert Stop.objects.get(index=0).status == "COLLECTED"
