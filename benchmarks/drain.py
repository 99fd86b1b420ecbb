"""Throughput of one worker process with a backlog of events, compared with bare aiohttp."""

import subprocess
import sys
import time
from typing import NamedTuple

from django.db import connection

from benchmarks import processes, report, seed
from common.workers import wake_up
from config.env import BASE_DIR
from delivery.models import WebhookAttempt, WebhookEndpoint, WebhookEvent, WebhookQueueItem
from delivery.webhooks.outbox import OUTBOX

_EVENTS, _ENDPOINTS, _EACH = 20_000, 50, 4
_RUNS = 7
_LONGEST_SECONDS = 120


class Drained(NamedTuple):
    """Events per second, and microseconds of CPU time for one."""

    per_second: float
    sender: float
    postgres: float = 0

    @property
    def cpu(self) -> float:
        return self.sender + self.postgres


def run() -> None:
    ours, bare = [], []
    with processes.sink() as sink:
        seed.empty()
        deliveries = seed.deliveries(seed.accounts(_ENDPOINTS, url=sink.url), each=_EVENTS // _ENDPOINTS // _EACH)
        for _run in range(_RUNS):
            seed.due_events(deliveries, each=_EACH)
            body = WebhookEvent.objects.values_list("body", flat=True)[0]
            ours.append(_drain())
            bare.append(_bare(sink.url, body))
            print(f"Rota {_text(ours[-1])}; bare aiohttp {_text(bare[-1])}", flush=True)
    report.table(
        f"Drain of {_EVENTS:,} events over {_ENDPOINTS} endpoints that answer after 1 ms, {_EACH} events a delivery, "
        f"{_RUNS} runs in turn; median (least to greatest)",
        ["sender", "events/s", "CPU µs an event: sender", "PostgreSQL"],
        [
            (
                name,
                report.spread([run.per_second for run in runs]),
                report.spread([1e6 * run.sender for run in runs]),
                report.spread([1e6 * run.postgres for run in runs]),
            )
            for name, runs in [("Rota, one worker process", ours), ("bare aiohttp, no database: the limit", bare)]
        ],
    )
    pairs = list(zip(ours, bare, strict=True))
    shares = {
        "events/s": [our.per_second / limit.per_second for our, limit in pairs],
        "CPU time of bare aiohttp to that of the sender": [limit.sender / our.sender for our, limit in pairs],
        "to that of the sender and PostgreSQL": [limit.cpu / our.cpu for our, limit in pairs],
    }
    report.table(
        "Share of bare aiohttp, run by run",
        ["", "median (least to greatest)"],
        [(name, report.spread([100 * share for share in run], unit=" %", digits=1)) for name, run in shares.items()],
    )


def _text(run: Drained) -> str:
    return f"{run.per_second:,.0f}/s, CPU {1e6 * run.sender:.0f} + {1e6 * run.postgres:.0f} µs"


def _drain() -> Drained:
    """From the wake-up call until the last outcome is stored."""
    WebhookEndpoint.objects.update(enabled=False, off_because="staff", off_since="2026-01-01T00:00Z")
    with processes.worker(processes=1) as pid:
        WebhookEndpoint.objects.update(enabled=True, off_because="", off_since=None)
        started = time.monotonic()
        cpu, postgres_cpu = processes.cpu_seconds(pid), processes.postgres_cpu_seconds()
        wake_up.send(OUTBOX.task)
        while WebhookQueueItem.objects.exists():
            if time.monotonic() - started > _LONGEST_SECONDS:
                raise RuntimeError(
                    f"{WebhookQueueItem.objects.count()} deliveries still wait after {_LONGEST_SECONDS} s"
                )
            time.sleep(0.02)
        took = time.monotonic() - started
        cpu, postgres_cpu = processes.cpu_seconds(pid) - cpu, processes.postgres_cpu_seconds() - postgres_cpu
    sent = WebhookAttempt.objects.filter(status_code=204).count()
    if sent != _EVENTS:
        raise RuntimeError(f"{sent} attempts succeeded, not {_EVENTS}")
    with connection.cursor() as cursor:
        cursor.execute("TRUNCATE delivery_webhookattempt, delivery_webhookqueueitem, delivery_webhookevent")
    return Drained(_EVENTS / took, cpu / _EVENTS, postgres_cpu / _EVENTS)


def _bare(url: str, body: str) -> Drained:
    command = [sys.executable, "-m", "benchmarks.bare", url, str(_EVENTS)]
    output = subprocess.run(command, input=body.encode(), cwd=BASE_DIR, check=True, capture_output=True).stdout
    per_second, cpu = map(float, output.split())
    return Drained(per_second, cpu)
