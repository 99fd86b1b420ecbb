"""Periodic work of the log-in."""

from celery import shared_task

from access import personal_data, sessions
from common import attempts
from common.clock import agreed_now


@shared_task(name="access.prune_attempts")
def prune_attempts() -> None:
    """Delete the counters of failed log-ins whose window is over."""
    attempts.prune()


@shared_task(name="access.prune_sessions")
def prune_sessions() -> None:
    """Delete the sessions that have ended."""
    sessions.prune()


@shared_task(name="access.finish_person_requests")
def finish_person_requests() -> None:
    """Anonymise what has ended since people asked for it."""
    personal_data.finish_open(at=agreed_now())
