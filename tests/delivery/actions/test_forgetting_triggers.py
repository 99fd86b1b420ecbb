"""The triggers that keep histories as they are let nothing through but forgetting."""

from typing import Any

import pytest
from django.db import transaction

from common.forgetting import forgetting
from delivery.models import (
    Delivery,
    DropoffOptions,
    Stop,
    Transition,
    WebhookEvent,
)
from tests.delivery.personal_data import MARIA, closed, everything

pytestmark = pytest.mark.django_db
CHANGES: dict[str, tuple[Any, dict[str, Any]]] = {
    "delivery": (Delivery, {"contact_name": ""}),
    "delivery's price": (Delivery, {"shipping_value": 1}),
    "delivery's fee": (Delivery, {"cancel_fee": 1, "cancelled_at": "2026-01-01T00:00Z"}),
    "stop": (Stop, {"address": {}}),
    "options": (DropoffOptions, {"instructions": ""}),
    "transition": (Transition, {"reason": ""}),
    "transition's status": (Transition, {"status": "PENDING"}),
    "event": (WebhookEvent, {"body": "{}"}),
}
INVENTED: dict[str, tuple[Any, dict[str, Any]]] = {
    "delivery": (Delivery, {"contact_name": "Other"}),
    "delivery's price": (Delivery, {"shipping_value": 1}),
    "delivery's status": (Delivery, {"status": "DELIVERED"}),
    "stop's address": (Stop, {"address": {"city": "Other"}}),
    "stop's place": (Stop, {"latitude": -23.5}),
    "stop's externalId": (Stop, {"external_id": ""}),
    "transition's reason": (Transition, {"reason": "other"}),
    "transition's status": (Transition, {"status": "PENDING"}),
    "event's name": (WebhookEvent, {"name": "PENDING"}),
}


class TestTriggers:
    @pytest.mark.parametrize("name", CHANGES)
    def test_refuse_an_ordinary_update_of_a_closed_delivery(self, name):
        model, values = CHANGES[name]
        closed(MARIA)
        before = everything()

        with pytest.raises(Exception, match="Cannot update rows"), transaction.atomic():
            model.objects.update(**values)

        assert everything() == before

    @pytest.mark.parametrize("name", INVENTED)
    def test_refuse_anything_else_while_forgetting(self, name):
        model, values = INVENTED[name]
        closed(MARIA)
        before = everything()

        with pytest.raises(Exception, match="Cannot update rows"), forgetting():
            model.objects.update(**values)

        assert everything() == before

    def test_refuse_again_after_the_block(self):
        closed(MARIA)
        with forgetting():
            Stop.objects.update(contact_name="")

        with pytest.raises(Exception, match="Cannot update rows"), transaction.atomic():
            Stop.objects.update(contact_phone="")

        assert Stop.objects.get().contact_phone == MARIA

    def test_refuse_to_delete_a_history_while_forgetting(self):
        closed(MARIA)

        with pytest.raises(Exception, match="Cannot delete rows"), forgetting():
            Transition.objects.all().delete()

        assert Transition.objects.exists()
