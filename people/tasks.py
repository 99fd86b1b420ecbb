"""Periodic work of the log-in."""

from celery import shared_task

from people import throttle


@shared_task(name="people.prune_attempts")
def prune_attempts() -> None:
    """Delete the counters of failed log-ins whose window is over."""
    throttle.prune()
