from datetime import timedelta

import pytest
from django.utils import timezone

from common import pruning
from delivery.models import WebhookAttempt, WebhookEvent
from delivery.webhooks import history
from tests.factories import DeliveryFactory


@pytest.mark.django_db
def test_prune_deletes_attempts_after_30_days_and_keeps_events(monkeypatch):
    monkeypatch.setattr(pruning, "_BATCH", 2)
    event, now = DeliveryFactory.create().events.get(), timezone.now()
    ages = [timedelta(days=30), *[timedelta(days=30, seconds=1)] * 5]
    for number, age in enumerate(ages):
        WebhookAttempt.objects.create(event=event, number=number, at=now - age, milliseconds=1)

    assert history.prune(at=now) == 5

    assert WebhookAttempt.objects.get().number == 0
    assert WebhookEvent.objects.count() == 1
