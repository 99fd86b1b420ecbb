"""Less CPU time for slipcover, which measures the coverage. Loaded with `-p`.

On Python 3.11 it takes its probes out of code that has run. Whenever a line has run 50 times it looks for new ones in
every function of every module, which takes a quarter of a second: every three seconds, until the end of the tests.

Importing a module with probes takes three times as long. The controller of pytest-xdist, which runs no test, does
without them; the whole is what its workers have run.
"""

import os
import sys
import time

import pytest
from slipcover import Slipcover
from slipcover.importer import SlipcoverMetaPathFinder

_SHARE = 0.02  # of the CPU time of a process


@pytest.hookimpl(tryfirst=True)  # before pytest-django imports the apps
def pytest_configure(config: pytest.Config) -> None:
    if config.getoption("numprocesses") and "PYTEST_XDIST_WORKER" not in os.environ:
        _measure_nothing_here()
    take_out = getattr(Slipcover, "deinstrument_seen", None)
    if take_out is None:
        return  # Python 3.12 and later have probes that end by themselves
    due = 0.0

    def now_and_then(cover: Slipcover) -> None:
        nonlocal due
        started = time.process_time()
        if started >= due:
            take_out(cover)
            ended = time.process_time()
            due = ended + (ended - started) / _SHARE

    Slipcover.deinstrument_seen = now_and_then


def _measure_nothing_here() -> None:
    """Import without probes from now on. The workers report the files that nobody has imported."""
    for finder in [found for found in sys.meta_path if isinstance(found, SlipcoverMetaPathFinder)]:
        finder.sci.source = None
        sys.meta_path.remove(finder)
