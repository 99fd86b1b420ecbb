from decimal import Decimal

import pytest
from django.utils import timezone

from delivery.actions import deliveries
from delivery.geo.distance import Point
from tests.cases import in_turn
from tests.delivery.api.calls import CANCEL, DETAIL, INFO, REQUEST
from tests.factories import BY, DeliveryFactory, DriverFactory, payload

EMPTY_ADDRESS = dict.fromkeys(["city", "state", "street", "number", "zipcode", "district", "country", "complement"], "")


def info(api, delivery):
    return api.get(INFO.format(delivery.pk)).json()


@pytest.mark.django_db
class TestInfoDelivery:
    def test_answers_the_specifications_object(self, api, token):
        delivery = DeliveryFactory.create(token=token, stops=1)

        response = api.get(INFO.format(delivery.pk))

        assert response.status_code == 200
        assert response["Content-Type"] == "application/json"
        assert response.json() == {
            "deliveryId": str(delivery.pk),
            "shippingValue": 12.0,
            "driver": {"name": "", "phone": "", "coordinates": {"latitude": None, "longitude": None}},
            "orders": [
                {
                    "status": "PENDING",
                    "externalId": "order-1",
                    "coordinates": {"latitude": -23.552, "longitude": -46.65},
                    "address": {**EMPTY_ADDRESS, "latitude": -23.552, "longitude": -46.65},
                }
            ],
        }

    @in_turn("missing", [*EMPTY_ADDRESS, "all"])
    def test_answers_addresses_that_can_be_sent_again_as_they_are(self, api, missing):
        body = payload(stops=1)
        address = body["dropoffs"][0]["address"]
        for name in EMPTY_ADDRESS if missing == "all" else [missing]:
            del address[name]
        created = api.post(REQUEST, body).json()
        (read,) = api.get(INFO.format(created["deliveryId"])).json()["orders"]

        sent = {key: read[key] for key in ("externalId", "address", "coordinates")}
        again = api.post(REQUEST, {**body, "dropoffs": [sent]})

        assert again.status_code == 201
        assert again.json()["orders"] == created["orders"]
        assert read["address"].get(missing, "") == ""

    def test_shows_the_driver_after_acceptance(self, api, token):
        driver = DriverFactory.create(name="Ana", phone="+55 11 98888-0001", at_point=Point(-23.56, -46.65))
        delivery = DeliveryFactory.create(token=token, accepted=True, driver=driver)

        assert info(api, delivery)["driver"] == {
            "name": "Ana",
            "phone": "+55 11 98888-0001",
            "coordinates": {"latitude": -23.56, "longitude": -46.65},
        }

    def test_shows_each_order_with_its_own_status_in_the_order_sent(self, api, token):
        delivery = DeliveryFactory.create(token=token, collected=True)
        deliveries.deliver(delivery=delivery, point="C", by=BY, at=timezone.now())
        deliveries.fail(delivery=delivery, point="D", reason="closed", by=BY, at=timezone.now())

        orders = [(order["externalId"], order["status"]) for order in info(api, delivery)["orders"]]

        assert orders == [("order-1", "COLLECTED"), ("order-2", "DELIVERED"), ("order-3", "FAILED")]


@pytest.mark.django_db
class TestFeeOfACancellation:
    @pytest.mark.parametrize(
        ("stage", "fee"), [({}, "0.00"), ({"accepted": True}, "10.04"), ({"collected": True}, "33.46")]
    )
    def test_is_told_beforehand_and_charged(self, api, token, stage, fee):
        delivery = DeliveryFactory.create(token=token, **stage)

        answers = [api.get(path.format(delivery.pk)) for path in (INFO, DETAIL)]

        cancelled = deliveries.cancel(delivery=delivery, reason="", by=BY, at=timezone.now())
        assert [answer["Cancellation-Fee"] for answer in answers] == [fee, fee]
        assert cancelled.cancel_fee == Decimal(fee)

    @pytest.mark.parametrize("stage", [{}, {"accepted": True}, {"collected": True}])
    def test_is_told_no_more_once_it_is_cancelled(self, api, token, stage):
        delivery = DeliveryFactory.create(token=token, **stage)

        answers = [
            api.post(CANCEL.format(delivery.pk)),
            *(api.get(path.format(delivery.pk)) for path in (INFO, DETAIL)),
        ]

        assert [answer.status_code for answer in answers] == [200, 200, 200]
        assert not any("Cancellation-Fee" in answer for answer in answers)

    def test_is_told_no_more_once_it_has_ended(self, api, token):
        delivery = DeliveryFactory.create(token=token, collected=True, stops=1)
        deliveries.deliver(delivery=delivery, point="B", by=BY, at=timezone.now())

        assert "Cancellation-Fee" not in api.get(INFO.format(delivery.pk))
