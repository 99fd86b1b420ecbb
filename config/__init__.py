"""Project configuration. Importing the Celery app here makes it the default app of `shared_task`."""

from config.celery import app as celery_app

__all__ = ["celery_app"]
