"""All clocks were ahead and have been put right: no moment lies further ahead of now than it may, and all goes on."""

import re
from contextlib import contextmanager
from datetime import datetime, timedelta
from typing import Any
from uuid import uuid4

import pytest
import time_machine
from django.apps import apps
from django.db.models import DateTimeField, Max
from django.utils import timezone

from common.mail.models import Kind, Message
from common.models import AttemptCount, LatestMoment
from common.pages import attempts
from common.pages.attempts import Limit, TooManyAttempts
from common.webhooks import claims
from common.workers import moments
from common.workers.moments import TOLERANCE, Table
from config.moments import tables
from config.tasks import pull_moments_back
from delivery.actions import drivers
from delivery.alerts.models import AlertPost, EndpointAlerts
from delivery.geo.distance import Point
from delivery.geo.position_filter import SentPosition
from delivery.models import (
    Delivery,
    DriverPosition,
    LatestPosition,
    Transition,
    WebhookEndpoint,
    WebhookEvent,
    WebhookQueueItem,
)
from delivery.webhooks.outbox import OUTBOX
from tests.common.webhooks.conftest import endpoint, receiving, send_due, sink, token
from tests.delivery.api.calls import LIST, LOCATION
from tests.delivery.drivers.phones import Phone, now, phone
from tests.delivery.scheduled import scheduled
from tests.factories import BY, PICKUP, DeliveryFactory, DriverFactory
from tests.scope.world import World

__all__ = ["endpoint", "receiving", "send_due", "sink", "token"]
AHEAD, SOON = timedelta(hours=3), timedelta(seconds=30)
FURTHER = Point(PICKUP.latitude + 0.002, PICKUP.longitude)
# Names of moments that are mostly to come.
TO_COME = re.compile(r"due|expire|until|deadline|arrives|earliest|latest$|ends_at|scheduled|offer_at|ready_at")
pytestmark = pytest.mark.django_db


@contextmanager
def all_clocks_ahead():
    """As if all machines were so; PostgreSQL's own clock cannot be moved, and rows have moments of both."""
    with time_machine.travel(timezone.now() + AHEAD, tick=True):
        yield
        moments.pull_back(tables(), at=timezone.now())  # as the task does every 15 seconds


def endpoint_at(url: str) -> Any:
    return WebhookEndpoint.objects.get(url=url)


def furthest(table: Table) -> dict[str, Any]:
    names = [each.name for each in table.model._meta.local_concrete_fields if isinstance(each, DateTimeField)]
    return table.model._default_manager.aggregate(**{name: Max(name) for name in names}) if names else {}


def report(of: Phone, point: Point) -> Any:
    """What the service answers to a position that the phone has found now."""
    position = {"latitude": point.latitude, "longitude": point.longitude, "accuracy": 8, "at": now()}
    answer = of.post("positions/", {"sentAt": now(), "positions": [position]})
    assert answer.status_code == 200
    return answer.json()


class TestTables:
    def test_are_all_models_with_moments(self):
        named = {(table.model, name) for table in tables() for name in (*table.passed, *table.ahead)}

        assert named == {
            (model, each.name)
            for model in apps.get_models()
            if model._meta.managed
            for each in model._meta.local_concrete_fields
            if isinstance(each, DateTimeField)
        }

    def test_say_how_far_ahead_each_moment_to_come_may_lie(self):
        missing = [
            (table.model._meta.label, name) for table in tables() for name in table.passed if TO_COME.search(name)
        ]

        assert missing == []

    def test_are_corrected_after_all_clocks_were_ahead(self, settings):
        with all_clocks_ahead():
            settings.EMAIL_URL = "smtp://127.0.0.1:9"  # whatever can be sent is written
            World()
        before = {str(table): furthest(table) for table in tables()}

        pull_moments_back()

        latest, ahead = timezone.now(), {}
        for table in tables():
            for name, moment in furthest(table).items():
                most = table.ahead.get(name, timedelta(0))
                # SQL of a duration: none of them is longer than what retries wait at most.
                most = timedelta(hours=29) if isinstance(most, str) else most
                if moment is not None and most is not None and moment > latest + most + TOLERANCE:
                    ahead[f"{table}.{name}"] = moment - latest
        were_ahead = [
            name for name, found in before.items() if any(each and each > latest + TOLERANCE for each in found.values())
        ]
        assert ahead == {}
        assert len(were_ahead) > 30


class TestPositions:
    def test_of_a_phone_are_shown_at_once_when_the_clock_is_right_again(self, api, token):
        with all_clocks_ahead():
            on_road = phone()
            delivery = DeliveryFactory.create(token=token, driver=on_road.driver, collected=True)
            assert report(on_road, PICKUP) == {"kept": 1, "dropped": {}}

        assert report(on_road, FURTHER) == {"kept": 1, "dropped": {}}

        shown = api.get(LOCATION.format(delivery.pk)).json()
        assert shown["driver"]["coordinates"]["latitude"] == FURTHER.latitude
        assert timedelta(0) <= timezone.now() - datetime.fromisoformat(shown["tracking"]["updatedAt"]) < SOON
        assert not DriverPosition.objects.filter(recorded_at__gt=timezone.now()).exists()
        assert LatestPosition.objects.get(pk=on_road.driver.pk).point == FURTHER

    def test_keep_their_order(self):
        driver = DriverFactory.create()
        with all_clocks_ahead():
            for number in range(3):
                point = Point(PICKUP.latitude + number / 1000, PICKUP.longitude)
                at = timezone.now() + timedelta(seconds=number)
                drivers.store_positions(driver=driver, sent=[SentPosition(point, at)], by=BY)
        before = list(driver.positions.order_by("recorded_at").values_list("pk", flat=True))

        pull_moments_back()

        assert list(driver.positions.order_by("recorded_at").values_list("pk", flat=True)) == before
        assert driver.latest_position().pk == before[-1]
        assert driver.latest_position().recorded_at <= LatestPosition.objects.get().recorded_at <= timezone.now()

    def test_that_lie_ahead_are_shown_as_of_now(self, api, token):
        with all_clocks_ahead():
            driver = DriverFactory.create(at_point=PICKUP)
            delivery = DeliveryFactory.create(token=token, driver=driver, collected=True)

        tracking = api.get(LOCATION.format(delivery.pk)).json()["tracking"]

        assert datetime.fromisoformat(tracking["updatedAt"]) <= timezone.now()
        assert (tracking["available"], tracking["ageSeconds"]) == (True, 0)


class TestDeliveries:
    def test_are_listed_in_the_order_of_their_requests(self, api, token):
        with all_clocks_ahead():
            earlier = [DeliveryFactory.create(token=token) for _number in range(2)]
        pull_moments_back()

        later = DeliveryFactory.create(token=token)

        listed = [each["deliveryId"] for each in api.get(LIST).json()["data"]]
        assert listed == [str(each.pk) for each in (later, *reversed(earlier))]
        assert not Transition.objects.filter(at__gt=timezone.now()).exists()

    def test_are_offered_for_as_long_as_others(self, settings):
        with all_clocks_ahead():
            delivery = DeliveryFactory.create()

        pull_moments_back()

        left = Delivery.objects.get(pk=delivery.pk).offer_expires_at - timezone.now()
        assert settings.OFFER_TTL - SOON < left <= settings.OFFER_TTL

    def test_keep_the_times_that_were_agreed(self):
        delivery = scheduled(timedelta(days=2), at=timezone.now())
        columns = ["scheduled_for", "offer_at", "offer_expires_at"]
        before = Delivery.objects.values(*columns).get(pk=delivery.pk)
        LatestMoment.objects.create(moment=timezone.now() + AHEAD)

        pull_moments_back()

        assert Delivery.objects.values(*columns).get(pk=delivery.pk) == before
        assert before["offer_expires_at"] > timezone.now() + timedelta(days=1)


@pytest.mark.django_db(transaction=True)
class TestWebhooks:
    def test_are_tried_again_as_soon_as_others(self, token, sink, send_due):
        sink.answers = [(500, {}, b"")]
        with all_clocks_ahead():
            DeliveryFactory.create(token=token)
            send_due()

        pull_moments_back()

        item, event = WebhookQueueItem.objects.get(), WebhookEvent.objects.get()
        assert item.due_at <= timezone.now() + timedelta(minutes=1)
        assert event.created_at <= event.attempts.get().at <= timezone.now()
        assert endpoint_at(sink.url).failing_since <= timezone.now()

    def test_wait_no_longer_than_their_endpoint_asked(self, token, sink, send_due):
        sink.answers = [(503, {"Retry-After": "1800"}, b"")]
        with all_clocks_ahead():
            DeliveryFactory.create(token=token)
            send_due()

        pull_moments_back()

        endpoint, item = endpoint_at(sink.url), WebhookQueueItem.objects.get()
        latest = timezone.now() + timedelta(hours=1)
        assert max(endpoint.paused_until, endpoint.retry_after_until, item.due_at) <= latest

    def test_are_not_touched_while_they_wait_as_they_should(self, token, sink, send_due):
        sink.answers = [(503, {"Retry-After": "1800"}, b"")]
        DeliveryFactory.create(token=token)
        send_due()
        before = WebhookQueueItem.objects.values().get()

        assert moments.pull_back(tables(), at=timezone.now()) == 0

        assert WebhookQueueItem.objects.values().get() == before

    def test_are_claimed_again_after_the_lease(self, token):
        with all_clocks_ahead():
            DeliveryFactory.create(token=token)
            claims.claim(OUTBOX, lease=uuid4(), at=timezone.now(), limit=1)

        pull_moments_back()

        assert WebhookQueueItem.objects.get().due_at <= timezone.now() + claims.LEASE

    def test_open_the_breaker_for_no_longer_than_its_pause(self, token, endpoint):
        at = timezone.now() + AHEAD
        WebhookEndpoint.objects.filter(pk=endpoint.pk).update(failures=9, failing_since=at, paused_until=at)

        pull_moments_back()

        assert endpoint_at(endpoint.url).paused_until <= timezone.now() + timedelta(minutes=1)


class TestMailAndAlerts:
    def test_are_sent_as_soon_as_others(self, token):
        at = timezone.now() + AHEAD
        mail = Message.objects.create(
            kind=Kind.ALERT, recipient="a@example.com", subject="x", body_ciphertext="x", tries=1,
            created_at=at, expires_at=at + timedelta(days=1), due_at=at + timedelta(minutes=1),
        )  # fmt: skip
        reported: Any = EndpointAlerts.objects.create(
            endpoint=token.integrator.endpoints.get(environment="live", number=1), reported_at=at
        )
        post = AlertPost.objects.create(alerts=reported, kind="failing", text="x", created_at=at, due_at=at, tries=1)

        pull_moments_back()

        for row in (mail, reported, post):
            row.refresh_from_db()
        now = timezone.now()
        assert max(mail.due_at, post.due_at) <= now + timedelta(minutes=2)
        assert max(mail.created_at, post.created_at, reported.reported_at) <= now


class TestAttempts:
    def test_are_refused_no_longer_than_their_window(self):
        limit = Limit("tries", 1, timedelta(minutes=5))
        attempts.count(limit, "somebody")
        with pytest.raises(TooManyAttempts):
            attempts.count(limit, "somebody")
        AttemptCount.objects.update(expires_at=timezone.now() + AHEAD)

        attempts.count(limit, "somebody")

        assert AttemptCount.objects.get().expires_at < timezone.now() + timedelta(minutes=6)


class TestPullBack:
    def test_reads_all_tables_until_nothing_is_wrong(self, token, monkeypatch):
        monkeypatch.setattr(moments, "_BATCH", 1)
        at = timezone.now()
        LatestMoment.objects.create(moment=at + AHEAD)
        first = DeliveryFactory.create(token=token, at=at + AHEAD)
        DeliveryFactory.create(token=token, at=at + AHEAD)

        assert moments.pull_back(tables(), at=at) > 0
        assert not Delivery.objects.filter(created_at__gt=at).exists()
        assert LatestMoment.objects.get().moment == at + AHEAD
        second = DeliveryFactory.create(token=token, at=at + AHEAD)  # of a process that counts on
        assert moments.pull_back(tables(), at=at) > 0
        assert moments.pull_back(tables(), at=at) == 0

        assert LatestMoment.objects.get().moment == at
        assert Delivery.objects.filter(pk__in=[first.pk, second.pk], created_at__lte=at).count() == 2

    def test_is_one_query_while_the_clocks_go_on(self, django_assert_num_queries):
        pull_moments_back()

        with django_assert_num_queries(3):  # one reads, one writes the latest moment
            moments.pull_back(tables(), at=timezone.now())
