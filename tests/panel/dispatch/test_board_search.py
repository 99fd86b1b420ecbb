"""The search of the dispatch board."""

from datetime import timedelta

import pytest
from django.db import connection
from django.urls import reverse
from django.utils import timezone

from delivery.actions import deliveries
from delivery.models import Delivery, Driver
from delivery.payload import Place
from panel.dispatch import board
from tests.cases import in_turn
from tests.factories import BY, PICKUP, DeliveryFactory, IntegratorFactory, TokenFactory, validated_payload

SEARCH, CARDS, ROUTES = (reverse(f"panel:board_{name}") for name in ("search", "cards", "routes"))


def found(client, text):
    return client.get(SEARCH, {"q": text}).json()["ids"]


class TestSearch:
    @pytest.fixture
    def delivery(self, shop):
        """A route that each search of the tests finds, beside one that none finds."""
        token = TokenFactory.create(integrator=IntegratorFactory.create(name="Padaria Sol"))
        pickup = Place(point=PICKUP, address={"street": "Rua São Bento", "zipcode": "01310200"}, contact_name="Loja")
        dropoff = Place(
            point=PICKUP,
            address={"street": "Rua Augusta", "district": "Consolação"},
            contact_name="João Araújo",
            contact_phone="+55 (11) 97777-1234",
            external_id="PED-77",
        )
        made = DeliveryFactory.create(
            token=token, payload=validated_payload(pickup=pickup, dropoffs=[dropoff]), accepted=True
        )
        Driver.objects.filter(pk=made.driver_id).update(name="Zoé Reis", phone="+55 11 98888-4321")
        return made

    @in_turn(
        "text",
        [
            "sao bento", "SÃO BENTO", "augusta", "consolacao", "joao", "araújo augusta", "7777-1234", "977771234",
            "ped-77", "padaria", "zoe", "88884321", "01310200", " augusta  ",
        ],
    )  # fmt: skip  # a list of texts
    def test_finds_addresses_people_phones_and_orders(self, dispatcher, delivery, text):
        assert found(dispatcher, text) == [str(delivery.pk)]

    @pytest.mark.parametrize("text", ["nobody", "augusta nobody", "%", "_"])
    def test_finds_nothing_else(self, dispatcher, delivery, text):
        assert found(dispatcher, text) == []

    def test_finds_no_name_of_a_field(self, dispatcher, delivery):
        assert found(dispatcher, "district") == []

    def test_does_not_join_the_end_of_a_text_to_the_beginning_of_the_next(self, dispatcher, delivery):
        assert found(dispatcher, "augustaconsolacao") == []

    def test_needs_one_query_for_any_number_of_routes(self, dispatcher, delivery, django_assert_num_queries):
        DeliveryFactory.create_batch(3, token=delivery.token)

        with django_assert_num_queries(6):  # session, user, 2 of permissions; the search, in progress and ended
            assert found(dispatcher, "padaria rua") == [str(delivery.pk)]

    def test_finds_those_that_are_due_first_where_there_are_too_many(self, dispatcher, delivery, monkeypatch):
        monkeypatch.setattr(board, "_MOST_FOUND", 1)
        now = timezone.now()
        first, _last = (
            DeliveryFactory.create(token=delivery.token, at=now + timedelta(hours=hours)) for hours in (-1, 1)
        )

        assert found(dispatcher, "padaria") == [str(first.pk)]

    def test_is_made_among_the_routes_that_are_read(self, dispatcher, delivery):
        other = DeliveryFactory.create(token=delivery.token)
        ids = f"{delivery.pk},{other.pk}"

        assert dispatcher.get(CARDS, {"ids": ids, "q": "zoe"}).json()["found"] == [str(delivery.pk)]
        assert dispatcher.get(CARDS, {"ids": str(other.pk), "q": "zoe"}).json()["found"] == []
        assert dispatcher.get(CARDS, {"ids": ids}).json()["found"] is None
        assert dispatcher.get(ROUTES, {"q": "zoe"}).json()["found"] == [str(delivery.pk)]


class TestEnded:
    @pytest.fixture
    def delivery(self, dispatcher):
        dropoff = Place(point=PICKUP, address={}, external_id="PED-77")
        made = DeliveryFactory.create(payload=validated_payload(dropoffs=[dropoff]))
        deliveries.cancel(delivery=made, reason="", by=BY, at=timezone.now())
        DeliveryFactory.create()
        return Delivery.objects.get(pk=made.pk)

    @pytest.mark.parametrize(
        "text", [str, lambda key: str(key)[-6:], lambda key: f"…{str(key)[-8:]}", lambda _: "PED-77"]
    )
    def test_are_found_by_order_and_id(self, dispatcher, delivery, text):
        ended = dispatcher.get(SEARCH, {"q": text(delivery.pk)}).json()["ended"]

        assert ended.count("data-row") == 1
        assert reverse("panel:any_delivery", args=[delivery.pk]) in ended

    @pytest.mark.parametrize(
        "query", [{"q": "PED"}, {"q": "abcdef"}, {"q": ""}, {"q": "PED-77", "environment": "sandbox"}]
    )
    def test_are_not_found_by_anything_else(self, dispatcher, delivery, query):
        assert dispatcher.get(SEARCH, query).json()["ended"] == ""


@pytest.mark.django_db
def test_ended_deliveries_are_found_by_their_order_first():
    """Not the orders of all deliveries, the newest first, until ten have it."""
    DeliveryFactory.create_batch(40)  # with few rows other plans are as cheap
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE delivery_stop, delivery_delivery")
        cursor.execute("SET LOCAL enable_seqscan = off")

    plan = board.ended("live", "order-1").explain()

    assert " stop_external_id " in plan
    assert "Semi Join" not in plan
