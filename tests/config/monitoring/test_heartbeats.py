"""Signs of life of beat and of the workers."""

from functools import partial

import pytest
from celery import signals

from common.connections import redis
from common.workers import wake_up
from config import celery
from config.celery import app as celery_app
from config.monitoring import heartbeats


@pytest.fixture(autouse=True)
def _nobody_yet():
    heartbeats._written_at.clear()
    redis().delete(*(heartbeats._key(process) for process in heartbeats.PROCESSES))


class TestAges:
    def test_are_seconds_since_the_last_sign_of_life_and_unknown_without_one(self):
        before = heartbeats.ages()

        heartbeats.written_by("worker")

        assert before == {"beat": None, "worker": None}
        assert heartbeats.ages() == {"beat": None, "worker": pytest.approx(30, abs=30)}

    def test_are_those_of_the_first_sign_within_five_seconds(self):
        heartbeats.written_by("worker")
        redis().pexpire(heartbeats._key("worker"), heartbeats._KEPT_MS - 3000)

        heartbeats.written_by("worker")

        assert (heartbeats.ages()["worker"] or 0) >= 3


class TestSignals:
    def test_a_task_that_has_run_is_a_sign_of_a_worker(self):
        task = celery_app.tasks["celery.backend_cleanup"]

        signals.task_postrun.send(sender=task, task=task, state="SUCCESS")

        assert heartbeats.ages()["worker"] is not None

    def test_a_task_that_was_sent_is_a_sign_of_beat_in_beat_only(self):
        signals.after_task_publish.send(sender="x")
        in_another_process = heartbeats.ages()["beat"]
        signals.beat_init.send(sender="beat")

        signals.after_task_publish.send(sender="x")

        signals.after_task_publish.disconnect(celery._beat_has_sent)
        assert in_another_process is None
        assert heartbeats.ages()["beat"] is not None


@pytest.mark.parametrize(
    ("module", "act", "told"),
    [
        (heartbeats, partial(heartbeats.written_by, "worker"), "The sign of life was not written"),
        (heartbeats, heartbeats.clock_differs, "The difference of the clocks was not noted"),
        (celery, celery._drop_oldest, "The queue of tasks was not shortened"),
        (wake_up, partial(wake_up.received, "a.task"), "Redis is away"),
    ],
    ids=["sign of life", "clocks", "queue", "wake-up"],
)
def test_a_redis_that_is_away_is_logged_and_raises_nothing(monkeypatch, settings, caplog, module, act, told):
    settings.REDIS_URL = "redis://127.0.0.1:1"
    client = redis.__wrapped__()
    monkeypatch.setattr(module, "redis", lambda: client)

    act()

    assert told in caplog.text
