"""Periodic work of the log-in."""

from celery import shared_task
from django.db import connection

from access import personal_data, sessions
from access.models import AccessLink
from common.clock import agreed_now
from common.models import KeptUpload
from common.pages import attempts
from common.postgresql import batches


@shared_task(name="access.prune_attempts")
def prune_attempts() -> None:
    """Delete the counters of failed log-ins whose window is over."""
    attempts.prune()


@shared_task(name="access.prune_sessions")
def prune_sessions() -> None:
    """Delete the sessions that have ended."""
    sessions.prune()


@shared_task(name="access.prune_links")
def prune_links() -> None:
    """Delete the links to access data that have expired."""
    batches.prune(AccessLink, "expires_at", before=agreed_now())


@shared_task(name="access.prune_uploads")
def prune_uploads() -> None:
    """Delete uploaded files that nobody has confirmed."""
    batches.prune(KeptUpload, "expires_at", before=agreed_now())
    with connection.cursor() as cursor:
        # 0.2 kept them in the cache, from which Django deletes what has expired only when it is full.
        cursor.execute("DELETE FROM cache WHERE expires < now()")


@shared_task(name="access.finish_person_requests")
def finish_person_requests() -> None:
    """Anonymise what has ended since people asked for it."""
    personal_data.finish_open(at=agreed_now())
