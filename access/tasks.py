"""Periodic work of the log-in."""

from celery import shared_task

from access import sessions, throttle


@shared_task(name="access.prune_attempts")
def prune_attempts() -> None:
    """Delete the counters of failed log-ins whose window is over."""
    throttle.prune()


@shared_task(name="access.prune_sessions")
def prune_sessions() -> None:
    """Delete the sessions that have ended."""
    sessions.prune()
