"""Waking workers through a real broker, and through one that is away."""

import os
import subprocess
import sys

import pytest
from django.utils import timezone
from redis import Redis

from config import celery_app
from config.env import BASE_DIR
from config.local import embedded
from delivery.actions import endpoints
from delivery.webhooks import dispatch, tasks, wake_up
from tests.factories import BY, DeliveryFactory, TokenFactory
from tests.production import ENVIRONMENT

_TIMED_CALLS = """
import time, django
django.setup()
from delivery.webhooks import wake_up
for _number in range(3):
    started = time.monotonic()
    wake_up.send()
    print(time.monotonic() - started)
"""


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
    @pytest.mark.django_db(transaction=True)
    def test_sends_a_wake_up_after_the_commit_of_a_change(self, queue):
        DeliveryFactory.create(token=token_with_url())

        assert queue() == 1

    @pytest.mark.django_db(transaction=True)
    def test_sends_one_wake_up_for_several_changes(self, queue):
        for _number in range(3):
            DeliveryFactory.create(token=token_with_url())

        assert queue() == 1

    @pytest.mark.django_db(transaction=True)
    def test_sends_none_for_an_endpoint_without_a_url(self, queue):
        DeliveryFactory.create()

        assert queue() == 0

    @pytest.mark.django_db
    def test_sends_none_before_the_commit(self, queue):
        DeliveryFactory.create(token=token_with_url())

        assert queue() == 0

    def test_does_not_connect_again_for_two_seconds_when_the_broker_is_away(self):
        keep = {name: value for name, value in os.environ.items() if name in {"PATH", "HOME"}}

        result = subprocess.run(
            [sys.executable, "-c", _TIMED_CALLS],
            cwd=BASE_DIR,
            env={**keep, **ENVIRONMENT, "DJANGO_SETTINGS_MODULE": "config.settings"},
            capture_output=True,
            text=True,
            check=False,
        )

        assert result.returncode == 0, result.stderr
        first, second, third = map(float, result.stdout.split())
        assert first < 3
        assert max(second, third) < 0.01
        assert result.stderr.count("beat will do it") == 1


class TestSendDue:
    def test_wakes_the_sender_and_lets_the_next_change_send_a_wake_up(self, queue, monkeypatch):
        lengths = []
        monkeypatch.setattr(dispatch, "wake", lambda: lengths.append(queue()))
        wake_up.send()

        tasks.send_due()
        wake_up.send()

        assert (lengths, queue()) == ([1], 2)
