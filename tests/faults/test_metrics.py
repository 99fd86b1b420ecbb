"""Metrics of all processes, read from any of them, while processes are killed."""

import time
from contextlib import suppress

import pytest
import requests
from django.conf import settings
from prometheus_client.parser import text_string_to_metric_families
from redis import Redis

from common.observability import metrics
from delivery.models import Delivery
from tests.faults.calls import call, new_session
from tests.faults.report import await_all
from tests.faults.waiting import DEADLINE_SECONDS

_TOKEN = "a-token-of-prometheus-for-these-tests"


@pytest.fixture(scope="module")
def web(module_processes):
    """A web server of two processes, with a worker and beat."""
    Redis.from_url(settings.REDIS_URL).delete(metrics.KEY)
    environment = {"METRICS_TOKEN": _TOKEN, "WEB_WORKERS": "2", "RATE_LIMIT_PER_SECOND": "0"}
    web = module_processes.start_web(**environment)
    module_processes.start("worker", **environment)
    module_processes.start("beat", **environment)
    return web


def scrape(base):
    """With a new connection, so that either process may get it."""
    with new_session() as session:
        headers = {"Authorization": f"Bearer {_TOKEN}"}
        answer = session.get(f"{base}/metrics", headers=headers, timeout=DEADLINE_SECONDS)
    assert answer.status_code == 200
    return {
        (sample.name, *(value for _name, value in sorted(sample.labels.items()))): sample.value
        for family in text_string_to_metric_families(answer.text)
        for sample in family.samples
    }


def request_delivery(base, callers):
    """With a new connection too. Returns the status."""
    with new_session() as session:
        return call(session, base, callers.delivery()).status


def eventually(base, is_true):
    """The first scrape that is so. Connections to a process that is killed are repeated."""
    end, found = time.monotonic() + DEADLINE_SECONDS, {}
    while time.monotonic() < end:
        with suppress(requests.RequestException):
            found = scrape(base)
            if is_true(found):
                return found
        time.sleep(0.5)
    raise AssertionError(found)


def test_every_process_is_counted_and_a_killed_one_stays_counted(web, callers, shop, endpoint):
    route = ("rota_http_requests_total", "api/request-delivery", "POST", "201")

    statuses = [request_delivery(web.base, callers) for _ in range(40)]
    first = eventually(web.base, lambda found: found.get(route) == 40)
    created = {(str(pk), 1) for pk in Delivery.objects.filter(token=shop).values_list("pk", flat=True)}
    await_all(created, endpoint)
    for child in web.children():
        child.kill()  # granian starts another one
    restarted = ("rota_process_starts_total", "web")  # two, and two in their place
    second = eventually(
        web.base, lambda found: found.get(("rota_webhook_sent_seconds_count",)) == 40 and found.get(restarted, 0) >= 4
    )

    assert statuses == [201] * 40
    assert (first[restarted], second["rota_process_starts_total", "beat"]) == (2, 1)
    assert first["rota_moves_total", "live", "request"] == 40
    assert second[route] == 40
    assert second["rota_webhook_attempts_total", "2xx"] == 40
    assert second["rota_webhook_events_ended_total", "sent"] == 40
    assert second["rota_tasks_total", "SUCCESS", "delivery.webhooks.send_due"] > 0
    assert second["rota_beat_tasks_sent_total", "config.wake_threads"] > 0
    assert second["rota_http_wait_seconds_count",] >= 40
    assert {name: second["rota_check_ok", name] for name in ("database", "redis", "beat", "worker")} == dict.fromkeys(
        ("database", "redis", "beat", "worker"), 1
    )
