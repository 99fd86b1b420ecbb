"""`python drain.py URL COUNT`: queue COUNT events, start one worker process, print events per second.

The body comes on standard input. The clock runs from the first event's start to the last one's end.
"""

import os
import subprocess
import sys
import time

from app import app
from django.core.management import call_command

_ENDPOINTS = 50
_LONGEST_SECONDS = 300


def main(url: str, count: int, body: str) -> float:
    call_command("migrate", verbosity=0)
    from django_webhook.models import Webhook, WebhookEvent, WebhookSecret
    from django_webhook.tasks import fire_webhook

    WebhookEvent.objects.all().delete()
    Webhook.objects.all().delete()
    app.control.purge()
    webhooks = [Webhook.objects.create(url=url) for _number in range(_ENDPOINTS)]
    for webhook in webhooks:
        WebhookSecret.objects.create(webhook=webhook, token="x" * 32)
    for number in range(count):
        fire_webhook.delay(webhooks[number % _ENDPOINTS].pk, body)
    worker = subprocess.Popen(
        [sys.executable, "-W", "ignore", "-m", "celery", "-A", "app", "-q", "worker", "-c", "1", "-l", "ERROR"],
        env={**os.environ},
        stdout=subprocess.DEVNULL,
    )
    try:
        done = WebhookEvent.objects.filter(status="SUCCESS")
        deadline = time.monotonic() + _LONGEST_SECONDS
        while not WebhookEvent.objects.exists():
            time.sleep(0.005)
        started = time.monotonic()
        while done.count() < count:
            if time.monotonic() > deadline:
                raise RuntimeError(f"only {done.count()} of {count} were sent")
            time.sleep(0.02)
        return count / (time.monotonic() - started)
    finally:
        worker.terminate()
        worker.wait(30)


if __name__ == "__main__":
    print(main(sys.argv[1], int(sys.argv[2]), sys.stdin.read()))
