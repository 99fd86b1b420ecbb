from datetime import datetime, timedelta

import pytest

from delivery.actions import deliveries, drivers
from delivery.geo.distance import Point
from tests.delivery.api.calls import INFO, LOCATION
from tests.factories import BY, DeliveryFactory, DriverFactory

HERE, THERE = Point(-23.56, -46.65), Point(-23.591, -46.691)
NOWHERE = {"latitude": None, "longitude": None, "accuracyMeters": None}


def locate(api, delivery):
    response = api.get(LOCATION.format(delivery.pk))
    assert response.status_code == 200
    return response.json()


def unavailable(reason):
    return {"available": False, "reason": reason, "updatedAt": None, "ageSeconds": None, "stale": False}


def place(delivery, point, at, **kwargs):
    drivers.set_position(driver=delivery.driver, point=point, by=BY, at=at, **kwargs)


@pytest.mark.django_db
class TestLocationDelivery:
    def test_answers_the_specifications_object(self, api, token, clock):
        driver = DriverFactory.create(name="Ana")
        delivery = DeliveryFactory.create(token=token, accepted=True, stops=1, driver=driver, at=clock.now)
        place(delivery, HERE, clock.now - timedelta(seconds=7), accuracy_m=12.5)

        assert locate(api, delivery) == {
            "deliveryId": str(delivery.pk),
            "status": "ACCEPT",
            "tracking": {
                "available": True,
                "reason": None,
                "updatedAt": "2026-07-15T11:59:53-03:00",
                "ageSeconds": 7,
                "stale": False,
            },
            "driver": {
                "name": "Ana",
                "coordinates": {"latitude": -23.56, "longitude": -46.65, "accuracyMeters": 12.5},
            },
            "orders": [{"externalId": "order-1", "status": "ACCEPT"}],
        }

    def test_shows_the_latest_position(self, api, token, clock):
        delivery = DeliveryFactory.create(token=token, collected=True, at=clock.now)
        place(delivery, THERE, clock.now)
        place(delivery, HERE, clock.now - timedelta(seconds=30))

        assert locate(api, delivery)["driver"]["coordinates"] == {
            "latitude": -23.591,
            "longitude": -46.691,
            "accuracyMeters": None,
        }

    @pytest.mark.parametrize(("age", "stale"), [(-5, False), (0, False), (120, False), (121, True), (86_400, True)])
    def test_calls_a_position_stale_after_120_seconds(self, api, token, clock, age, stale):
        """One that lies ahead is of now."""
        delivery, shown = DeliveryFactory.create(token=token, accepted=True, at=clock.now), max(age, 0)
        place(delivery, HERE, clock.now - timedelta(seconds=age))

        tracking = locate(api, delivery)["tracking"]

        assert (tracking["available"], tracking["ageSeconds"], tracking["stale"]) == (True, shown, stale)
        assert datetime.fromisoformat(tracking["updatedAt"]) == clock.now - timedelta(seconds=shown)

    def test_is_still_served_on_the_way_back(self, api, token, clock):
        delivery = DeliveryFactory.create(token=token, collected=True, at=clock.now)
        deliveries.cancel(delivery=delivery, reason="", by=BY, at=clock.now)
        place(delivery, HERE, clock.now)

        answer = locate(api, delivery)

        assert (answer["status"], answer["tracking"]["available"]) == ("FAILED", True)


@pytest.mark.django_db
class TestReason:
    def test_is_not_assigned_before_acceptance(self, api, token):
        delivery = DeliveryFactory.create(token=token)

        answer = locate(api, delivery)

        assert answer["tracking"] == unavailable("NOT_ASSIGNED")
        assert answer["driver"] == {"name": "", "coordinates": NOWHERE}

    def test_is_no_position_while_the_driver_has_sent_none(self, api, token):
        driver = DriverFactory.create(name="Ana")
        delivery = DeliveryFactory.create(token=token, accepted=True, driver=driver)

        answer = locate(api, delivery)

        assert answer["tracking"] == unavailable("NO_POSITION")
        assert answer["driver"] == {"name": "Ana", "coordinates": NOWHERE}

    def test_is_finished_after_the_offer_ended(self, api, token, clock):
        cancelled, expired = DeliveryFactory.create_batch(2, token=token, at=clock.now)
        deliveries.cancel(delivery=cancelled, reason="", by=BY, at=clock.now)
        clock.forward(3600)
        deliveries.expire(delivery=expired, by=BY, at=clock.now)

        answers = [locate(api, delivery) for delivery in (cancelled, expired)]

        assert [(each["status"], each["tracking"]) for each in answers] == [("FAILED", unavailable("FINISHED"))] * 2

    @pytest.mark.parametrize("status", ["DELIVERED", "FAILED"])
    def test_is_finished_after_the_route_wherever_its_driver_goes_then(self, api, token, clock, status):
        delivery = DeliveryFactory.create(token=token, accepted=True, stops=1, at=clock.now)
        place(delivery, HERE, clock.now)
        if status == "DELIVERED":
            deliveries.collect(delivery=delivery, by=BY, at=clock.now)
            deliveries.deliver(delivery=delivery, point="B", by=BY, at=clock.now)
        else:
            deliveries.cancel(delivery=delivery, reason="", by=BY, at=clock.now)
        clock.forward(60)
        place(delivery, THERE, clock.now)

        answer = locate(api, delivery)

        assert (answer["status"], answer["tracking"]) == (status, unavailable("FINISHED"))
        assert answer["driver"]["coordinates"] == NOWHERE
        assert b"-23.591" not in api.get(INFO.format(delivery.pk)).content
