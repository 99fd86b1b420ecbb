"""The Celery app and the periodic schedule."""

import logging
import os
import sys
import time
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from typing import Any

from celery import Celery, states
from celery.app.amqp import AMQP
from celery.apps import beat
from celery.beat import ScheduleEntry, Scheduler
from celery.schedules import schedule
from celery.signals import (
    after_task_publish,
    beat_init,
    setup_logging,
    task_postrun,
    task_prerun,
    worker_before_create_process,
    worker_init,
    worker_process_init,
    worker_process_shutdown,
)
from django.conf import settings
from django.db import close_old_connections
from django.utils.log import configure_logging
from kombu import Connection
from kombu.transport.redis import Channel
from prometheus_client import Counter
from redis import RedisError
from redis.exceptions import ConnectionError as RedisConnectionError
from redis.exceptions import OutOfMemoryError

from common import clock
from common.connections import NO_MASTER, redis
from common.observability import log_context, metrics
from common.postgresql import statistics
from config.monitoring import error_reports, heartbeats, logs, tracing
from config.server import preload

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
# `migrate` runs Django's checks. In a worker they would import all pages.
os.environ.setdefault("CELERY_SKIP_CHECKS", "1")

_log = logging.getLogger(__name__)
# Messages in the queue, which would grow while there are no workers. Older ones are dropped: beat repeats them.
MOST_WAITING = 1000
_SENT = Counter("rota_beat_tasks_sent", "Periodic tasks that beat has sent", ["task"], registry=metrics.REGISTRY)
_RUN = Counter("rota_tasks", "Tasks that workers have run", ["task", "state"], registry=metrics.REGISTRY)


# A worker that loses Redis does not put messages back into it: if one was being acknowledged, kombu 5.7 fails with an
# AttributeError and the worker ends. Nothing is lost, because the tasks are wake-ups that beat repeats.
Channel.do_restore = False


class BrokerConnection(Connection):
    """Retries a broker that is away or takes no writes, after pauses of 0.2 to 2 s; kombu's grow to 30 s."""

    def ensure_connection(self, *args: Any, **kwargs: Any) -> Any:
        pauses = {"interval_start": 0.2, "interval_step": 0.2, "interval_max": 2}
        return super().ensure_connection(*args, **{**kwargs, **pauses})

    def _establish_connection(self) -> Any:
        """Without the write a worker would connect to a replica, fail and connect again, several times a second.

        From a Redis whose memory is full tasks can still be taken, which makes room.
        """
        try:
            with suppress(OutOfMemoryError):
                redis().set("rota:broker", 1, px=1000)
        except NO_MASTER as error:
            raise RedisConnectionError(f"the broker takes no writes: {error}") from error
        return super()._establish_connection()


class QuietScheduler(Scheduler):
    """Logs one line where Celery's logs 30 kB: a task that could not be sent, while Redis is away or full."""

    def schedules_equal(self, *_schedules: Any) -> bool:
        """Whether nothing was added since the last task. Celery's compares all entries, and here they never change."""
        return True

    def apply_entry(self, entry: ScheduleEntry, producer: Any = None) -> None:
        try:
            self.apply_async(entry, producer=producer, advance=False)
        except Exception as error:  # noqa: BLE001  # as Celery's does: the next time may succeed
            _log.warning("The task %s was not sent: %s", entry.task, error)


class Beat(beat.Beat):
    """Beat without the tasks, Django's models and all that they import: it sends tasks by their names."""

    def init_loader(self) -> None:
        configure_logging(settings.LOGGING_CONFIG, settings.LOGGING)
        app.finalize()


class BrokerAMQP(AMQP):
    Connection = BrokerConnection


app = Celery("rota", amqp=BrokerAMQP)
app.Beat = app.subclass_with_self(Beat)  # type: ignore[misc]  # a cached property, which can be set
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks(["delivery", "integration", "access", "common.mail", "config"])


def _say(message: str, _file: Any = None) -> None:
    """Write what Celery's handlers of signals say as a log record. By `os.write`: they may interrupt another write."""
    record = logging.LogRecord("celery", logging.INFO, "", 0, message, (), None)
    os.write(sys.stderr.fileno(), f"{logs.formatter().format(record)}\n".encode())


@worker_init.connect
def _say_in_records(**_kwargs: Any) -> None:
    sys.modules["celery.apps.worker"].safe_say = _say  # type: ignore[attr-defined]  # by the name that it calls


@setup_logging.connect
def _leave_logging_to_django(**_kwargs: Any) -> None:
    """Celery adds no handlers, with a format of its own, where somebody listens to this signal."""


@task_prerun.connect
def _task_begins(task: Any, **_kwargs: Any) -> None:
    log_context.begin()
    log_context.note("task", task.name)


def _compare_clocks(**_kwargs: Any) -> None:
    clock.compare_if_due()


@task_postrun.connect
def _task_was_run(task: Any, state: str, **_kwargs: Any) -> None:
    heartbeats.written_by("worker")
    _RUN.labels(task.name, state).inc()
    if state == states.IGNORED:
        _log.warning("The task %s is left until the clocks agree", task.name)


@worker_before_create_process.connect
def _load(**_kwargs: Any) -> None:
    preload.load()


@worker_process_init.connect
def _start_monitoring(**_kwargs: Any) -> None:
    # As for a request: a connection is kept for CONN_MAX_AGE, and tested before it is used again.
    task_prerun.connect(close_old_connections)
    task_postrun.connect(close_old_connections)
    clock.compare_from_now_on(heartbeats.clock_differs)
    task_prerun.connect(_compare_clocks)
    metrics.STARTS.labels("worker").inc()
    metrics.start_thread()
    tracing.start("worker")
    error_reports.start()
    # Connected last, so that it counts and reports what the others do at the end.
    worker_process_shutdown.connect(_end_monitoring)


@worker_process_init.connect
def _start_senders(**_kwargs: Any) -> None:
    """Start the senders of webhooks, which look for what is due by themselves, also while Redis is away."""
    for name in SENDERS:
        app.tasks[name]()


def _end_monitoring(**_kwargs: Any) -> None:
    metrics.add_last()
    tracing.stop()
    error_reports.stop()


@beat_init.connect
def _beat_begins(**_kwargs: Any) -> None:
    metrics.STARTS.labels("beat").inc()
    metrics.start_thread()
    error_reports.start()
    after_task_publish.connect(_beat_has_sent, weak=False)


def _beat_has_sent(sender: str, **_kwargs: Any) -> None:
    heartbeats.written_by("beat")
    _SENT.labels(sender).inc()
    _drop_oldest()


def _drop_oldest() -> None:
    """Keep the newest MOST_WAITING messages, which web processes have sent too."""
    try:
        redis().ltrim(app.conf.task_default_queue, 0, MOST_WAITING - 1)
    except RedisError as error:
        _log.warning("The queue of tasks was not shortened: %s", error)


@app.task(name="config.analyze_new_tables")
def _analyze_new_tables() -> None:
    statistics.analyze_new()


def _counted() -> datetime:
    """The monotonic clock as a moment. Beat's schedule goes by it, so that the machine's clock may be set."""
    return datetime.fromtimestamp(time.monotonic(), UTC)


def _every(seconds: float, task: str, **options: Any) -> dict[str, Any]:
    return {"task": task, "schedule": schedule(timedelta(seconds=seconds), nowfun=_counted), **options}


# What only wakes a thread of a worker process is sent in one message: a message costs more than it does. Each thread
# makes one indexed query while there is nothing to do.
SENDERS = ("delivery.webhooks.send_due", "integration.webhooks.send_due")
THREADS = (
    *SENDERS,  # which go on by themselves: for one that has ended
    "delivery.advance_simulations",
    "integration.advance_simulations",
    "delivery.check_drafts",
    "mail.send_due",
)


@app.task(name="config.wake_threads")
def _wake_threads() -> None:
    for name in THREADS:
        app.tasks[name]()


# Without `expires`, which workers would compare with the clocks of their own machines: a task that is run late finds
# less to do.
app.conf.beat_schedule = {
    # Makes the moves of simulated deliveries and orders that fall due until the next time; prices the orders of shops
    # that are due, and requests automatic ones; sends e-mails that were recorded since, and those whose retry is due.
    # Also at once, so that a start need not wait for the first sign of life.
    "wake-threads": _every(5, "config.wake_threads", last_run_at=datetime.fromtimestamp(0, UTC)),
    # Computes when the drivers under way arrive. Moves start it too.
    "renew-arrivals": _every(15, "delivery.renew_all_arrivals"),
    # Deletes webhook attempts older than 30 days.
    "prune-attempts": _every(3600, "delivery.webhooks.prune"),
    # Delete refused calls older than seven days.
    "prune-refused-deliveries": _every(3600, "delivery.prune_refused_calls"),
    "prune-refused-orders": _every(3600, "integration.prune_refused_calls"),
    # Delete the answers to calls with an Idempotency-Key after 24 hours.
    "prune-idempotency-a": _every(3600, "delivery.prune_idempotency_records"),
    "prune-idempotency-b": _every(3600, "integration.prune_idempotency_records"),
    # Deletes the places of addresses after 90 days.
    "prune-located-addresses": _every(3600, "delivery.prune_located_addresses"),
    # Goes on with copying streets where a worker was stopped. One query of a table of one row.
    "copy-streets": _every(60, "delivery.copy_streets"),
    # Deletes photos older than PROOF_PHOTOS_KEPT, and files that interrupted uploads have left.
    "prune-proof-photos": _every(3600, "delivery.prune_proof_photos"),
    # Anonymise in bounded batches what is older than the FORGET_… settings say, and what people have asked for.
    "forget-deliveries": _every(300, "delivery.forget"),
    "forget-orders": _every(300, "integration.forget"),
    "forget-people": _every(300, "access.finish_person_requests"),
    # Deletes sessions that have ended.
    "prune-sessions": _every(3600, "access.prune_sessions"),
    # Deletes uploaded files that nobody has confirmed within an hour.
    "prune-uploads": _every(600, "access.prune_uploads"),
    # Deletes links to access data that were not opened within a day.
    "prune-access-links": _every(3600, "access.prune_links"),
    # Deletes counters of failed log-ins whose window is over.
    "prune-login-attempts": _every(600, "access.prune_attempts"),
    # Compares the state of each webhook endpoint with the one that was told last; digests at 8:00.
    "send-alerts": _every(15, "delivery.send_alerts"),
    "send-alerts-of-sellers": _every(15, "integration.send_alerts"),
    # Deletes alerts to URLs older than 30 days.
    "prune-alert-posts": _every(3600, "delivery.prune_alert_posts"),
    # Deletes e-mails older than 30 days.
    "prune-mail": _every(3600, "mail.prune"),
    # Corrects rows with moments ahead of now, after all clocks were put back. Indexed queries while there are none.
    "pull-moments-back": _every(15, "config.pull_moments_back"),
    # Analyses tables that have rows and no statistics. One quick query while there are none.
    "analyze-new-tables": _every(60, "config.analyze_new_tables"),
    # Offers scheduled routes at most 15 s after the moment that was planned; it is planned anew by where drivers are.
    "offer-scheduled": _every(15, "delivery.offer_scheduled"),
    "plan-scheduled": _every(60, "delivery.plan_scheduled"),
    # Expires offers at most 30 s after their deadline; acceptance checks the deadline itself.
    "expire-offers": _every(30, "delivery.expire_offers"),
}
