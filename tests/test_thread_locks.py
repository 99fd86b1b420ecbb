"""Locks between the threads of a process: what a second thread does that arrives while the first is at work."""

import threading
from collections import Counter, OrderedDict
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import nullcontext
from types import SimpleNamespace
from typing import Any
from uuid import uuid4
from weakref import WeakSet

import pytest
from django.db import transaction
from django.utils import timezone
from prometheus_client import CollectorRegistry, Gauge
from redis import Redis

from common.api import rate_limit
from common.api.authentication import CALL
from common.api.rate_limit import Limiter, Refusal, Standing
from common.api.refused_calls import Recorder
from common.observability import metrics
from common.observability.metrics import SharedCounts
from common.webhooks import sender
from common.webhooks.sender import BackgroundSender
from common.workers import wake_up
from common.workers.deadlines import BoundedCalls, TooManyCalls
from common.workers.wake_up import BackgroundWork
from config.monitoring.readiness import _Group
from delivery.webhooks.outbox import OUTBOX
from panel.dispatch import board

_ENDS_AFTER = 10  # seconds, after which something hangs


class WatchedLock:
    """A lock that notes that a thread waits for it."""

    def __init__(self) -> None:
        self._lock, self.is_waited_for = threading.Lock(), False

    def __enter__(self) -> None:
        if not self._lock.acquire(blocking=False):
            self.is_waited_for = True
            assert self._lock.acquire(timeout=_ENDS_AFTER)

    def __exit__(self, *_error: object) -> None:
        self._lock.release()


class Second:
    """A call that another thread begins while the first is at work, once."""

    def __init__(self, lock: WatchedLock, pool: ThreadPoolExecutor) -> None:
        self._lock, self._pool = lock, pool
        self.call: Callable[[], Any] = lambda: None
        self._future: Future[Any] | None = None

    def arrives(self) -> None:
        """Return once the second thread waits for the lock, or has ended without."""
        if self._future is None:
            self._future = Future()  # should the call come here too
            self._future = self._pool.submit(self.call)
            while not self._lock.is_waited_for and not wait([self._future], timeout=0.01).done:
                pass

    def result(self) -> Any:
        assert self._future is not None
        return self._future.result(_ENDS_AFTER)


@pytest.fixture
def lock() -> WatchedLock:
    return WatchedLock()


@pytest.fixture
def second(lock: WatchedLock) -> Iterator[Second]:
    with ThreadPoolExecutor(1) as pool:
        yield Second(lock, pool)


class TestThreadOfAProcess:
    def test_is_started_once(self, lock, second, monkeypatch):
        started = []

        class Thread:
            def __init__(self, _outbox):
                pass

            def start(self):
                second.arrives()
                started.append(self)

            def is_alive(self):
                return self in started

            def wake(self):
                pass

        # Not among those that are stopped: its thread is none.
        monkeypatch.setattr(BackgroundSender, "_all", WeakSet())
        sending = BackgroundSender(OUTBOX)
        monkeypatch.setattr(sender, "_SenderThread", Thread)
        monkeypatch.setattr(sending, "_starting", lock)
        second.call = sending.wake

        sending.wake()

        assert (second.result(), len(started)) == (None, 1)

    def test_for_background_work_is_started_once(self, lock, second, monkeypatch):
        work, started = BackgroundWork("races", lambda _is_stopping: None), []

        class Thread(threading.Thread):
            def start(self):
                second.arrives()
                started.append(self)
                super().start()

        monkeypatch.setattr(wake_up, "threading", SimpleNamespace(Thread=Thread))
        monkeypatch.setattr(work, "_starting", lock)
        second.call = work.wake

        work.wake()

        assert (second.result(), len(started)) == (None, 1)
        work.stop(seconds=_ENDS_AFTER)


class TestSharedCounts:
    def test_add_each_count_once(self, lock, second, monkeypatch, settings):
        redis = Redis.from_url(settings.REDIS_URL)
        redis.delete(metrics.KEY)
        registry = CollectorRegistry()
        counts, pipeline = SharedCounts(redis, registry), redis.pipeline
        Gauge("races", "Races", registry=registry).inc()
        monkeypatch.setattr(redis, "pipeline", lambda: (second.arrives(), pipeline())[1])
        monkeypatch.setattr(counts, "_adding", lock)
        second.call = counts.add

        counts.add()

        second.result()
        assert [sample.value for family in counts.collect() for sample in family.samples] == [1]


class TestRefusalsOfALimiter:
    def test_are_not_changed_while_the_oldest_is_looked_for(self, lock, second, monkeypatch, settings):
        class Refusals(dict[bytes, Refusal]):
            def __iter__(self):
                iterator = super().__iter__()
                second.arrives()
                return iterator

        limiter, standing = Limiter(settings.REDIS_URL), Standing("", "", 1)
        refusal = Refusal(0.0, standing, None)
        monkeypatch.setattr(rate_limit, "_MOST_REFUSALS", 2)
        monkeypatch.setattr(limiter, "_refusals", Refusals({b"a": refusal, b"b": refusal}))
        monkeypatch.setattr(limiter, "_lock", lock)
        second.call = lambda: limiter.refused_lately(b"b")

        limiter._remember(b"c", refusal)

        second.result()
        assert set(limiter._refusals.keys()) == {b"c"}


class TestCountOfCallsOverALimit:
    @pytest.mark.parametrize("other", ["counted", "written"])
    def test_loses_none(self, other, lock, second, monkeypatch):
        class Counts(Counter[Any]):
            def __getitem__(self, key):
                count = super().__getitem__(key)
                second.arrives()
                return count

        recorder, written = Recorder(None, None, owner=(), keys=None), []  # type: ignore[arg-type]  # nothing is stored
        request: Any = SimpleNamespace(META={CALL: SimpleNamespace(auth=None)})
        response: Any = SimpleNamespace(status_code=429)

        def count():
            recorder.record(request, response, request_id="", at=timezone.now())

        monkeypatch.setattr(recorder, "_over_limit", Counts())
        monkeypatch.setattr(recorder, "_add", lambda _row, over_limit: written.append(over_limit))
        monkeypatch.setattr(transaction, "atomic", nullcontext)
        monkeypatch.setattr(recorder, "_lock", lock)
        second.call = count if other == "counted" else recorder.write_counts

        count()

        second.result()
        assert recorder._over_limit.total() + sum(written) == (2 if other == "counted" else 1)


class TestBoundedCalls:
    def test_are_no_more_than_allowed(self, lock, second, monkeypatch):
        class Counts(Counter[Any]):
            def total(self):
                total = super().total()
                second.arrives()
                return total

        calls = BoundedCalls(most=1, seconds=_ENDS_AFTER)
        monkeypatch.setattr(calls, "_running", Counts())
        monkeypatch.setattr(calls, "_counting", lock)
        second.call = lambda: calls.run(int)

        calls._begin(None)

        with pytest.raises(TooManyCalls):
            second.result()


class TestChecksOfAServer:
    def test_are_begun_once(self, lock, second, monkeypatch):
        begun = []

        def submit(*call):
            second.arrives()
            begun.append(call)
            return Future()

        group = _Group(("database",), lambda _results: None)
        monkeypatch.setattr(group, "_pool", SimpleNamespace(submit=submit))
        monkeypatch.setattr(group, "_lock", lock)
        second.call = group.start

        running = group.start()

        assert (second.result(), len(begun)) == (running, 1)


class TestBoards:
    def test_that_are_told_together_compute_a_route_once(self, lock, second, monkeypatch):
        computed, key = [], uuid4()

        def routes(_environment, ids):
            second.arrives()
            computed.append(ids)
            return []

        monkeypatch.setattr(board, "_telling", lock)
        monkeypatch.setattr(board, "_told", OrderedDict())
        monkeypatch.setattr(board, "get_language", lambda: "en")
        monkeypatch.setattr(board, "routes", routes)
        monkeypatch.setattr(board, "cards", lambda _environment, _ids: {})
        monkeypatch.setattr(board, "goods_in_hand", lambda _environment: "")
        second.call = lambda: board.told("live", {key: "a1"})

        first = board.told("live", {key: "a1"})

        assert (second.result(), computed) == (first, [[key]])
