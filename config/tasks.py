"""Periodic work that belongs to no area."""

from celery import shared_task
from django.contrib.sessions.models import Session
from django.utils import timezone

# Small, so that no transaction of it is long. Django's own `clearsessions` deletes all in one.
_BATCH = 5000


@shared_task(name="config.clear_sessions")
def clear_sessions() -> None:
    """Delete the sessions that have expired, in batches that commit one by one."""
    expired = Session.objects.filter(expire_date__lt=timezone.now()).values("pk")
    deleted = _BATCH
    while deleted == _BATCH:
        deleted, _by_model = Session.objects.filter(pk__in=expired[:_BATCH]).delete()
