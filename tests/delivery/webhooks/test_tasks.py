"""Waking workers through a real broker, and through one that is away."""

import os
from types import SimpleNamespace

import pytest
from django.utils import timezone
from redis import Redis

from config import celery_app
from config.local import embedded
from delivery.actions import endpoints
from delivery.webhooks import dispatch, tasks, wake_up
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
        redis.delete(name, *wake_up._PENDING_KEYS.values())
        yield lambda: redis.llen(name)
        redis.delete(name, *wake_up._PENDING_KEYS.values())


class TestSend:
    @pytest.mark.django_db
    def test_sends_one_wake_up_after_the_commit_of_several_changes(self, queue, django_capture_on_commit_callbacks):
        with django_capture_on_commit_callbacks(execute=True):
            for _number in range(3):
                DeliveryFactory.create(token=token_with_url())
            before = queue()

        assert (before, queue()) == (0, 1)

    @pytest.mark.django_db
    def test_sends_none_for_an_endpoint_without_a_url(self, queue, django_capture_on_commit_callbacks):
        with django_capture_on_commit_callbacks(execute=True):
            DeliveryFactory.create()

        assert queue() == 0

    def test_does_not_connect_again_for_two_seconds_when_the_broker_is_away(self, monkeypatch, caplog):
        clock, asked = [1000.0], []
        monkeypatch.setattr(wake_up, "time", SimpleNamespace(monotonic=lambda: clock[0]))
        monkeypatch.setattr(wake_up, "_next_use", 0.0)
        away = Redis(port=free_port(), socket_connect_timeout=1)

        def ask():
            asked.append(clock[0])
            return away

        monkeypatch.setattr(wake_up, "redis", ask)

        for clock[0] in (1000.0, 1001.9, 1002.0):
            wake_up.send()

        assert asked == [1000.0, 1002.0]
        assert caplog.text.count("beat will do it") == 2


class TestSendDue:
    def test_wakes_the_sender_and_lets_the_next_change_send_a_wake_up(self, queue, monkeypatch):
        lengths = []
        monkeypatch.setattr(dispatch, "wake", lambda: lengths.append(queue()))
        wake_up.send()

        tasks.send_due()
        wake_up.send()

        assert (lengths, queue()) == ([1], 2)
