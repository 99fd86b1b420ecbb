"""What the phones of drivers are told, with the web server of production and a Redis."""

from urllib.parse import urlsplit

import pytest
from django.utils import timezone

from delivery.actions import driver_devices
from tests.config.stream_client import EventStream
from tests.delivery.driver_app.phones import Phone, phone
from tests.factories import BY

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
