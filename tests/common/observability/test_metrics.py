"""Sums of what processes count, in a real Redis."""

import pytest
from prometheus_client import CollectorRegistry, Counter, Histogram, generate_latest
from redis import Redis, RedisError

from common.observability import metrics
from common.observability.metrics import SharedCounts


class Process:
    """What one process counts, with a connection of its own."""

    def __init__(self, url):
        self.registry = CollectorRegistry()
        self.calls = Counter("calls", "Calls", ["path"], registry=self.registry)
        self.seconds = Histogram("seconds", "Time", buckets=(0.5, 1, 10), registry=self.registry)
        self.redis = Redis.from_url(url, socket_timeout=1)
        self.counts = SharedCounts(self.redis, self.registry)

    def shown(self):
        return {
            (sample.name, *sample.labels.values()): sample.value
            for family in self.counts.collect()
            for sample in family.samples
        }


@pytest.fixture
def process(settings):
    def make():
        made = Process(settings.REDIS_URL)
        made.redis.delete(metrics.KEY)
        return made

    return make


class TestSums:
    def test_are_those_of_all_processes_with_each_count_once(self, process):
        first, second, other = process(), process(), process()
        first.calls.labels("/a").inc(2)
        second.calls.labels("/a").inc(3)
        second.calls.labels("/b").inc()

        for counting in (first, second, second):
            counting.counts.add()
        first.calls.labels("/a").inc()
        first.counts.add()

        shown = other.shown()
        assert (shown["calls_total", "/a"], shown["calls_total", "/b"]) == (6, 1)

    def test_hold_histograms_with_their_buckets_in_order(self, process):
        first, second = process(), process()
        first.seconds.observe(0.7)
        second.seconds.observe(30)
        first.counts.add()
        second.counts.add()

        text = generate_latest(first.counts).decode()

        assert text.splitlines()[-6:] == [
            'seconds_bucket{le="0.5"} 0.0',
            'seconds_bucket{le="1.0"} 1.0',
            'seconds_bucket{le="10.0"} 1.0',
            'seconds_bucket{le="+Inf"} 2.0',
            "seconds_count 2.0",
            "seconds_sum 30.7",
        ]

    def test_of_another_version_are_left_out(self, process):
        one = process()
        one.redis.hset(metrics.KEY, '["of_the_future_total", []]', 3)
        one.calls.labels("/a").inc()
        one.counts.add()

        names = {name for name, *_labels in one.shown()}

        assert "of_the_future_total" not in names
        assert "calls_total" in names

    def test_begin_at_0_when_redis_is_emptied(self, process):
        one = process()
        one.calls.labels("/a").inc(5)
        one.counts.add()
        one.redis.delete(metrics.KEY)
        one.calls.labels("/a").inc()

        one.counts.add()

        assert one.shown()["calls_total", "/a"] == 1


class TestOutage:
    def test_loses_nothing(self, process, monkeypatch):
        one = process()
        one.calls.labels("/a").inc(2)
        with monkeypatch.context() as patch:
            patch.setattr(one.counts, "_redis", Redis.from_url("redis://127.0.0.1:1"))
            with pytest.raises(RedisError):
                one.counts.add()
        one.calls.labels("/a").inc()

        one.counts.add()

        assert one.shown()["calls_total", "/a"] == 3

    def test_is_logged_once(self, process, monkeypatch, caplog):
        one = process()
        one.calls.labels("/a").inc(2)
        monkeypatch.setattr(one.counts, "_redis", Redis.from_url("redis://127.0.0.1:1"))
        monkeypatch.setattr(metrics, "shared", lambda: one.counts)

        added = metrics._add(was_away=False), metrics._add(was_away=True)

        assert added == (False, False)
        assert caplog.text.count("Metrics are added when Redis answers again") == 1
