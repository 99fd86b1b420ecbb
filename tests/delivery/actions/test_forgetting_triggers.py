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
CHANGES: list[tuple[Any, dict[str, Any]]] = [
    (Delivery, {"contact_name": ""}),
    (Delivery, {"shipping_value": 1}),
    (Delivery, {"cancel_fee": 1, "cancelled_at": "2026-01-01T00:00Z"}),
    (Stop, {"address": {}}),
    (DropoffOptions, {"instructions": ""}),
    (Transition, {"reason": ""}),
    (Transition, {"status": "PENDING"}),
    (WebhookEvent, {"body": "{}"}),
]
INVENTED: list[tuple[Any, dict[str, Any]]] = [
    (Delivery, {"contact_name": "Other"}),
    (Delivery, {"shipping_value": 1}),
    (Delivery, {"status": "DELIVERED"}),
    (Stop, {"address": {"city": "Other"}}),
    (Stop, {"latitude": -23.5}),
    (Stop, {"external_id": ""}),
    (Transition, {"reason": "other"}),
    (Transition, {"status": "PENDING"}),
    (WebhookEvent, {"name": "PENDING"}),
]


class TestTriggers:
    def test_refuse_an_ordinary_update_of_a_closed_delivery(self):
        closed(MARIA)
        before = everything()

        for model, values in CHANGES:
            with pytest.raises(Exception, match="Cannot update rows"), transaction.atomic():
                model.objects.update(**values)

        assert everything() == before

    def test_refuse_anything_else_while_forgetting(self):
        closed(MARIA)
        before = everything()

        for model, values in INVENTED:
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
