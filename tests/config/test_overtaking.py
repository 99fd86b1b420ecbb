"""Pauses for a request that later ones overtake, counted and not timed."""

from concurrent.futures import ThreadPoolExecutor

import pytest

from config.overtaking import _LATER, _MOST_PAUSES, _PAUSE_SECONDS, Overtaking


class Clock:
    now = 0.0


@pytest.fixture
def clock(monkeypatch):
    """A clock that stands still until a test sets it."""
    clock = Clock()
    monkeypatch.setattr("config.overtaking.time.monotonic", lambda: clock.now)
    return clock


@pytest.fixture
def overtaking(clock):
    return Overtaking()


@pytest.fixture
def other_thread():
    with ThreadPoolExecutor(1) as pool:
        yield lambda call: pool.submit(call).result(timeout=30)


def answer(overtaking, count):
    for _request in range(count):
        overtaking.begin()
        overtaking.end()


class TestPause:
    def test_is_none_for_requests_one_after_another(self, overtaking):
        answer(overtaking, 10 * _LATER)

        assert overtaking.pause() == 0

    def test_begins_when_enough_later_requests_have_begun(self, overtaking, other_thread):
        other_thread(overtaking.begin)

        answer(overtaking, _LATER - 1)
        before = overtaking.pause()
        answer(overtaking, 1)

        assert (before, overtaking.pause()) == (0, _PAUSE_SECONDS)

    def test_is_for_all_threads_until_its_end(self, overtaking, other_thread, clock):
        other_thread(overtaking.begin)
        answer(overtaking, _LATER)
        overtaking.pause()

        clock.now += _PAUSE_SECONDS / 4
        during = overtaking.pause()
        clock.now += _PAUSE_SECONDS

        assert during == pytest.approx(_PAUSE_SECONDS * 3 / 4)
        assert overtaking.pause() == 0

    def test_ends_with_the_request_that_was_overtaken(self, overtaking, other_thread):
        other_thread(overtaking.begin)
        answer(overtaking, _LATER)
        other_thread(overtaking.end)

        assert overtaking.pause() == 0

    def test_is_made_for_a_slow_request_a_number_of_times(self, overtaking, other_thread, clock):
        other_thread(overtaking.begin)
        pauses = 0

        for _turn in range(3 * _MOST_PAUSES):
            answer(overtaking, _LATER)
            pauses += overtaking.pause() > 0
            clock.now += 1

        assert pauses == _MOST_PAUSES
