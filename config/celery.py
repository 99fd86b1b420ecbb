"""The Celery app and the periodic schedule."""

import os
from typing import Any

from celery import Celery
from celery.app.amqp import AMQP
from celery.signals import (
    after_task_publish,
    beat_init,
    task_postrun,
    task_prerun,
    worker_init,
    worker_process_init,
    worker_process_shutdown,
)
from django.conf import settings
from kombu import Connection
from kombu.transport.redis import Channel

from common import log_context, metrics
from config.database import without_sequential_scans
from monitoring import error_reports, heartbeats, tasks, tracing

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")


# A worker that loses Redis does not put messages back into it: if one was being acknowledged, kombu 5.7 fails with an
# AttributeError and the worker ends. Nothing is lost, because the tasks are wake-ups that beat repeats.
Channel.do_restore = False


class ConstantRetryConnection(Connection):
    """Retries a broker that is away every two seconds. Without `interval_max` the pauses would grow to 30 s."""

    def ensure_connection(self, *args: Any, **kwargs: Any) -> Any:
        return super().ensure_connection(*args, **{**kwargs, "interval_max": 2})


class ConstantRetryAMQP(AMQP):
    Connection = ConstantRetryConnection


app = Celery("rota", amqp=ConstantRetryAMQP)
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks(["delivery", "delivery.webhooks", "integration", "access", "mail", "privacy"])


@worker_init.connect
def _prepare_database(**_kwargs: Any) -> None:
    without_sequential_scans(settings.DATABASES["default"])


@task_prerun.connect
def _task_begins(task: Any, **_kwargs: Any) -> None:
    log_context.begin()
    log_context.note("task", task.name)


@task_postrun.connect
def _task_was_run(task: Any, state: str, **_kwargs: Any) -> None:
    heartbeats.written_by("worker")
    tasks.RUN.labels(task.name, state).inc()


@worker_process_init.connect
def _start_monitoring(**_kwargs: Any) -> None:
    metrics.start_thread()
    tracing.start("worker")
    error_reports.start()
    # Connected last, so that it counts and reports what the others do at the end.
    worker_process_shutdown.connect(_end_monitoring)


def _end_monitoring(**_kwargs: Any) -> None:
    metrics.add_last()
    tracing.stop()
    error_reports.stop()


@beat_init.connect
def _beat_begins(**_kwargs: Any) -> None:
    metrics.start_thread()
    error_reports.start()
    after_task_publish.connect(_beat_has_sent, weak=False)


def _beat_has_sent(sender: str, **_kwargs: Any) -> None:
    heartbeats.written_by("beat")
    tasks.SENT.labels(sender).inc()


# Every entry expires, so that a queue without workers does not grow.
app.conf.beat_schedule = {
    # Finds retries that have fallen due, and replaces wake-ups that were lost with Redis.
    "send-due-webhooks": {"task": "delivery.webhooks.send_due", "schedule": 2.0, "options": {"expires": 30}},
    # Makes the moves of simulated deliveries that are due. One indexed query while there are none.
    "advance-simulations": {"task": "delivery.advance_simulations", "schedule": 2.0, "options": {"expires": 30}},
    # Computes when the drivers under way arrive. Moves start it too.
    "renew-arrivals": {"task": "delivery.renew_all_arrivals", "schedule": 15.0, "options": {"expires": 15}},
    # Deletes webhook attempts older than 30 days.
    "prune-attempts": {"task": "delivery.webhooks.prune", "schedule": 3600.0, "options": {"expires": 3600}},
    # Delete refused calls older than seven days.
    "prune-refused-deliveries": {
        "task": "delivery.prune_refused_calls",
        "schedule": 3600.0,
        "options": {"expires": 3600},
    },
    "prune-refused-orders": {
        "task": "integration.prune_refused_calls",
        "schedule": 3600.0,
        "options": {"expires": 3600},
    },
    # Delete the answers to calls with an Idempotency-Key after 24 hours.
    "prune-idempotency-a": {
        "task": "delivery.prune_idempotency_records",
        "schedule": 3600.0,
        "options": {"expires": 3600},
    },
    "prune-idempotency-b": {
        "task": "integration.prune_idempotency_records",
        "schedule": 3600.0,
        "options": {"expires": 3600},
    },
    # Deletes photos older than PROOF_PHOTO_DAYS, and files that interrupted uploads have left.
    "prune-proof-photos": {"task": "delivery.prune_proof_photos", "schedule": 3600.0, "options": {"expires": 3600}},
    # Anonymise in bounded batches what is older than the FORGET_… settings say, and what people have asked for.
    "forget-deliveries": {"task": "delivery.forget", "schedule": 300.0, "options": {"expires": 300}},
    "forget-orders": {"task": "integration.forget", "schedule": 300.0, "options": {"expires": 300}},
    "forget-people": {"task": "privacy.finish_requests", "schedule": 300.0, "options": {"expires": 300}},
    # Deletes sessions that have ended.
    "prune-sessions": {"task": "access.prune_sessions", "schedule": 3600.0, "options": {"expires": 3600}},
    # Deletes counters of failed log-ins whose window is over.
    "prune-login-attempts": {"task": "access.prune_attempts", "schedule": 600.0, "options": {"expires": 600}},
    # Compares the state of each webhook endpoint with the one that was reported last; digests at 8:00.
    "send-alerts": {"task": "delivery.send_alerts", "schedule": 5.0, "options": {"expires": 30}},
    # Deletes alerts to URLs older than 30 days.
    "prune-alert-posts": {"task": "delivery.prune_alert_posts", "schedule": 3600.0, "options": {"expires": 3600}},
    # Sends e-mails that were recorded since, and those whose retry is due. One indexed query while there are none.
    "send-mail": {"task": "mail.send_due", "schedule": 5.0, "options": {"expires": 30}},
    # Deletes e-mails older than 30 days.
    "prune-mail": {"task": "mail.prune", "schedule": 3600.0, "options": {"expires": 3600}},
    # Expires offers at most 30 s after their deadline; acceptance checks the deadline itself.
    "expire-offers": {"task": "delivery.expire_offers", "schedule": 30.0, "options": {"expires": 30}},
}
