"""Less CPU time for slipcover, which measures the coverage. Loaded with `-p`.

On Python 3.11 it takes its probes out of code that has run. Whenever a line has run 50 times it looks for new ones in
every function of every module, which takes a quarter of a second: every three seconds, until the end of the tests.
"""

import time

from slipcover import Slipcover

_SHARE = 0.02  # of the CPU time of a process


def pytest_configure() -> None:
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
