"""Waking workers: a real broker that is there, and one that is not."""

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
from delivery.webhooks import dispatch, tasks
from tests.factories import BY, DeliveryFactory, TokenFactory
from tests.production import ENVIRONMENT

_CLOCKED = """
import time, django
django.setup()
from delivery.webhooks import tasks
for _call in range(3):
    started = time.monotonic()
    tasks.wake()
    print(time.monotonic() - started)
"""


def addressed():
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
        redis.delete(name, tasks._CALLED)
        yield lambda: redis.llen(name)
        redis.delete(name, tasks._CALLED)


class TestWake:
    @pytest.mark.django_db(transaction=True)
    def test_follows_the_commit_of_a_change(self, queue):
        DeliveryFactory.create(token=addressed())

        assert queue() == 1

    @pytest.mark.django_db(transaction=True)
    def test_goes_once_however_many_changes_there_are_before_a_worker_looks(self, queue):
        for _number in range(3):
            DeliveryFactory.create(token=addressed())

        assert queue() == 1

    @pytest.mark.django_db(transaction=True)
    def test_does_not_go_where_nothing_can_be_sent(self, queue):
        DeliveryFactory.create()

        assert queue() == 0

    @pytest.mark.django_db
    def test_does_not_go_before_the_commit(self, queue):
        DeliveryFactory.create(token=addressed())

        assert queue() == 0

    def test_costs_a_request_next_to_nothing_when_the_broker_is_away(self):
        keep = {name: value for name, value in os.environ.items() if name in {"PATH", "HOME"}}

        result = subprocess.run(
            [sys.executable, "-c", _CLOCKED],
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
    def test_looks_and_lets_the_next_change_call_again(self, queue, monkeypatch):
        looked = []
        monkeypatch.setattr(dispatch, "look", lambda: looked.append(queue()))
        tasks.wake()

        tasks.send_due()
        tasks.wake()

        assert (looked, queue()) == ([1], 2)
