"""Throughput of one worker process with a backlog of events, compared with bare aiohttp."""

import subprocess
import sys
import time
from statistics import median

from django.db import connection

from benchmarks import processes, report, seed
from common import wake_up
from config.env import BASE_DIR
from delivery.models import WebhookAttempt, WebhookEndpoint, WebhookEvent, WebhookQueueItem
from delivery.webhooks.outbox import OUTBOX

_EVENTS, _ENDPOINTS, _EACH = 20_000, 50, 4
_RUNS = 5
_LONGEST_SECONDS = 120


def run() -> None:
    with processes.sink() as sink:
        seed.empty()
        deliveries = seed.deliveries(seed.accounts(_ENDPOINTS, url=sink.url), each=_EVENTS // _ENDPOINTS // _EACH)
        ours, bare = [], []
        for _run in range(_RUNS):
            seed.due_events(deliveries, each=_EACH)
            body = WebhookEvent.objects.values_list("body", flat=True)[0]
            ours.append(_drain())
            bare.append(_bare(sink.url, body))
            print(f"Rota {ours[-1]:,.0f}/s, bare aiohttp {bare[-1]:,.0f}/s", flush=True)
    rows = [("Rota, one worker process", ours), ("bare aiohttp, no database: the limit", bare)]
    shares = [our / limit for our, limit in zip(ours, bare, strict=True)]
    report.table(
        f"Drain of {_EVENTS:,} events over {_ENDPOINTS} endpoints that answer after 1 ms, {_EACH} events a delivery, "
        f"{_RUNS} runs",
        ["sender", "events/s: median (least to greatest)", "Rota's ratio to it"],
        [(name, report.spread(rates), f"{median(ours) / median(rates):.2f}") for name, rates in rows],
    )
    print(
        f"Share of bare aiohttp, run by run: {report.spread([100 * share for share in shares], unit=' %', digits=1)}\n"
    )


def _drain() -> float:
    """Events per second, from the wake-up call until the last outcome is stored."""
    WebhookEndpoint.objects.update(enabled=False, off_because="staff", off_since="2026-01-01T00:00Z")
    with processes.worker(processes=1):
        WebhookEndpoint.objects.update(enabled=True, off_because="", off_since=None)
        started = time.monotonic()
        wake_up.send(OUTBOX.task)
        while WebhookQueueItem.objects.exists():
            if time.monotonic() - started > _LONGEST_SECONDS:
                raise RuntimeError(
                    f"{WebhookQueueItem.objects.count()} deliveries still wait after {_LONGEST_SECONDS} s"
                )
            time.sleep(0.02)
        took = time.monotonic() - started
    sent = WebhookAttempt.objects.filter(status_code=204).count()
    if sent != _EVENTS:
        raise RuntimeError(f"{sent} attempts succeeded, not {_EVENTS}")
    with connection.cursor() as cursor:
        cursor.execute("TRUNCATE delivery_webhookattempt, delivery_webhookqueueitem, delivery_webhookevent")
    return _EVENTS / took


def _bare(url: str, body: str) -> float:
    command = [sys.executable, "-m", "benchmarks.bare", url, str(_EVENTS)]
    return float(subprocess.run(command, input=body.encode(), cwd=BASE_DIR, check=True, capture_output=True).stdout)
