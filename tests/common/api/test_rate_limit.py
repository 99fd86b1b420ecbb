"""Limits of calls, counted in a real Redis."""

import os
import re
import socket
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from threading import Barrier

import pytest
from django.conf import settings

from common.api import rate_limit
from common.api.rate_limit import Limiter, Limits
from tests.ports import free_port

HOUR = 3600


@pytest.fixture
def limiter(monkeypatch) -> Limiter:
    """Patient, because a busy machine may answer late."""
    monkeypatch.setattr(rate_limit, "_TIMEOUT_SECONDS", 10)
    return Limiter(settings.REDIS_URL)


@pytest.fixture
def digest() -> bytes:
    return os.urandom(32)


def hours_passed(limiter) -> float:
    """Hours since the epoch, by Redis' clock."""
    seconds, microseconds = limiter._redis.time()
    return (seconds + microseconds / 1e6) / HOUR


def write_hours(limiter, digest, *, number, calls, before):
    limiter._redis.hset(
        f"rota:rate-limit:{digest.hex()}", mapping={"hour": number, "hour:calls": calls, "hour:before": before}
    )


def left(standing) -> int:
    (number,) = re.findall(r'^"hour";r=(\d+);t=\d+$', standing.state)
    return int(number)


class TestCount:
    def test_allows_as_many_as_the_limit_of_200_at_once(self, limiter, digest):
        barrier = Barrier(50)  # more connections at one instant than this the socket may refuse

        def call(_number):
            barrier.wait(30)
            return [limiter.count(digest, Limits(0, 50), caller="shop").retry_after for _call in range(4)]

        with ThreadPoolExecutor(50) as pool:
            waits = [wait for found in pool.map(call, range(50)) for wait in found]

        assert waits.count(0) == 50
        assert min(wait for wait in waits if wait) >= 1

    @pytest.mark.parametrize(("limits", "others"), [(Limits(1000, 2), "second"), (Limits(2, 1000), "hour")])
    def test_counts_no_call_in_the_window_that_would_allow_it_when_the_other_refuses(
        self, limiter, digest, limits, others
    ):
        def calls():
            return int(limiter._redis.hget(f"rota:rate-limit:{digest.hex()}", f"{others}:calls") or 0)

        counted = 0
        while not limiter.count(digest, limits, caller="shop").retry_after:
            counted = calls()

        assert calls() == counted > 0

    def test_allows_another_call_after_the_wait(self, limiter, digest):
        while not (standing := limiter.count(digest, Limits(3, 0), caller="shop")).retry_after:
            pass

        assert standing.retry_after <= 2
        while limiter.refused_lately(digest):
            time.sleep(0.01)
        assert limiter.count(digest, Limits(3, 0), caller="shop").retry_after == 0

    def test_weights_the_window_before_with_its_share(self, limiter, digest):
        before = hours_passed(limiter)
        write_hours(limiter, digest, number=int(before) - 1, calls=1000, before=7)

        found = left(limiter.count(digest, Limits(0, 2000), caller="shop"))

        after = hours_passed(limiter)
        assert 1999 - 1000 * (1 - before % 1) - 1 <= found <= 1999 - 1000 * (1 - after % 1) + 1

    def test_forgets_windows_that_are_older(self, limiter, digest):
        write_hours(limiter, digest, number=int(hours_passed(limiter)) - 2, calls=1000, before=1000)

        assert left(limiter.count(digest, Limits(0, 1000), caller="shop")) == 999

    @pytest.mark.parametrize(("calls", "before"), [(50, 0), (49, 50), (500, 0)])
    def test_returns_the_time_of_the_next_call(self, limiter, digest, calls, before):
        now = hours_passed(limiter)
        write_hours(limiter, digest, number=int(now), calls=calls, before=before)

        wait = limiter.count(digest, Limits(0, 50), caller="shop").retry_after

        # At that moment the estimate, plus the next call, reaches the limit.
        then = now % 1 + wait / HOUR
        used = before * (1 - then) + calls if then < 1 else calls * (2 - then)
        assert used + 1 == pytest.approx(50, abs=0.2)

    @pytest.mark.parametrize(
        ("microseconds", "seconds"), [(0, 0), (1, 1), (1_000_000, 1), (1_000_001, 2), (3_599_000_001, 3600)]
    )
    def test_tells_whole_seconds_after_which_the_call_is_allowed(
        self, limiter, digest, monkeypatch, microseconds, seconds
    ):
        monkeypatch.setattr(limiter, "_run", lambda *_call: [microseconds, 0, microseconds])

        standing = limiter.count(digest, Limits(0, 1), caller="shop")

        assert (standing.retry_after, standing.state) == (seconds, f'"hour";r=0;t={seconds}')

    def test_keeps_one_small_key_that_expires(self, limiter, digest):
        for _call in range(30):
            limiter.count(digest, Limits(20, 1000), caller="shop")

        key = f"rota:rate-limit:{digest.hex()}"
        assert limiter._redis.hlen(key) == 6
        assert HOUR < limiter._redis.ttl(key) <= 2 * HOUR  # as long as the hour before is looked at

    def test_does_not_use_redis_without_limits(self, digest, caplog):
        away = Limiter(f"redis://127.0.0.1:{free_port()}")

        assert away.count(digest, Limits(0, 0), caller="shop") is None
        assert caplog.records == []  # a Redis that is away is logged


class TestRefusedLately:
    def test_repeats_a_refusal_without_redis(self, limiter, digest):
        limiter.count(digest, Limits(0, 1), caller="shop")
        refused = limiter.count(digest, Limits(0, 1), caller="shop")
        limiter._redis.delete(f"rota:rate-limit:{digest.hex()}")

        remembered = limiter.refused_lately(digest)

        assert (remembered.standing, remembered.caller) == (refused, "shop")
        assert remembered.until <= time.monotonic() + 5  # although the wait is about an hour

    def test_remembers_a_bounded_number(self, limiter, monkeypatch):
        monkeypatch.setattr(rate_limit, "_MOST_REFUSALS", 3)
        digests = [os.urandom(32) for _number in range(5)]

        def refuse(*numbers):
            for number in numbers:
                for _call in range(2):
                    limiter.count(digests[number], Limits(0, 1), caller="shop")
            return [number for number, digest in enumerate(digests) if limiter.refused_lately(digest)]

        assert refuse(0, 1, 2, 3, 2) == [1, 2, 3]
        assert refuse(4, 0) == [0, 2, 4]  # the second was refused again, after the third


class TestWithoutRedis:
    def test_allows_every_call_and_logs_once(self, digest, caplog):
        away = Limiter(f"redis://127.0.0.1:{free_port()}")

        standings = [away.count(digest, Limits(1, 1), caller="shop") for _call in range(20)]

        assert standings == [None] * 20
        assert [record.getMessage()[:30] for record in caplog.records] == ["Calls are not limited until Re"]

    def test_tries_redis_again_only_after_a_pause(self, digest):
        with socket.create_server(("127.0.0.1", 0)) as silent:
            away = Limiter(f"redis://127.0.0.1:{silent.getsockname()[1]}")

            for _call in range(20):
                assert away.count(digest, Limits(1, 1), caller="shop") is None

            silent.setblocking(False)
            with closing(silent.accept()[0]):
                pass
            with pytest.raises(BlockingIOError):
                silent.accept()

    def test_limits_again_when_redis_is_back(self, limiter, digest, caplog, monkeypatch):
        monkeypatch.setattr(rate_limit, "_BACK_OFF_SECONDS", 0)
        back = Limiter(f"redis://127.0.0.1:{free_port()}")
        back.count(digest, Limits(0, 1), caller="shop")
        back._script.registered_client = limiter._redis

        back.count(digest, Limits(0, 1), caller="shop")
        back.count(digest, Limits(0, 1), caller="shop")

        assert back.refused_lately(digest)
        assert [record.getMessage()[:20] for record in caplog.records] == [
            "Calls are not limite", "Redis answers again,",
        ]  # fmt: skip
