"""Periodic Celery tasks of requests about personal data."""

from celery import shared_task

from common.clock import agreed_now
from privacy import requests


@shared_task(name="privacy.finish_requests")
def finish_requests() -> None:
    """Forget what has ended since, of the people who have asked for it."""
    requests.finish_open(at=agreed_now())
