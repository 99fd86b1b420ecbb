"""Values that are computed once in a while."""

import threading
import time
from itertools import count

import pytest

from common.cached import Cached


@pytest.mark.parametrize(("seconds", "values"), [(60, [0, 0]), (0, [0, 1])])
def test_a_value_is_computed_anew_when_it_is_old(seconds, values):
    cached = Cached(count().__next__, seconds=seconds)

    assert [cached.get(), cached.get()] == values


def test_the_former_value_is_given_while_another_thread_computes():
    computing, go_on = threading.Event(), threading.Event()
    values = iter([1, 2])

    def compute():
        value = next(values)
        if value == 2:
            computing.set()
            go_on.wait(10)
        return value

    cached = Cached(compute, seconds=0)
    cached.get()
    thread = threading.Thread(target=cached.get)
    thread.start()
    computing.wait(10)

    while_computing = cached.get()

    go_on.set()
    thread.join(10)
    assert while_computing == 1
    assert cached._value == 2


def test_threads_wait_for_the_first_value_and_compute_it_once(at_once):
    calls = []

    def compute():
        calls.append(1)
        time.sleep(0.1)
        return len(calls)

    cached = Cached(compute, seconds=60)

    assert at_once(*[cached.get] * 5) == [1] * 5


def test_a_failed_computation_is_repeated():
    divisors = iter([0, 1])
    cached = Cached(lambda: 1 / next(divisors), seconds=60)

    with pytest.raises(ZeroDivisionError):
        cached.get()

    assert cached.get() == 1


def test_a_value_is_forgotten_although_its_computation_had_not_ended():
    computing, go_on = threading.Event(), threading.Event()
    values = iter([1, 2])

    def compute():
        computing.set()
        go_on.wait(10)
        return next(values)

    cached = Cached(compute, seconds=60)
    begun = threading.Thread(target=cached.get)
    begun.start()
    computing.wait(10)
    forgetting = threading.Thread(target=cached.forget)
    forgetting.start()
    forgetting.join(0.05)

    go_on.set()
    for thread in (begun, forgetting):
        thread.join(10)

    assert cached.get() == 2
