"""The least Django project that sends with django-webhook: one settings module, which is the Celery app too."""

import os

import django
from celery import Celery
from django.conf import settings

settings.configure(
    SECRET_KEY="benchmark",  # pragma: allowlist secret  # of a benchmark
    INSTALLED_APPS=["django.contrib.contenttypes", "django.contrib.auth", "django_webhook"],
    DATABASES={
        "default": {
            "ENGINE": "django.db.backends.postgresql",
            "NAME": "peer",
            "HOST": os.environ["PGHOST"],
            "USER": os.environ["PGUSER"],
        }
    },
    DEFAULT_AUTO_FIELD="django.db.models.BigAutoField",
    USE_TZ=True,
    DJANGO_WEBHOOK={"MODELS": []},
)
app = Celery("peer", broker=os.environ["BROKER"])
app.conf.task_ignore_result = True
app.conf.worker_hijack_root_logger = False
django.setup()
app.autodiscover_tasks(["django_webhook"])
