"""Garbage collection in the processes that run tests. Loaded with `-p`.

The modules and the tests of a process stay until its end. By its own settings Python looks for garbage among these
million objects again and again: a quarter of the CPU time of importing and collecting, a tenth of that of running.
"""

import gc
from collections.abc import Generator

import pytest

gc.disable()  # until the tests are collected

# New objects before a collection of the youngest generation, and collections of a generation before one of the next.
_THRESHOLDS = (20_000, 20, 50)


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_collection() -> Generator[None, object, object]:
    try:
        return (yield)
    finally:
        gc.enable()
        gc.collect()
        gc.freeze()
        gc.set_threshold(*_THRESHOLDS)
