"""Waking workers: a real broker that is there, and one that is not."""

import os
import subprocess
import sys
import time

import pytest
from redis import Redis

from config import celery_app, embedded
from config.env import BASE_DIR
from delivery.webhooks import dispatch, tasks
from tests.factories import DeliveryFactory

_CLOCKED = """
import time, django
django.setup()
from delivery.webhooks import tasks
for _call in range(3):
    started = time.monotonic()
    tasks.wake()
    print(time.monotonic() - started)
"""


@pytest.fixture
def queue():
    """Length of the broker's queue, emptied before and after."""
    with (
        Redis.from_url(os.environ["REDIS_URL"])
        if os.environ.get("REDIS_URL")
        else Redis(unix_socket_path=str(embedded.redis_socket())) as redis
    ):
        name = celery_app.conf.task_default_queue
        redis.delete(name)
        yield lambda: redis.llen(name)
        redis.delete(name)


class TestWake:
    @pytest.mark.django_db(transaction=True)
    def test_follows_the_commit_of_a_change(self, queue):
        DeliveryFactory.create()

        assert queue() == 1

    @pytest.mark.django_db
    def test_does_not_go_before_the_commit(self, queue):
        DeliveryFactory.create()

        assert queue() == 0

    def test_costs_a_request_next_to_nothing_when_the_broker_is_away(self):
        keep = {name: value for name, value in os.environ.items() if name in {"PATH", "HOME"}}
        production = {
            "DATABASE_URL": "postgres://rota@127.0.0.1:1/rota",
            "REDIS_URL": "redis://127.0.0.1:1/0",
            "SECRET_KEY": "x" * 60,
            "CREDENTIALS_KEYS": "x",
            "ALLOWED_HOSTS": "rota.example.com",
            "DJANGO_SETTINGS_MODULE": "config.settings",
        }

        result = subprocess.run(
            [sys.executable, "-c", _CLOCKED],
            cwd=BASE_DIR,
            env={**keep, **production},
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
    def test_sends_until_nothing_is_due(self, monkeypatch):
        batches = iter([50, 50, 3, 0])
        monkeypatch.setattr(dispatch, "send_batch", lambda: next(batches))

        tasks.send_due()

        assert list(batches) == []

    def test_hands_over_after_its_shift(self, monkeypatch):
        woken, clock = [], iter(range(0, 1000, 15))
        monkeypatch.setattr(dispatch, "send_batch", lambda: 50)
        monkeypatch.setattr(tasks, "wake", lambda: woken.append(1))
        monkeypatch.setattr(time, "monotonic", lambda: next(clock))

        tasks.send_due()

        assert woken == [1]
