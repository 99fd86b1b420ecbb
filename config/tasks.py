"""The Celery tasks of all areas together. Imported by workers only."""

from celery import shared_task

from common.clock import agreed_now
from common.workers import moments
from config.moments import tables


@shared_task(name="config.pull_moments_back")
def pull_moments_back() -> None:
    """Correct moments that lie ahead of now, after all clocks were put back."""
    moments.pull_back(tables(), at=agreed_now())
