"""Periodic Celery tasks of area B."""

from celery import shared_task
from django.utils import timezone

from integration.actions import refused_calls


@shared_task(name="integration.prune_refused_calls")
def prune_refused_calls() -> None:
    """Delete refused calls that are older than seven days."""
    refused_calls.prune(at=timezone.now())
