"""Deliveries under way of a suspended account: they go on, and webhooks report them with the account's token."""

import pytest
from django.utils import timezone

from delivery.accounts import integrators
from delivery.actions import deliveries
from delivery.models import Delivery, WebhookEvent
from tests.factories import BY, DeliveryFactory


@pytest.mark.django_db(transaction=True)
@pytest.mark.timeout(30)
def test_a_delivery_continues_to_its_end_and_every_event_is_sent(token, sink, send_due):
    delivery = DeliveryFactory.create(token=token, stops=1, accepted=True)
    integrators.suspend(integrator=token.integrator, reason="unpaid", by=BY, at=timezone.now())

    deliveries.collect(delivery=delivery, by=BY, at=timezone.now())
    deliveries.deliver(delivery=delivery, point="B", by=BY, at=timezone.now())
    send_due()

    assert Delivery.objects.get().status == "DELIVERED"
    assert set(WebhookEvent.objects.values_list("state", flat=True)) == {"sent"}
    assert [headers["webhook-sequence"] for headers, _body in sink.received] == ["1", "2", "3", "4"]
    assert {headers["authorization"] for headers, _body in sink.received} == {f"Bearer {token.clear_text}"}
