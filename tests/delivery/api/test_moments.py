"""Moments in the answers of area A have the service's offset."""

import re
from datetime import timedelta

import pytest

from delivery.actions import deliveries, drivers
from delivery.models import WebhookEvent
from tests.delivery.api.calls import DETAIL, EVENTS, INFO, LIST, LOCATION, QUOTE
from tests.factories import BY, PICKUP, DeliveryFactory, payload
from tests.moments import NEW_YEAR

_MOMENT = re.compile(r"\d{4}-\d\d-\d\dT[^\"]*")
_UPDATED_AT = re.compile(r'"updatedAt":"[^"]*"')  # PostgreSQL's clock, which `clock` does not set
LOCAL = "2026-12-31T23:30:00-03:00"


@pytest.mark.django_db
class TestMoments:
    def test_of_a_delivery_are_local(self, api, token, clock):
        clock.now = NEW_YEAR.before
        delivery = DeliveryFactory.create(token=token, collected=True, stops=1, at=clock.now)
        drivers.set_position(driver=delivery.driver, point=PICKUP, by=BY, at=clock.now)
        location = api.get(LOCATION.format(delivery.pk))
        deliveries.deliver(delivery=delivery, point="B", by=BY, at=clock.now)

        answers = [location, *(api.get(path.format(delivery.pk)) for path in (DETAIL, INFO, LIST, EVENTS))]

        texts = [*(answer.content.decode() for answer in answers), *(e.body for e in WebhookEvent.objects.all())]
        moments = [_MOMENT.findall(text) for text in texts]
        by_clock = [moment for text in texts for moment in _MOMENT.findall(_UPDATED_AT.sub("", text))]
        assert {moment for moment in by_clock if "T23:" in moment} == {LOCAL}
        assert [moment for found in moments for moment in found if not moment.endswith("-03:00")] == []
        assert all(moments[:2])

    def test_of_a_quote_is_local(self, api, clock):
        clock.now = NEW_YEAR.before - timedelta(minutes=10)

        assert api.post(QUOTE, payload())["Quote-Expires"] == LOCAL
