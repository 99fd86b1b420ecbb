"""Moves of a sandbox delivery on its page."""

import re
from datetime import timedelta

import pytest
from django.urls import reverse
from django.utils import timezone

from delivery import lifecycle
from delivery.models import Delivery, DriverPosition, Simulation
from delivery.sandbox import by_hand
from tests.cases import in_turn
from tests.delivery.in_progress import in_progress
from tests.delivery.simulated import advance, request, statuses
from tests.factories import DeliveryFactory, TokenFactory
from tests.panel.conftest import ROLES

pytestmark = pytest.mark.django_db

WAITS = "Nothing happens by itself: the delivery waits for your moves."


@pytest.fixture
def token(shop):
    return TokenFactory.create(integrator=shop.integrator, sandbox=True)


def page_of(delivery):
    return reverse("panel:delivery", args=[delivery.integrator_id, delivery.environment, delivery.pk])


def move_of(delivery, move):
    return reverse("panel:sandbox_move", args=[delivery.integrator_id, delivery.environment, delivery.pk, move])


def text_of(client, delivery, **headers):
    return re.sub(r"\s+", " ", client.get(page_of(delivery), **headers).content.decode())


def moves_of(client, delivery):
    """The moves that the page has forms for, with their points."""
    forms = re.findall(r"<form[^>]*/sandbox/(\w+)/[^>]*>(.*?)</form>", text_of(client, delivery), re.DOTALL)
    points = [re.search(r'name="point" value="(\w)"', form) for _move, form in forms]
    return [f"{move} {point[1]}" if point else move for (move, _form), point in zip(forms, points, strict=True)]


class TestThePageOfASandboxDelivery:
    @pytest.mark.parametrize("route_status", lifecycle.IN_PROGRESS)
    def test_offers_the_moves_possible_now(self, member, token, route_status):
        delivery = in_progress(route_status, token=token, stops=2)

        offered = moves_of(member, delivery)

        assert {move.partition(" ")[0] for move in offered} == set(by_hand.allowed(delivery))
        assert {move for move in offered if " " in move} <= {"deliver B", "fail B", "deliver C", "fail C"}
        assert WAITS in text_of(member, delivery)

    def test_labels_the_buttons(self, member, token):
        offered = text_of(member, DeliveryFactory.create(token=token))
        accepted = text_of(member, DeliveryFactory.create(token=token, accepted=True))

        labels = [
            re.findall(r'<button class="button (?:prime|danger)"> (.*?) </button>', text)
            for text in (offered, accepted)
        ]
        assert labels == [["Accept", "Let the offer expire"], ["Collect"]]

    @in_turn(
        ("external_id", "after", "text"),
        [
            ("order-1", 1, "The simulated driver accepts in about 9 s."),
            ("order-1", 22, "The simulated driver collects in about 18 s."),
            ("order-1", 60, "The simulated driver delivers B in about 20 s."),
            ("sim-fail-1", 60, "The simulated driver fails to deliver B in about 20 s."),
            ("sim-return-1", 130, "The simulated driver returns to A in about 20 s."),
            ("sim-nodriver-1", 5, "No driver accepts, and the offer expires in about 10 s."),
            (
                "sim-cancel-late-1",
                60,
                "The simulated driver waits for a cancellation. Without one every drop-off fails in about 1780 s.",
            ),
            ("sim-manual-1", 60, WAITS),
        ],
    )
    def test_says_what_happens_next(self, member, token, external_id, after, text, monkeypatch):
        start = timezone.now()
        delivery = request(external_id, at=start, token=token)
        advance(until=start + timedelta(seconds=after))
        monkeypatch.setattr(timezone, "now", lambda: start + timedelta(seconds=after))

        assert text in text_of(member, delivery)

    @pytest.mark.parametrize(
        ("external_id", "after", "text"),
        [
            ("sim-fail-1", 30, "The simulated driver fails to collect at B in about 20 s."),
            ("order-1", 100, "The simulated driver brings everything to A in about 20 s."),
            ("sim-cancel-late-1", 100, "Without one it all is at A in about 1790 s."),
        ],
    )
    def test_says_what_happens_next_on_a_route_to_a(self, member, token, external_id, after, text, monkeypatch):
        start = timezone.now()
        delivery = request(external_id, at=start, token=token, mode=lifecycle.Mode.REVERSE)
        advance(until=start + timedelta(seconds=after))
        monkeypatch.setattr(timezone, "now", lambda: start + timedelta(seconds=after))

        assert text in text_of(member, delivery)

    def test_shows_the_simulators_texts_in_the_readers_language(self, member, token):
        delivery = request("sim-fail-1", at=timezone.now() - timedelta(hours=1), token=token)
        advance()

        english, portuguese = text_of(member, delivery), text_of(member, delivery, HTTP_ACCEPT_LANGUAGE="pt-BR")

        assert "Simulated driver" in english
        assert english.count("Simulated failure: nobody was there.") == 2  # of the point, and in the history
        assert "Entregador simulado" in portuguese
        assert portuguese.count("Falha simulada: não havia ninguém no local.") == 2
        assert "Simulated" not in portuguese

    def test_has_no_moves_once_the_delivery_has_ended(self, member, token):
        delivery = request("sim-nodriver-1", at=timezone.now() - timedelta(minutes=1), token=token)
        advance()

        assert 'id="sandbox"' not in text_of(member, delivery)
        assert moves_of(member, delivery) == []

    def test_of_a_live_delivery_has_none(self, member, shop):
        assert moves_of(member, shop.delivery) == []
        assert WAITS not in text_of(member, shop.delivery)


class TestMove:
    def test_leads_back_to_the_page_and_ends_the_simulation(self, member, token):
        delivery = request(at=timezone.now(), token=token)

        response = member.post(move_of(delivery, "accept"), follow=True)

        assert response.redirect_chain == [(page_of(delivery), 302)]
        assert "Done. The simulated driver now waits for your moves." in response.content.decode()
        assert delivery.transitions.get(trigger="accept").by == "user member"
        assert not Simulation.objects.exists()

    def test_names_a_point(self, member, token):
        delivery = DeliveryFactory.create(token=token, stops=2, collected=True)

        member.post(move_of(delivery, "deliver"), {"point": "C"})
        member.post(move_of(delivery, "fail"), {"point": "B"})
        member.post(move_of(delivery, "return"))

        assert statuses(delivery)[-3:] == ["COLLECTED", "COLLECTED", "DELIVERED"]

    @pytest.mark.parametrize(
        ("traits", "move"), [({}, "expire"), ({"stops": 1, "collected": True}, "deliver")], ids=["expire", "deliver"]
    )
    def test_that_ends_the_delivery_says_so(self, member, token, traits, move):
        delivery = DeliveryFactory.create(token=token, **traits)

        content = member.post(move_of(delivery, move), {"point": "B"}, follow=True).content.decode()

        assert "Done. The delivery has ended." in content
        assert "now waits for your moves" not in content

    def test_that_fails_a_point_takes_a_reason_of_the_list_with_details(self, member, token):
        delivery = DeliveryFactory.create(token=token, stops=2, collected=True)
        form = re.search(r'<form[^>]*/fail/?"[^>]*>.*?</form>', text_of(member, delivery))

        member.post(move_of(delivery, "fail"), {"point": "B", "code": "DAMAGED", "reason": "wet"})

        assert form
        assert 'name="reason"' in form[0]
        assert "Goods damaged" in form[0]
        assert delivery.stops.get(index=0).failure == "Goods damaged: wet"

    def test_sets_the_position(self, member, token):
        delivery = DeliveryFactory.create(token=token, accepted=True)

        member.post(move_of(delivery, "position"), {"position": "-23.5,-46.6"})

        assert DriverPosition.objects.get().point == (-23.5, -46.6)

    def test_that_is_refused_says_why(self, member, token):
        delivery = DeliveryFactory.create(token=token)

        response = member.post(move_of(delivery, "collect"), follow=True)

        assert "Cannot collect while the route is AVAILABLE" in response.content.decode()
        assert statuses(delivery) == ["PENDING"]

    @pytest.mark.parametrize("move", ["cancel", "request", "x"])
    def test_of_another_name_is_not_found(self, member, token, move):
        delivery = DeliveryFactory.create(token=token)

        assert member.post(move_of(delivery, move)).status_code == 404
        assert statuses(delivery) == ["PENDING"]

    @pytest.mark.parametrize("environment", ["live", "sandbox"])
    def test_of_a_live_delivery_is_not_found_at_the_address_of_either_environment(self, member, shop, environment):
        address = move_of(shop.delivery, "accept").replace("/live/", f"/{environment}/")

        assert member.post(address).status_code == 404
        assert statuses(shop.delivery) == ["PENDING"]

    @in_turn(
        ("role", "status"),
        dict(zip(ROLES, (302, 404, 404, 302, 302, 404, 302), strict=True)).items(),
    )
    def test_is_for_members_and_account_staff(self, as_role, token, role, status):
        delivery = DeliveryFactory.create(token=token)

        response = as_role(role).post(move_of(delivery, "accept"))

        moved = status == 302 and role != "anonymous"
        assert response.status_code == status
        assert Delivery.objects.get(pk=delivery.pk).status == ("ACCEPT" if moved else "PENDING")
