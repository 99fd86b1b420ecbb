"""Wiring. Importing the Celery app here makes it the one that `shared_task` belongs to."""

from config.celery import app as celery_app

__all__ = ["celery_app"]
