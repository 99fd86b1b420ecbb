"""Intervals of the periodic tasks, and of reconnecting to a broker that is away."""

import subprocess
import sys
import time
from contextvars import copy_context
from datetime import timedelta
from functools import partial
from queue import Empty
from types import SimpleNamespace
from typing import Any
from unittest.mock import Mock

import pytest
import time_machine
from celery import signals
from celery.beat import Scheduler
from celery.fixups.django import DjangoWorkerFixup  # type: ignore[attr-defined]  # the types lack it
from celery.utils.dispatch import Signal
from django.utils import timezone
from kombu.exceptions import OperationalError
from kombu.utils import functional
from redis.exceptions import OutOfMemoryError, ReadOnlyError

from common import clock
from common.connections import redis
from common.observability import log_context
from config import celery
from config.celery import THREADS, QuietScheduler
from config.celery import app as celery_app
from config.env import BASE_DIR
from tests.cases import in_turn

SCHEDULE = celery_app.conf.beat_schedule


class TestConnection:
    def test_is_made_to_a_broker_whose_memory_is_full(self, monkeypatch):
        """Its tasks can be taken, which makes room."""
        monkeypatch.setattr(celery, "redis", Mock(side_effect=OutOfMemoryError))

        connection = celery_app.connection_for_read()

        assert connection.ensure_connection(max_retries=1).connected
        connection.release()

    def test_is_not_made_to_a_replica(self, monkeypatch):
        monkeypatch.setattr(functional, "sleep", lambda _seconds: None)
        monkeypatch.setattr(celery, "redis", Mock(side_effect=ReadOnlyError))

        with pytest.raises(OperationalError, match="takes no writes"):
            celery_app.connection_for_read().ensure_connection(max_retries=1)

    def test_to_a_broker_that_is_away_is_retried_after_pauses_of_up_to_two_seconds(self, monkeypatch):
        monkeypatch.setattr(functional, "sleep", lambda _seconds: None)
        pauses = []

        connection = celery_app.connection_for_read("redis://127.0.0.1:1")
        with pytest.raises(OperationalError):
            connection.ensure_connection(errback=lambda _error, pause: pauses.append(pause), max_retries=10)

        assert pauses == pytest.approx([0.2, 0.4, 0.6, 0.8, 1.0, 1.2, 1.4, 1.6, 1.8, 2.0])


class TestChannel:
    def test_puts_no_unacknowledged_message_back_when_it_is_closed(self):
        with celery_app.connection_for_write() as connection:
            queue = connection.SimpleQueue("unacknowledged")
            queue.put({})
            queue.get(timeout=30)
            queue.close()

        with celery_app.connection_for_write() as connection, pytest.raises(Empty):
            connection.SimpleQueue("unacknowledged").get(timeout=0.2)


class TestSchedule:
    def test_names_tasks_that_workers_know(self):
        """In a process of its own, which has imported nothing but what a worker imports."""
        unknown = (
            "from config.celery import app; app.loader.import_default_modules();"
            "from config.celery import THREADS;"
            "sent = {entry['task'] for entry in app.conf.beat_schedule.values()};"
            "print({*sent, *THREADS} - set(app.tasks))"
        )

        result = subprocess.run(
            [sys.executable, "-c", unknown], cwd=BASE_DIR, capture_output=True, text=True, check=False, timeout=50
        )

        assert (result.returncode, result.stdout.strip()) == (0, "set()"), result.stderr

    def test_does_not_go_by_the_clock_of_the_machine(self, monkeypatch):
        scheduler = Scheduler(celery_app, lazy=True)
        scheduler.setup_schedule()

        entry = scheduler.schedule["renew-arrivals"]
        assert not entry.is_due()[0]

        later = time.monotonic() + 15
        monkeypatch.setattr(celery, "time", SimpleNamespace(monotonic=lambda: later))
        with time_machine.travel(timezone.now() - timedelta(days=1)):
            assert entry.is_due()[0]

    def test_wakes_each_thread_by_one_message(self, monkeypatch):
        """Each message takes a worker and beat more time than the thread that it wakes."""
        celery_app.loader.import_default_modules()
        woken: list[str] = []
        for name in THREADS:
            monkeypatch.setitem(celery_app.tasks, name, partial(woken.append, name))

        celery_app.tasks["config.wake_threads"]()

        assert woken == list(THREADS)
        assert not {entry["task"] for entry in SCHEDULE.values()} & {*THREADS}

    def test_is_sent_although_its_entries_are_not_compared(self, monkeypatch):
        sent = []
        scheduler = QuietScheduler(celery_app, lazy=True)
        scheduler.setup_schedule()
        monkeypatch.setattr(scheduler, "apply_async", lambda entry, **_options: sent.append(entry.task))

        pauses = [scheduler.tick() for _again in range(2)]

        assert (sent, pauses[0]) == (["config.wake_threads"], 0)
        assert 0 < pauses[1] <= 5

    def test_tells_no_worker_to_compare_clocks(self):
        assert all("expires" not in entry.get("options", {}) for entry in SCHEDULE.values())

    @in_turn(
        ("name", "seconds", "sentence"),
        [
            ("wake-threads", 5, "task `delivery.advance_simulations` every five seconds"),
            ("renew-arrivals", 15, "and every 15 s for routes whose driver has sent a position"),
            ("send-alerts", 15, "task `delivery.send_alerts` every 15 s"),
            ("wake-threads", 5, "task `mail.send_due` every five seconds"),
            ("offer-scheduled", 15, "task `delivery.offer_scheduled` every 15 s"),
            ("plan-scheduled", 60, "task `delivery.plan_scheduled` every minute"),
            ("expire-offers", 30, "the periodic task, which runs every 30 s, has not expired the offer"),
            ("prune-attempts", 3600, "task `delivery.webhooks.prune`, hourly"),
            ("prune-proof-photos", 3600, "task `delivery.prune_proof_photos`, hourly"),
            ("prune-sessions", 3600, "`access.prune_sessions`, hourly"),
            ("pull-moments-back", 15, "Task `config.pull_moments_back`, every 15 s"),
            ("analyze-new-tables", 60, "Task `config.analyze_new_tables`, every minute"),
            ("forget-deliveries", 300, "task `delivery.forget`, every five minutes"),
        ],
    )
    def test_has_the_intervals_of_the_documentation(self, name, seconds, sentence):
        text = "".join((BASE_DIR / "docs" / page).read_text() for page in ("operations.md", "decisions.md"))

        assert sentence in " ".join(text.split())
        assert SCHEDULE[name]["schedule"].seconds == seconds


class TestConnectionToPostgreSQL:
    def test_is_kept_from_one_task_to_the_next(self, monkeypatch):
        fixup, closed = DjangoWorkerFixup(celery_app), Mock()
        monkeypatch.setattr(fixup, "_close_database", closed)
        task: Any = SimpleNamespace(request=SimpleNamespace(is_eager=False))

        for _task in range(1000):
            fixup.on_task_prerun(task)
            fixup.on_task_postrun(task)

        closed.assert_not_called()

    def test_is_closed_before_and_after_a_task_when_it_is_old(self, monkeypatch):
        closed, signals_of = Mock(), {name: Signal(name=name) for name in ("task_prerun", "task_postrun")}
        monkeypatch.setattr(celery, "close_old_connections", closed)
        monkeypatch.setattr(clock, "_while_different", None)
        monkeypatch.setattr(celery, "worker_process_shutdown", Mock())
        for name, signal in signals_of.items():
            monkeypatch.setattr(celery, name, signal)

        celery._start_monitoring()
        for signal in signals_of.values():
            signal.send(sender=None)

        assert closed.call_count == 2


def test_a_task_is_logged_with_its_name_and_nothing_of_the_task_before():
    task = celery_app.tasks["celery.backend_cleanup"]

    def two_tasks():
        for _task in range(2):
            signals.task_prerun.send(sender=task, task=task)
            noted = dict(log_context.noted())
            log_context.note("delivery", 7)
        return noted

    assert copy_context().run(two_tasks) == {"task": task.name}


class TestQueue:
    @pytest.fixture(autouse=True)
    def _empty(self):
        redis().delete("celery")

    def test_keeps_the_newest_messages(self, monkeypatch):
        monkeypatch.setattr(celery, "MOST_WAITING", 3)
        for number in range(5):
            celery_app.send_task("any", args=[number])

        celery._drop_oldest()

        with celery_app.connection_for_read() as connection:
            queue = connection.SimpleQueue("celery")
            kept = [queue.get(timeout=30).payload[0][0] for _ in range(redis().llen("celery"))]
        assert kept == [2, 3, 4]

    def test_is_left_alone_while_redis_is_away(self, monkeypatch, settings, caplog):
        settings.REDIS_URL = "redis://127.0.0.1:1"
        client = redis.__wrapped__()
        monkeypatch.setattr(celery, "redis", lambda: client)

        celery._drop_oldest()

        assert "The queue of tasks was not shortened" in caplog.text
