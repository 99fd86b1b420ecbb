"""`python -m tests.faults.worker_to_loopback …` is `python -m celery …`, whose webhooks may be sent to this machine.

For workers with DATABASE_URL and REDIS_URL, which count as production: the setting WEBHOOK_ALLOW_LOOPBACK is off there.
"""

import os
import sys

from celery.__main__ import main
from django.conf import settings

if __name__ == "__main__":
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    settings.WEBHOOK_ALLOW_LOOPBACK = True
    sys.exit(main())
