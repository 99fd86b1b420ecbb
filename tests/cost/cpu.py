"""CPU seconds of calls, measured in a child process that the kernel kills when a call does not end."""

import json
import math
import os
import re
import resource
import sys
import time
import traceback
from collections.abc import Callable, Mapping
from typing import NoReturn

from django.db import connection

Calls = Mapping[str, Callable[[], object]]
# RLIMIT_CPU has a resolution of one second.
_KILLED_AFTER = 6
_SHOWN = 10
_LONGEST_LINE = 200
KILLED = math.inf
# CPU seconds of `_reference` on the machine on which the limits were set.
_REFERENCE = 0.15


def assert_cheap(calls: Calls, *, seconds: float) -> None:
    """Each call, one after the other, takes at most so many CPU seconds and raises nothing.

    More on a machine that is slower than that on which the limits were set, or that others' work slows now.
    """
    reports = _measured(calls)
    if any(seconds < spent < KILLED for spent, _failure in reports.values()):
        seconds *= slowness()
    faults = [f"{name}: {failure}" for name, (_spent, failure) in reports.items() if failure]
    faults += [f"{name}: {spent:.2f} CPU seconds" for name, (spent, _failure) in reports.items() if spent > seconds]
    faults += [f"{name}: not reached" for name in calls if name not in reports]
    if faults:
        raise AssertionError("\n".join(faults[:_SHOWN]))


def _measured(calls: Calls) -> dict[str, tuple[float, str]]:
    """Of each call its CPU seconds and the end of its traceback, empty if it returned. Stops at a call that is killed.

    The child uses this process's database connection, which is idle meanwhile, and so sees the test's transaction.
    """
    reader, writer = os.pipe()
    sys.stdout.flush()
    pid = os.fork()
    if pid == 0:
        os.close(reader)
        _run(calls, writer)
    os.close(writer)
    with os.fdopen(reader) as pipe:
        lines = [json.loads(line) for line in pipe]
    _pid, status = os.waitpid(pid, 0)
    reports = {name: (float(spent), str(failure)) for name, spent, failure in lines}
    if os.WIFSIGNALED(status):
        reports[next(name for name in calls if name not in reports)] = (KILLED, "")
    return reports


def _run(calls: Calls, writer: int) -> NoReturn:
    """The child. It leaves without the clean-up of an interpreter, which would close what it shares."""
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    try:
        sys.settrace(None)  # coverage would be part of what is measured
        if connection.connection is not None:
            # The parent would not know which statements the child has prepared on the connection that they share.
            connection.connection.prepare_threshold = None
        for name, call in calls.items():
            started = time.process_time()
            _soft, hard = resource.getrlimit(resource.RLIMIT_CPU)
            resource.setrlimit(resource.RLIMIT_CPU, (math.ceil(started) + _KILLED_AFTER, hard))
            failure = _failure(call)
            line = json.dumps([name, time.process_time() - started, failure])
            os.write(writer, f"{line}\n".encode())
    finally:
        os._exit(0)


def slowness() -> float:
    """How many times as long as there a computation takes here, at least 1."""
    started = time.process_time()
    _reference()
    return max(1.0, (time.process_time() - started) / _REFERENCE)


def _reference() -> None:
    re.fullmatch(r"(\d+\.?\d*)", "1" * 5_000 + "x")


def _failure(call: Callable[[], object]) -> str:
    try:
        call()
    except BaseException:  # noqa: BLE001  # reported to the parent
        lines = traceback.format_exc().splitlines()[-_SHOWN:]
        return "\n".join(line[:_LONGEST_LINE] for line in lines)
    return ""
