import json
from uuid import UUID

import pytest

from delivery.models import Delivery, PickupPoint
from tests.delivery.api.calls import REQUEST, changed
from tests.factories import PICKUP, PickupPointFactory, payload

ADDRESS = {
    "city": "São Paulo",
    "state": "SP",
    "street": "Rua 1",
    "number": "100",
    "zipcode": "01310200",
    "district": "Bela Vista",
    "country": "BR",
    "complement": "Loja 1",
    "latitude": -23.552,
    "longitude": -46.65,
}
# 149 m and 151 m north of the pickup point, whose radius is 150 m.
INSIDE, OUTSIDE = -23.5600687, -23.5600505


@pytest.mark.django_db
class TestRequestDelivery:
    def test_answers_the_specifications_object(self, api):
        response = api.post(REQUEST, payload(stops=1))

        delivery = Delivery.objects.get()
        assert response.status_code == 201
        assert response["Content-Type"] == "application/json"
        assert response.json() == {
            "deliveryId": str(delivery.pk),
            "shippingValue": 12.0,
            "status": "PENDING",
            "route": {
                "routeId": str(delivery.route_id),
                "status": "AVAILABLE",
                "pointsCount": 2,
                "fixedValue": 12.0,
                "totalDistanceKm": 1.56,
                "vehicleType": "MOTORCYCLE",
                "acceptMode": "WHOLE_ROUTE",
                "immutable": True,
                "points": [{"label": "A", "type": "pickup"}, {"label": "B", "type": "dropoff"}],
            },
            "driver": {"name": "", "phone": "", "coordinates": {"latitude": None, "longitude": None}},
            "orders": [
                {
                    "status": "PENDING",
                    "externalId": "order-1",
                    "point": "B",
                    "coordinates": {"latitude": -23.552, "longitude": -46.65},
                    "address": ADDRESS,
                }
            ],
        }

    def test_labels_the_dropoffs_in_the_order_sent(self, api):
        body = payload()
        body["dropoffs"].reverse()

        answer = api.post(REQUEST, body).json()

        orders = [(order["point"], order["externalId"], order["address"]["street"]) for order in answer["orders"]]
        assert orders == [("B", "order-3", "Rua 3"), ("C", "order-2", "Rua 2"), ("D", "order-1", "Rua 1")]
        assert [point["label"] for point in answer["route"]["points"]] == ["A", "B", "C", "D"]
        assert answer["route"]["pointsCount"] == 4

    def test_takes_the_coordinates_before_the_address(self, api):
        body = changed("#/dropoffs/0/coordinates", {"latitude": -23.551, "longitude": -46.651})

        order = api.post(REQUEST, body).json()["orders"][0]

        assert order["coordinates"] == {"latitude": -23.551, "longitude": -46.651}

    @pytest.mark.parametrize("coordinates", [None, {}, {"latitude": None, "longitude": None}])
    def test_takes_the_address_where_the_coordinates_are_empty(self, api, coordinates):
        order = api.post(REQUEST, changed("#/dropoffs/0/coordinates", coordinates)).json()["orders"][0]

        assert order["coordinates"] == {"latitude": -23.552, "longitude": -46.65}

    def test_takes_the_coordinates_alone(self, api):
        body = changed("#/dropoffs/0/address", {"zipcode": "01310-200"})
        body["dropoffs"][0]["coordinates"] = {"latitude": "-23.552", "longitude": -46.65}

        order = api.post(REQUEST, body).json()["orders"][0]

        assert order["coordinates"] == {"latitude": -23.552, "longitude": -46.65}
        assert order["address"]["zipcode"] == "01310200"

    def test_writes_one_route_with_its_event(self, api, token):
        answer = api.post(REQUEST, payload()).json()

        delivery = Delivery.objects.get()
        assert (delivery.integrator, delivery.environment, delivery.token) == (token.integrator, "live", token)
        assert (delivery.stops.count(), delivery.transitions.count()) == (3, 1)
        assert json.loads(delivery.events.get().body)["deliveryId"] == answer["deliveryId"]

    def test_issues_ids_that_are_uuidv7(self, api):
        answer = api.post(REQUEST, payload()).json()

        for text in (answer["deliveryId"], answer["route"]["routeId"]):
            assert str(UUID(text)) == text
            assert UUID(text).version == 7


@pytest.mark.django_db
class TestPickup:
    @pytest.mark.parametrize(("latitude", "status"), [(INSIDE, 201), (OUTSIDE, 404)])
    def test_is_linked_within_the_radius(self, api, latitude, status):
        assert api.post(REQUEST, changed("#/pickup/address/latitude", latitude)).status_code == status

    def test_is_linked_within_the_points_own_radius(self, api):
        PickupPoint.objects.update(radius_m=152)

        assert api.post(REQUEST, changed("#/pickup/address/latitude", OUTSIDE)).status_code == 201

    def test_is_linked_by_any_of_several_points(self, api, token):
        PickupPointFactory.create(integrator=token.integrator, latitude=PICKUP.latitude + 0.01)

        body = changed("#/pickup/address/latitude", PICKUP.latitude + 0.01)

        assert api.post(REQUEST, body).status_code == 201
