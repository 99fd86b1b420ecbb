from datetime import timedelta

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


def finish(delivery, at):
    for stop in delivery.ordered_stops:
        delivery = deliveries.deliver_point(delivery=delivery, point=stop.label, by=BY, at=at)


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

    @pytest.mark.parametrize(("age", "stale"), [(0, False), (120, False), (121, True), (86_400, True)])
    def test_calls_a_position_stale_after_120_seconds(self, api, token, clock, age, stale):
        delivery = DeliveryFactory.create(token=token, accepted=True, at=clock.now)
        place(delivery, HERE, clock.now - timedelta(seconds=age))

        tracking = locate(api, delivery)["tracking"]

        assert (tracking["available"], tracking["ageSeconds"], tracking["stale"]) == (True, age, stale)

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

    def test_is_finished_after_the_last_order(self, api, token, clock):
        delivery = DeliveryFactory.create(token=token, collected=True, at=clock.now)
        place(delivery, HERE, clock.now)
        finish(delivery, clock.now)

        answer = locate(api, delivery)

        assert (answer["status"], answer["tracking"]) == ("DELIVERED", unavailable("FINISHED"))
        assert answer["driver"]["coordinates"] == NOWHERE

    @pytest.mark.parametrize("accepted", [True, False])
    def test_is_finished_after_a_cancellation_before_pickup(self, api, token, clock, accepted):
        delivery = DeliveryFactory.create(token=token, accepted=accepted, at=clock.now)
        deliveries.cancel(delivery=delivery, reason="", by=BY, at=clock.now)

        assert locate(api, delivery)["tracking"] == unavailable("FINISHED")

    def test_is_finished_after_the_offer_expired(self, api, token, clock):
        delivery = DeliveryFactory.create(token=token, at=clock.now)
        clock.forward(3600)
        deliveries.expire(delivery=delivery, by=BY, at=clock.now)

        answer = locate(api, delivery)

        assert (answer["status"], answer["tracking"]) == ("FAILED", unavailable("FINISHED"))


@pytest.mark.django_db
class TestAFinishedDelivery:
    @pytest.mark.parametrize("end", ["finished", "cancelled"])
    def test_never_shows_where_its_driver_went_later(self, api, token, clock, end):
        delivery = DeliveryFactory.create(token=token, accepted=True, at=clock.now)
        place(delivery, HERE, clock.now)
        if end == "finished":
            finish(deliveries.collect(delivery=delivery, by=BY, at=clock.now), clock.now)
        else:
            deliveries.cancel(delivery=delivery, reason="", by=BY, at=clock.now)

        clock.forward(60)
        place(delivery, THERE, clock.now)

        seen = api.get(INFO.format(delivery.pk)).content + api.get(LOCATION.format(delivery.pk)).content
        assert b"-23.591" not in seen
        assert b"-46.691" not in seen
