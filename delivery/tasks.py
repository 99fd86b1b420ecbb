"""Periodic Celery tasks of area A."""

from celery import shared_task
from django.utils import timezone

from delivery.actions import offers, refused_calls


@shared_task(name="delivery.expire_offers")
def expire_offers() -> None:
    """Expire overdue offers."""
    offers.expire_overdue(at=timezone.now())


@shared_task(name="delivery.prune_refused_calls")
def prune_refused_calls() -> None:
    """Delete refused calls that are older than seven days."""
    refused_calls.prune(at=timezone.now())
