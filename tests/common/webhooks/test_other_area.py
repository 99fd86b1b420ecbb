"""The engine with tables of another area, whose events are about parcels and carry a header of another name."""

from datetime import timedelta
from typing import Any
from uuid import uuid4

import pytest
from django.db import connection, models
from django.db.models import Q
from django.test.utils import isolate_apps
from django.utils import timezone

from common import credentials
from common.webhooks import claims, queue, signing
from common.webhooks.http_client import Request, Result
from common.webhooks.models import Attempt, Endpoint, Event, QueueItem
from common.webhooks.outbox import _OF_MODELS, Authorization, Outbox
from common.webhooks.sender import build_requests
from common.webhooks.settlement import settle

NOW = timezone.now()


def make_models():
    class Parcel(models.Model):  # noqa: DJ008  # no page shows it
        class Meta:
            app_label = "common"

    class ParcelEndpoint(Endpoint):
        OWNER = "shop"

        class Meta:
            app_label = "common"

    class ParcelEvent(Event):
        SUBJECT = "parcel"

        parcel = models.ForeignKey(Parcel, models.CASCADE, null=True)
        endpoint = models.ForeignKey(ParcelEndpoint, models.CASCADE)
        sequence = models.IntegerField()

        class Meta:
            app_label = "common"

    class ParcelItem(QueueItem):
        event = models.OneToOneField(ParcelEvent, models.CASCADE, related_name="queue_item")
        parcel = models.ForeignKey(Parcel, models.CASCADE, null=True)
        endpoint = models.ForeignKey(ParcelEndpoint, models.CASCADE)

        class Meta:
            app_label = "common"
            constraints = [
                models.UniqueConstraint(
                    fields=["parcel", "endpoint"], name="one_ordered_item", condition=Q(is_ordered=True)
                )
            ]

    class ParcelAttempt(Attempt):
        event = models.ForeignKey(ParcelEvent, models.CASCADE)

        class Meta:
            app_label = "common"

    return Parcel, ParcelEndpoint, ParcelEvent, ParcelItem, ParcelAttempt


@pytest.fixture
def tables(db):
    with isolate_apps("common"):
        made: Any = make_models()
    with connection.schema_editor() as editor:
        for model in made:
            editor.create_model(model)
    return made


@pytest.fixture
def outbox(tables):
    parcels, endpoints, events, items, attempts = tables
    key = Authorization({"X-Api-Key": "open sesame"}, ["open sesame"], "open…")
    made = Outbox(
        endpoints=endpoints,
        events=events,
        items=items,
        attempts=attempts,
        audit=parcels,
        task="parcels.send_due",
        missed_task="parcels.send_missed",
        topic="parcel-endpoint",
        test_event=("", "{}"),
        authorizations=lambda _items, _endpoints, _at: lambda _item: key,
    )
    yield made
    del _OF_MODELS[endpoints], _OF_MODELS[events]


@pytest.fixture
def record(tables, outbox):
    """Record the next event of the parcel, and queue it."""
    parcel = tables[0].objects.create()
    endpoint = outbox.endpoints.objects.create(
        url="https://shop.example/hook", secret_ciphertext=credentials.encrypt(signing.new_secret())
    )

    def record(number):
        event = outbox.events.objects.create(
            parcel=parcel, endpoint=endpoint, sequence=number, body=f'{{"number":{number}}}', created_at=NOW
        )
        queue.add(outbox, event, due_at=NOW)
        return event

    return record


def claim(outbox, *, at=NOW):
    return claims.claim(outbox, lease=uuid4(), at=at, limit=10)


class TestOutboxOfParcels:
    def test_is_sent_in_order_with_the_headers_of_the_area(self, outbox, record):
        first, second = record(1), record(2)

        ((claimed, request),) = build_requests(outbox, claim(outbox), at=NOW)
        settle(outbox, [(claimed, Result(status_code=200, at=NOW))], at=NOW)
        (following,) = claim(outbox)

        assert (claimed.event_id, following.event_id) == (first.pk, second.pk)
        assert outbox.attempts.objects.get().event == first
        assert isinstance(request, Request)
        assert (request.headers["X-Api-Key"], request.stored.token_hint) == ("open sesame", "open…")
        assert "Authorization" not in request.headers
        assert request.secrets == ["open sesame", request.headers["webhook-signature"].removeprefix("v1,")]

    def test_is_tried_again_and_brought_forward(self, outbox, record):
        event = record(1)
        (claimed,) = claim(outbox)
        settle(outbox, [(claimed, Result(status_code=500, at=NOW))], at=NOW)
        assert claim(outbox) == []

        queue.bring_forward(outbox, endpoint_id=event.endpoint_id, at=NOW)

        assert [item.event_id for item in claim(outbox)] == [event.pk]

    def test_is_queued_again_by_subject(self, outbox, record):
        events = [record(1), record(2)]
        outbox.items.objects.all().delete()

        queue.add_again(outbox, [event.pk for event in events], due_at=NOW)

        assert outbox.items.objects.get().event == events[0]
        assert queue.oldest_due_seconds(outbox, at=NOW + timedelta(seconds=9)) == 9
