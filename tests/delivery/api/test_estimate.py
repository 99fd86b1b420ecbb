"""Rota-Estimate of a quote and a request.

By hand: a motorcycle takes 0.1872 s for a metre of the straight line (road factor 1.3, 25 km/h), so from A over B and C
to D 225 s, 426 s and 607 s; 4 min at A, 3 min at each drop-off. Without a driver nearby two thirds of 15 km count.
"""

from datetime import timedelta

import pytest

from delivery.actions import arrivals, deliveries
from delivery.geo.distance import away_from
from delivery.models import ArrivalEstimate, Delivery, VehicleType
from tests.delivery.api.calls import QUOTE, REQUEST
from tests.delivery.geo.routing_server import osrm_answer
from tests.factories import BY, PICKUP, DeliveryFactory, DriverFactory, TokenFactory, payload

NOBODY = {"pickup": 1872, "b": 2337, "c": 2943, "d": 3730}
AT_1000_M = {"pickup": 187, "b": 652, "c": 1259, "d": 2045}


def seconds_of(response, clock):
    """What the header says, as seconds from now."""
    parts = [part.split("=@") for part in response["Rota-Estimate"].split(", ")]
    return {key: int(moment) - int(clock.now.timestamp()) for key, moment in parts}


def near_driver(**values):
    return DriverFactory.create(at_point=away_from(PICKUP, metres=1000, bearing=90), **values)


@pytest.mark.django_db
class TestEstimate:
    @pytest.mark.parametrize(
        ("body", "keys"), [({}, "bcd"), ({"stops": 1}, "b"), ({"stops": 1, "deliveryMode": "RETURN"}, "b")]
    )
    def test_has_the_pickup_and_each_dropoff(self, api, clock, body, keys):
        answers = [api.post(path, payload(**body)) for path in (QUOTE, REQUEST)]

        expected = {key: NOBODY[key] for key in ("pickup", *keys)}
        assert [seconds_of(answer, clock) for answer in answers] == [expected, expected]

    def test_begins_where_the_nearest_free_driver_was_last_seen(self, api, clock):
        near_driver()
        DriverFactory.create(at_point=away_from(PICKUP, metres=4000, bearing=0))

        assert [seconds_of(api.post(path, payload()), clock) for path in (QUOTE, REQUEST)] == [AT_1000_M, AT_1000_M]

    @pytest.mark.parametrize(("away", "pickup"), [(1600, 300), (4400, 824), (14_900, 2789), (15_100, 1872)])
    def test_looks_for_a_driver_within_the_dispatch_radius(self, api, clock, away, pickup):
        DriverFactory.create(at_point=away_from(PICKUP, metres=away, bearing=45))

        assert seconds_of(api.post(QUOTE, payload()), clock)["pickup"] == pickup

    @pytest.mark.parametrize(
        "values",
        [{"on_duty": False}, {"active": False}, {"environment": "sandbox"}, {"vehicle_type": VehicleType.CAR}],
        ids=str,
    )
    def test_leaves_out_drivers_who_could_not_accept(self, api, clock, values):
        near_driver(**values)

        assert seconds_of(api.post(QUOTE, payload()), clock) == NOBODY

    def test_leaves_out_a_driver_with_an_open_route(self, api, clock):
        DeliveryFactory.create(accepted=True, driver=near_driver())

        assert seconds_of(api.post(QUOTE, payload()), clock) == NOBODY

    def test_leaves_out_the_simulated_drivers_of_another_account(self, client_of, token, clock):
        sandbox, other = TokenFactory.create(sandbox=True), TokenFactory.create(sandbox=True)
        near_driver(environment="sandbox", simulated_for=other.integrator)

        assert seconds_of(client_of(sandbox).post(QUOTE, payload()), clock) == NOBODY
        assert seconds_of(client_of(other).post(QUOTE, payload()), clock) == AT_1000_M

    def test_is_that_of_the_quote_for_a_request_with_its_id(self, api, clock):
        driver = near_driver()
        quote_id = api.post(QUOTE, payload())["Quote-Id"]
        clock.forward(60)
        driver.delete()

        response = api.post(REQUEST, payload(), headers={"Quote-Id": quote_id})

        assert seconds_of(response, clock) == AT_1000_M

    def test_is_in_the_first_answer_under_an_idempotency_key(self, api, clock):
        first, replayed = (api.post(REQUEST, payload(), headers={"Idempotency-Key": "a"}) for _number in range(2))

        assert seconds_of(first, clock) == NOBODY
        assert first["Content-Type"] == "application/json"
        assert "Rota-Estimate" not in replayed

    def test_has_the_times_of_the_engine_that_is_asked_once_for_price_and_estimate(
        self, api, clock, settings, routing_server
    ):
        settings.ROUTING_URL = routing_server.url
        routing_server.answer = osrm_answer((4000, 100), (5000, 200), (5000, 300))

        response = api.post(QUOTE, payload())

        # 1.4 is the factor of a motorcycle.
        assert seconds_of(response, clock) == {"pickup": 1872, "b": 2252, "c": 2712, "d": 3312}
        assert len(routing_server.paths) == 1

    def test_agrees_with_the_arrival_times_of_a_driver_at_that_place(self, api, clock, token):
        driver = near_driver()
        told = seconds_of(api.post(REQUEST, payload()), clock)
        deliveries.accept(delivery=Delivery.objects.get(), driver=driver, by=BY, at=clock.now)

        arrivals.renew(at=clock.now)

        expected = ArrivalEstimate.objects.order_by("stop__index").values_list("arrives_at", flat=True)
        differences = [at - clock.now - timedelta(seconds=told[key]) for key, at in zip("bcd", expected, strict=True)]
        assert max(map(abs, differences)) < timedelta(seconds=1)
