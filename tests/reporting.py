"""What a run of the tests prints beside pytest's own output: failures at once, the time of each part, what was not run.

Loaded with `-p`. Under pytest-xdist it works in the controller, and in the workers it ends what hangs.
Makes the file that LATER_PARTS_BEGUN names when the first part after the unit tests has begun.
"""

import faulthandler
import os
import time
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import groupby
from pathlib import Path

import pytest
from _pytest.terminal import TerminalReporter

from tests import programs

# Folders of the parts that run after the unit tests, in this order.
_LATER_PARTS = ("contract", "browser", "faults")
# The longest one is that of the first browser test, which makes a database and starts servers.
_LONGEST_FIXTURES = 240  # seconds
_SLACK = 60  # seconds


def part_of(path: str) -> str:
    """The part that a test belongs to, by its path or node id."""
    _tests, _slash, rest = path.partition("tests/")
    folder = rest.split("/", 1)[0]
    return folder if folder in _LATER_PARTS else "unit"


def in_order(items: list[pytest.Item], workers: int) -> Iterator[pytest.Item]:
    """The tests for `--dist worksteal`, which gives each worker one piece of the list; idle ones steal from the end.

    Each piece has its share of every part, the parts in their order. The contract is not divided, because the service
    that it needs takes long to start.
    """
    order = ("unit", *_LATER_PARTS)
    items.sort(key=lambda item: order.index(part_of(item.nodeid)))
    parts = [(name, list(group)) for name, group in groupby(items, lambda item: part_of(item.nodeid))]
    for worker in range(workers):
        for name, group in parts:
            if name == "contract":
                yield from group if worker == workers - 1 else ()
            else:
                yield from group[len(group) * worker // workers : len(group) * (worker + 1) // workers]


@dataclass
class _Part:
    start: float = field(default_factory=time.time)
    stop: float = 0.0
    seconds: float = 0.0
    tests: int = 0
    failed: list[str] = field(default_factory=list)


_started = time.time()
_parts: dict[str, _Part] = {}
_files: defaultdict[str, float] = defaultdict(float)  # seconds
_not_run: Counter[str] = Counter()
_terminal: TerminalReporter | None = None
_stderr = os.dup(2)  # pytest captures the one of the process
_end = 0.0  # when this process is ended, by the monotonic clock


@pytest.hookimpl(trylast=True)
def pytest_configure(config: pytest.Config) -> None:
    global _terminal  # noqa: PLW0603  # the hooks of reports are not given the configuration
    _terminal = None if hasattr(config, "workerinput") else config.pluginmanager.get_plugin("terminalreporter")


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    items[:] = in_order(items, getattr(config, "workerinput", {}).get("workercount", 1))


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    _postpone_end(item)


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_call(item: pytest.Item) -> None:
    _postpone_end(item)


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_teardown(item: pytest.Item) -> None:
    _postpone_end(item)


@pytest.hookimpl(tryfirst=True)
def pytest_sessionfinish() -> None:
    faulthandler.cancel_dump_traceback_later()


def _postpone_end(item: pytest.Item) -> None:
    """End the process, with the stack of each thread, if a test or its fixtures do not return.

    pytest-timeout interrupts no fixtures (see `timeout_func_only`), and no test that catches its exception.
    pytest-xdist reports the test and goes on in another process.

    The end is postponed once a minute: each time faulthandler waits for a thread to end and starts another one, which
    took longer than many a test.
    """
    global _end  # noqa: PLW0603  # that of the process
    timeout = item.get_closest_marker("timeout")
    least = max(_LONGEST_FIXTURES, _SLACK + float(timeout.args[0] if timeout else item.config.getini("timeout")))
    now = time.monotonic()
    if not least <= _end - now <= least + _SLACK:
        faulthandler.dump_traceback_later(least + _SLACK, file=_stderr, exit=True)
        _end = now + least + _SLACK


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    if _terminal is None:
        return
    stop = report.stop or time.time()  # none for the test that a worker died of
    name = part_of(report.nodeid)
    if name in _LATER_PARTS and name not in _parts and (mark := os.environ.get("LATER_PARTS_BEGUN")):
        Path(mark).touch()
    part = _parts.setdefault(name, _Part(report.start or stop))
    part.start, part.stop = min(part.start, report.start or stop), max(part.stop, stop)
    part.seconds += report.duration
    _files[report.nodeid.partition("::")[0]] += report.duration
    part.tests += report.when == "call"
    if report.skipped and isinstance(report.longrepr, tuple):
        _not_run[report.longrepr[2].removeprefix("Skipped: ")] += 1
    if report.failed:
        part.failed.append(report.nodeid)
        message = getattr(getattr(report.longrepr, "reprcrash", None), "message", str(report.longrepr))
        _terminal.write_line(
            f"\nFAILED after {_minutes(stop - _started)}: {report.nodeid} ({report.when})\n    {message[:1000]}",
            red=True,
        )


def pytest_terminal_summary(terminalreporter: TerminalReporter) -> None:
    if _terminal is None:
        return
    terminalreporter.section("parts")
    for name, part in _parts.items():
        terminalreporter.write_line(
            f"{name:9}{part.tests:6} tests  from {_minutes(part.start - _started)} to {_minutes(part.stop - _started)}"
            f"  {_minutes(part.seconds)} in all workers  {len(part.failed)} failed"
        )
    slowest = sorted(_files.items(), key=lambda item: -item[1])[:20]
    terminalreporter.write_line("slowest files: " + ", ".join(f"{path} {seconds:.0f} s" for path, seconds in slowest))
    for reason, number in _not_run.most_common():
        terminalreporter.write_line(f"{number} tests were not run: {reason}", yellow=True)
    if "browser" in _parts and (reason := programs.missing(programs.LIGHTER)):
        terminalreporter.write_line(f"The browser tests were slower than they can be: {reason}", yellow=True)


def _minutes(seconds: float) -> str:
    return f"{int(seconds) // 60}:{int(seconds) % 60:02}"
