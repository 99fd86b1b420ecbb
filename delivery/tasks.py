"""Periodic Celery tasks of area A."""

from celery import shared_task
from django.utils import timezone

from delivery.actions import offers


@shared_task(name="delivery.expire_offers")
def expire_offers() -> None:
    """Expire overdue offers."""
    offers.expire_overdue(at=timezone.now())
