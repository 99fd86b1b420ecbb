"""Metrics of all processes, read from any of them, while processes are killed."""

import json
import time
from contextlib import suppress
from http.client import HTTPConnection, HTTPException

import pytest
from django.conf import settings
from prometheus_client.parser import text_string_to_metric_families
from redis import Redis

from common import metrics
from delivery.models import Delivery
from tests.factories import payload
from tests.faults.report import await_all
from tests.faults.waiting import DEADLINE_SECONDS, until
from tests.ports import free_port, listens

_TOKEN = "a-token-of-prometheus-for-these-tests"


@pytest.fixture(scope="module")
def web(module_processes):
    """The port of two web processes, with a worker and beat."""
    Redis.from_url(settings.REDIS_URL).delete(metrics.KEY)
    port = free_port()
    environment = {"METRICS_TOKEN": _TOKEN, "WEB_WORKERS": "2", "RATE_LIMIT_PER_SECOND": "0"}
    process = module_processes.start("web", port=port, **environment)
    module_processes.start("worker", **environment)
    module_processes.start("beat", **environment)
    until(lambda: listens(port), what="the web server")
    return port, process


def call(port, method, path, body=None, token=""):
    # A new one, so that either process may get it.
    connection = HTTPConnection("127.0.0.1", port, timeout=DEADLINE_SECONDS)
    try:
        headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
        connection.request(method, path, body, headers)
        response = connection.getresponse()
        return response.status, response.read().decode()
    finally:
        connection.close()


def scrape(port):
    status, text = call(port, "GET", "/metrics", token=_TOKEN)
    assert status == 200
    return {
        (sample.name, *(value for _name, value in sorted(sample.labels.items()))): sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
    }


def eventually(port, is_true):
    """The first scrape that is so. Connections to a process that is killed are repeated."""
    end, found = time.monotonic() + DEADLINE_SECONDS, {}
    while time.monotonic() < end:
        with suppress(OSError, HTTPException):
            found = scrape(port)
            if is_true(found):
                return found
        time.sleep(0.5)
    raise AssertionError(found)


def test_every_process_is_counted_and_a_killed_one_stays_counted(web, shop, endpoint):
    port, process = web
    route = ("rota_http_requests_total", "api/request-delivery", "POST", "201")
    body = json.dumps(payload(stops=1))

    statuses = [call(port, "POST", "/api/request-delivery", body, shop.clear_text)[0] for _ in range(40)]
    first = eventually(port, lambda found: found.get(route) == 40)
    created = {(str(pk), 1) for pk in Delivery.objects.filter(token=shop).values_list("pk", flat=True)}
    await_all(created, endpoint)
    for child in process.children():
        child.kill()  # granian starts another one
    second = eventually(port, lambda found: found.get(("rota_webhook_sent_seconds_count",)) == 40)

    assert statuses == [201] * 40
    assert first["rota_moves_total", "live", "request"] == 40
    assert second[route] == 40
    assert second["rota_webhook_attempts_total", "2xx"] == 40
    assert second["rota_webhook_events_ended_total", "sent"] == 40
    assert second["rota_tasks_total", "SUCCESS", "delivery.webhooks.send_due"] > 0
    assert second["rota_beat_tasks_sent_total", "delivery.webhooks.send_due"] > 0
    assert second["rota_http_wait_seconds_count",] >= 40
    assert {name: second["rota_check_ok", name] for name in ("database", "redis", "beat", "worker")} == dict.fromkeys(
        ("database", "redis", "beat", "worker"), 1
    )
