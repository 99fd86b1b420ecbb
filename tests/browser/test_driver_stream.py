"""What the phones of drivers are told, with the web server of production and a Redis."""

from urllib.parse import urlsplit

import pytest
from django.utils import timezone

from delivery.actions import deliveries, driver_devices
from tests.config.stream_client import EventStream
from tests.delivery.driver_app.phones import Phone, phone
from tests.factories import BY, DeliveryFactory

pytestmark = pytest.mark.django_db(transaction=True)
QUIET = 2.0  # seconds in which nothing comes


@pytest.fixture
def listen(web_server):
    """Opens the stream of a phone and waits until it is subscribed."""
    opened = []

    def open_(listener):
        session = listener.client.cookies["driver"].value
        stream = EventStream(urlsplit(web_server).port, "/driver/updates/", Cookie=f"driver={session}")
        opened.append(stream)
        assert stream.next() == "ready"
        return stream

    yield open_
    for stream in opened:
        stream.close()


class TestStream:
    def test_tells_of_an_offer_those_whose_vehicle_fits(self, listen):
        ana, car = listen(phone()), listen(phone(vehicle_type="CAR"))

        delivery = DeliveryFactory.create(stops=1)

        assert ana.next() == f"delivery:{delivery.pk}"
        with pytest.raises(TimeoutError):
            car.next(seconds=QUIET)

    def test_tells_the_others_that_an_offer_was_taken(self, listen):
        delivery, ana, bia = DeliveryFactory.create(stops=1), phone(), phone()
        stream = listen(bia)

        ana.post(f"offers/{delivery.pk}/accept/")

        assert stream.next() == f"delivery:{delivery.pk}"

    def test_tells_the_former_driver_and_the_new_one(self, listen):
        ana, bia = phone(), phone(vehicle_type="MOTORCYCLE")
        delivery = DeliveryFactory.create(stops=1, accepted=True, driver=ana.driver)
        streams = [listen(ana), listen(bia)]

        deliveries.reassign(delivery=delivery, driver=bia.driver, by=BY, at=timezone.now())

        assert [stream.next() for stream in streams] == [f"delivery:{delivery.pk}"] * 2

    def test_ends_with_the_session(self, listen):
        ana = phone()
        stream = listen(ana)

        driver_devices.end(device=ana.driver.devices.get(), by=BY, at=timezone.now())

        with pytest.raises(EOFError):
            stream.next()

    def test_of_another_phone_of_the_driver_goes_on(self, listen):
        ana = phone()
        stream = listen(Phone(ana.driver))

        driver_devices.end(device=ana.driver.devices.get(reports_positions=True), by=BY, at=timezone.now())

        assert stream.next() == f"driver:{ana.driver.pk}"

    def test_needs_a_session(self, listen, web_server):
        ana = phone()
        driver_devices.end(device=ana.driver.devices.get(), by=BY, at=timezone.now())
        session = ana.client.cookies["driver"].value

        stream = EventStream(urlsplit(web_server).port, "/driver/updates/", Cookie=f"driver={session}")

        assert stream.status == 401
        stream.close()
