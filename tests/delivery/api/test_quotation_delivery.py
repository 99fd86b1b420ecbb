import pytest

from delivery.geo.distance import Point
from delivery.models import Delivery, Tariff, VehicleType
from tests.cases import in_turn
from tests.delivery.api.calls import QUOTE, REQUEST, assert_nothing_written, assert_problem, changed
from tests.delivery.geo.routing_server import encoded, osrm_answer, valhalla_answer
from tests.factories import PICKUP, PickupPointFactory, TariffFactory, TokenFactory, payload

# Kilometres by hand: geodesic metres (1203.15, 2276.13, 3240.43, and 2211.91 back) by 1.3, each leg to two places,
# are 1.56, 2.96, 4.21 and 2.88 back from D. The tariff: 10.00, 2 km free, 2.00 a km, 5.00 each further drop-off.
PRICES = [
    (1, "DEFAULT", 1.56, 12.00),  # 10.00 is under the minimum of 12.00
    (2, "DEFAULT", 4.52, 20.04),  # 10.00 + (4.52 - 2) * 2.00 + 5.00
    (3, "DEFAULT", 8.73, 33.46),  # 10.00 + (8.73 - 2) * 2.00 + 10.00
    (1, "RETURN", 3.12, 12.00),  # 10.00 + 1.56 * 0.5 * 2.00 is still under the minimum
    (3, "RETURN", 11.61, 36.34),  # 33.46 + 2.88 * 0.5 * 2.00
]


@pytest.mark.django_db
class TestBody:
    def test_is_refused_as_by_request_delivery(self, api):
        body = {
            "vehicleType": "TRUCK",
            "dropoffs": [{"contacts": [], "orderCost": "x"}],
            "pickup": {"address": {"latitude": 1}},
        }

        refused, expected = (api.post(path, body).json()["errors"] for path in (QUOTE, REQUEST))

        assert refused == expected
        assert len(refused) > 3


class TestQuote:
    @in_turn(("stops", "mode", "km", "price"), PRICES)
    def test_answers_the_price_of_the_request_and_nothing_else(self, api, stops, mode, km, price):
        body = payload(stops=stops, deliveryMode=mode)

        response = api.post(QUOTE, body)

        assert_nothing_written()
        requested = api.post(REQUEST, body).json()
        assert (response.status_code, response["Content-Type"]) == (200, "application/json")
        assert response.json() == {"shippingValue": price}
        assert requested["shippingValue"] == requested["route"]["fixedValue"] == price
        assert requested["route"]["totalDistanceKm"] == km

    @pytest.mark.parametrize("engine", ["osrm", "valhalla"])
    def test_is_without_a_routing_engine_whose_answer_cannot_be(self, api, settings, routing_server, engine):
        """As of a map of another region, on which all points are at one place."""
        settings.ROUTING_ENGINE, settings.ROUTING_URL = engine, routing_server.url
        elsewhere = encoded(Point(50, 8), Point(50, 8))
        routing_server.answer = (
            osrm_answer((0, 0), beside=2_690_000.5) if engine == "osrm" else valhalla_answer((0, 0, elsewhere))
        )
        body = payload(stops=1)
        body["dropoffs"][0]["address"] |= {"latitude": -23.6914, "longitude": -46.5646}

        requested = api.post(REQUEST, body).json()

        assert len(routing_server.paths) == 1
        assert requested["route"]["totalDistanceKm"] == 22.29  # 17147 m in a straight line, by 1.3
        assert api.post(QUOTE, body).json() == {"shippingValue": 50.58}  # 10.00 + (22.29 - 2) * 2.00

    def test_does_not_check_the_pickup(self, api):
        body = changed("#/pickup/address/latitude", PICKUP.latitude - 0.02)

        assert api.post(QUOTE, body).status_code == 200

    def test_measures_to_the_coordinates_where_both_are_given(self, api):
        body = changed("#/dropoffs/2/coordinates", {"latitude": -23.5629, "longitude": -46.6689})

        assert api.post(QUOTE, body).json() == {"shippingValue": 25.04}  # 33.46 - 4.21 * 2.00: D is where C is

    def test_depends_on_the_order_of_the_dropoffs(self, api):
        body = payload(stops=2)
        body["dropoffs"].reverse()

        # 1.74 km to the second, 2.96 km back to the first: 10.00 + (4.70 - 2) * 2.00 + 5.00
        assert api.post(QUOTE, body).json() == {"shippingValue": 20.40}


@pytest.mark.django_db
class TestTariff:
    def test_must_be_active(self, api):
        Tariff.objects.update(active=False)

        for path in (QUOTE, REQUEST):
            assert_problem(api.post(path, payload()), 400, "price_unavailable")
        assert_nothing_written()

    def test_is_the_vehicles_own(self, api):
        TariffFactory.create(vehicle_type=VehicleType.CAR, base_fare=50)

        assert api.post(QUOTE, payload(vehicleType="CAR")).json() == {"shippingValue": 73.46}
        assert api.post(QUOTE, payload()).json() == {"shippingValue": 33.46}

    @pytest.mark.parametrize(
        ("is_own", "active", "price"), [(True, True, 24.46), (True, False, 33.46), (False, True, 33.46)]
    )
    def test_of_the_integrator_takes_precedence_while_it_is_active(self, api, token, is_own, active, price):
        owner = token.integrator if is_own else TokenFactory.create().integrator
        TariffFactory.create(integrator=owner, base_fare=1, minimum_fare=0, active=active)

        assert api.post(QUOTE, payload()).json() == {"shippingValue": price}
        assert api.post(REQUEST, payload()).json()["shippingValue"] == price


@pytest.mark.django_db
class TestMaximum:
    @pytest.mark.parametrize(
        ("mode", "limit", "refused"),
        [("DEFAULT", "8.73", False), ("DEFAULT", "8.72", True), ("RETURN", "11.61", False), ("RETURN", "11.60", True)],
    )
    def test_of_the_distance_counts_every_leg_and_the_way_back(self, api, mode, limit, refused):
        Tariff.objects.update(maximum_km=limit)

        for path in (QUOTE, REQUEST):
            response = api.post(path, payload(deliveryMode=mode))

            assert (response.status_code == 400) is refused
        assert Delivery.objects.exists() is not refused

    @pytest.mark.parametrize(
        ("packages", "detail"),
        [
            ([{"weight": 10, "quantity": 2}, {"weight": 10.01}], "serves up to 30"),
            ([{"height": 60.01}], "A package is 60.01 cm long; this tariff serves up to 60 cm."),
            ([{"length": 5000, "width": 1, "height": 1}], "A package is 5000 cm long"),
            (
                [{"height": 50, "width": 50, "length": 50, "quantity": 2}],
                "The packages take 250.0 litres; this tariff serves up to 249.99 litres.",
            ),
        ],
        ids=["weight", "one side", "longest side", "volume"],
    )
    def test_of_packages_is_refused_with_400(self, api, packages, detail):
        Tariff.objects.update(maximum_side_cm=60, maximum_litres="249.99")

        for path in (QUOTE, REQUEST):
            problem = assert_problem(api.post(path, payload(orderPackages=packages)), 400, "price_unavailable")
            assert detail in problem["detail"]
        assert_nothing_written()

    @pytest.mark.parametrize(
        "packages",
        [
            [{"height": 60, "width": 50, "length": 50, "quantity": 2}, {"height": 60, "width": 60}, {}],
            [{"weight": 0.1, "quantity": 100}, {"weight": "20"}, {"description": "Envelope"}],
        ],
        ids=["size", "weight"],
    )
    def test_of_packages_itself_is_carried(self, api, packages):
        Tariff.objects.update(maximum_side_cm=60, maximum_litres=300)

        assert api.post(QUOTE, payload(orderPackages=packages)).status_code == 200


@pytest.mark.django_db
class TestTariffOfTheSandbox:
    def test_is_the_live_one(self, client_of):
        TariffFactory.create()
        token = TokenFactory.create(sandbox=True)
        PickupPointFactory.create(integrator=token.integrator, active=False)

        assert client_of(token).post(QUOTE, payload()).json() == {"shippingValue": 33.46}
