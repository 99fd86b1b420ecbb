"""Waking workers through a real broker, and through one that is away."""

import os
from datetime import timedelta
from types import SimpleNamespace
from unittest.mock import Mock

import pytest
from django.utils import timezone
from kombu.exceptions import OperationalError as BrokerError
from redis import Redis

from common import connections
from common.connections import BackOff
from common.postgresql import batches
from common.webhooks import endpoints
from common.workers import wake_up
from config.celery import app as celery_app
from delivery import tasks
from delivery.models import WebhookAttempt, WebhookEvent
from delivery.webhooks.outbox import OUTBOX
from dev import embedded
from tests.factories import BY, DeliveryFactory, TokenFactory
from tests.ports import free_port


def token_with_url():
    """A token whose integrator has a webhook URL."""
    token = TokenFactory.create()
    endpoint = token.integrator.endpoints.get(environment="live")
    endpoints.set_url(endpoint=endpoint, url="http://127.0.0.1:9/", by=BY, at=timezone.now())
    return token


@pytest.fixture
def queue():
    """Length of the broker's queue, emptied before and after."""
    with (
        Redis.from_url(os.environ["REDIS_URL"])
        if os.environ.get("REDIS_URL")
        else Redis(unix_socket_path=str(embedded.redis_socket())) as redis
    ):
        name = celery_app.conf.task_default_queue
        redis.delete(name, wake_up._pending_key(OUTBOX.task))
        yield lambda: redis.llen(name)
        redis.delete(name, wake_up._pending_key(OUTBOX.task))


class TestSend:
    @pytest.mark.django_db
    def test_sends_one_wake_up_after_the_commit_of_several_changes(self, queue, django_capture_on_commit_callbacks):
        tokens = [token_with_url() for _number in range(3)]

        with django_capture_on_commit_callbacks(execute=True):
            for token in tokens:
                DeliveryFactory.create(token=token)
            before = queue()

        assert (before, queue()) == (0, 1)

    def test_does_not_connect_again_for_two_seconds_when_the_broker_is_away(self, monkeypatch, caplog):
        clock, asked = [1000.0], []
        monkeypatch.setattr(connections, "time", SimpleNamespace(monotonic=lambda: clock[0]))
        monkeypatch.setattr(wake_up, "_back_off", BackOff(2))
        away = Redis(port=free_port(), socket_connect_timeout=1)

        def ask():
            asked.append(clock[0])
            return away

        monkeypatch.setattr(wake_up, "redis", ask)

        for clock[0] in (1000.0, 1001.9, 1002.0):
            wake_up.send(OUTBOX.task)

        assert asked == [1000.0, 1002.0]
        assert caplog.text.count("beat will do it") == 2

    def test_of_a_task_is_lost_and_logged_when_the_broker_is_away(self, monkeypatch, caplog):
        monkeypatch.setattr(wake_up, "_back_off", BackOff(2))
        refused = Mock(side_effect=BrokerError("away"))
        monkeypatch.setattr(celery_app, "send_task", refused)

        for _twice in range(2):
            wake_up.start("a.task", key="value")

        assert refused.call_count == caplog.text.count("The task a.task was not sent") == 1


class TestSendDue:
    def test_wakes_the_sender_and_lets_the_next_change_send_a_wake_up(self, queue, monkeypatch):
        lengths = []
        monkeypatch.setattr(tasks._sending, "wake", lambda: lengths.append(queue()))
        wake_up.send(OUTBOX.task)

        tasks.send_due_webhooks()
        wake_up.send(OUTBOX.task)

        assert (lengths, queue()) == ([1], 2)


class TestPruneWebhookAttempts:
    @pytest.mark.django_db
    def test_deletes_attempts_after_30_days_and_keeps_events(self, monkeypatch):
        monkeypatch.setattr(batches, "_BATCH", 2)
        event, now = DeliveryFactory.create().events.get(), timezone.now()
        monkeypatch.setattr(tasks, "agreed_now", lambda: now)
        ages = [timedelta(days=30), *[timedelta(days=30, seconds=1)] * 5]
        for number, age in enumerate(ages):
            WebhookAttempt.objects.create(event=event, number=number, at=now - age, milliseconds=1)

        tasks.prune_webhook_attempts()

        assert WebhookAttempt.objects.get().number == 0
        assert WebhookEvent.objects.count() == 1
