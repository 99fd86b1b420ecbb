"""Metrics as Prometheus reads them."""

import pytest
from prometheus_client.parser import text_string_to_metric_families

from common.cached import Cached
from common.connections import redis
from common.observability import metrics
from config.monitoring import exposition, readiness, requests, servers

TOKEN = "a-token-of-prometheus-for-these-tests"


@pytest.fixture
def metrics_token(settings):
    settings.METRICS_TOKEN = TOKEN
    return TOKEN


@pytest.fixture
def _nothing_counted():
    """Forget what former tests of this process have counted: thousands of samples, which take a second to read."""
    for metric in metrics.REGISTRY._collector_to_names:
        metric.clear()  # type: ignore[attr-defined]  # every one that counts has it
    requests._children.cache_clear()
    redis().delete(metrics.KEY)
    metrics.shared.cache_clear()


@pytest.fixture
def scrape(_nothing_counted, client, metrics_token, monkeypatch):
    """The value of each sample by its name and the values of its labels, these in the order of the labels' names.

    With what this process has counted since the last scrape.
    """

    def do():
        for cached, compute in (
            (f"{readiness.__name__}._results", readiness._examine),
            (f"{exposition.__name__}._gauges", exposition.read_gauges),
            (f"{exposition.__name__}._database", servers.read_database),
            (f"{exposition.__name__}._redis", servers.read_redis),
        ):
            monkeypatch.setattr(cached, Cached(compute, seconds=0))
        metrics.shared().add()
        response = client.get("/metrics", headers={"Authorization": f"Bearer {metrics_token}"})
        assert response.status_code == 200, response.content
        return {
            (sample.name, *(value for _name, value in sorted(sample.labels.items()))): sample.value
            for family in text_string_to_metric_families(response.content.decode())
            for sample in family.samples
        }

    return do
