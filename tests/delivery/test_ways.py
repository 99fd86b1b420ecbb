"""Ways by road, from an engine on loopback."""

import pytest

from delivery import ways
from delivery.geo.distance import Point
from delivery.lifecycle import Mode
from tests.delivery.geo.routing_server import osrm_answer
from tests.factories import DeliveryFactory, validated_payload

pytestmark = pytest.mark.django_db


class TestWay:
    def test_is_asked_for_once_from_a_over_the_stops_and_back(self, routing_server, settings):
        delivery = DeliveryFactory.create(payload=validated_payload(stops=2, mode=Mode.RETURN))
        settings.ROUTING_URL, settings.ROUTING_ENGINE = routing_server.url, "osrm"
        routing_server.status = 503
        failed = ways.of(delivery)
        routing_server.status, routing_server.answer = 200, osrm_answer(*[(5000, 600)] * 3, line="_p~iF~ps|U")

        first, second = ways.of(delivery), ways.of(delivery)

        assert failed == []
        assert first == second == [Point(3.85, -12.02)]
        assert len(routing_server.paths) == 2
        places = routing_server.paths[1].split("/")[-1].split("?")[0].split(";")
        assert len(places) == 4
        assert places[0] == places[-1]

    def test_is_none_where_the_answer_cannot_be(self, routing_server, settings):
        settings.ROUTING_URL, settings.ROUTING_ENGINE = routing_server.url, "osrm"
        routing_server.answer = osrm_answer((5000, 600), beside=2_690_000.5, line="_p~iF~ps|U")

        assert ways.of(DeliveryFactory.create()) == []

    def test_is_none_without_a_routing_engine(self):
        assert ways.of(DeliveryFactory.create()) == []
