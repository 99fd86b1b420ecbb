"""Periodic work of area A."""

from celery import shared_task
from django.utils import timezone

from delivery.actions import offers


@shared_task(name="delivery.expire_offers")
def expire_offers() -> None:
    """End the offers that nobody took."""
    offers.expire_overdue(at=timezone.now())
