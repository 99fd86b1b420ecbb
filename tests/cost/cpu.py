"""CPU seconds of calls, made one by one in a child process that the kernel kills when a call does not end."""

import gc
import os
import re
import resource
import signal
import time
import traceback
from collections.abc import Callable, Iterable, Mapping
from multiprocessing import Pipe, get_context
from multiprocessing.connection import Connection
from typing import Any, NoReturn, Self

from django.db import connection, transaction

Function = Callable[[Any], object]
KILLED_AFTER = 6  # CPU seconds of one call
_MOST_FAULTS = 5  # so that a defect that every call meets is reported before the test's own deadline
# CPU seconds of `_reference` on the machine on which the limits were set.
_REFERENCE = 0.15


class Child:
    """Calls a function with one argument after the other, in one process; after a call that was killed in another one.

    What a call writes to the database is undone after it. The process uses this one's database connection, which is
    idle meanwhile, and so sees the test's transaction.
    """

    def __init__(self, function: Function) -> None:
        self._function = function

    def __enter__(self) -> Self:
        self._pipe, pipe = Pipe()
        self._process = get_context("fork").Process(target=_serve, args=(self._function, pipe, self._pipe))
        self._process.start()
        pipe.close()
        return self

    def __exit__(self, *_error: object) -> None:
        self._process.kill()
        self._process.join()
        self._pipe.close()

    def assert_cheap(self, arguments: Iterable[tuple[str, object]], *, seconds: float) -> None:
        """With each of the named arguments a call takes at most so many CPU seconds and raises nothing.

        More on a machine that is slower than that on which the limits were set, or that others' work slows now.
        """
        faults: list[str] = []
        for name, argument in arguments:
            if fault := self._fault_of(argument, seconds):
                faults.append(f"{name}: {fault}")
            if len(faults) == _MOST_FAULTS:
                faults.append("No more calls were made.")
                break
        if faults:
            raise AssertionError("\n".join(faults))

    def _fault_of(self, argument: object, seconds: float) -> str:
        try:
            self._pipe.send(argument)
            spent, failure = self._pipe.recv()
        except EOFError:
            self.__exit__()
            code = self._process.exitcode
            self.__enter__()
            return f"killed after {KILLED_AFTER} CPU seconds" if code == -signal.SIGPROF else f"exit code {code}"
        return f"{spent:.2f} CPU seconds" if spent > seconds and spent > seconds * slowness() else str(failure)


def assert_cheap(calls: Mapping[str, Callable[[], object]], *, seconds: float) -> None:
    """The same for calls whose arguments are known beforehand."""
    with Child(lambda name: calls[name]()) as child:
        child.assert_cheap(((name, name) for name in calls), seconds=seconds)


def _serve(function: Function, pipe: Connection, other_end: Connection) -> NoReturn:
    """The child. It leaves without the clean-up of an interpreter, which would close what it shares."""
    other_end.close()
    try:
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        gc.freeze()  # a collection would copy the memory that is shared with the parent
        if connection.connection is not None:
            # The parent would not know which statements the child has prepared on the connection that they share.
            connection.connection.prepare_threshold = None
        while True:
            argument = pipe.recv()
            # Python has no handler for the signal: it would be called only after, for example, the match of a pattern.
            signal.setitimer(signal.ITIMER_PROF, KILLED_AFTER)
            started = time.process_time()
            failure = undone(function, argument)
            spent = time.process_time() - started
            signal.setitimer(signal.ITIMER_PROF, 0)
            pipe.send((spent, failure))
    finally:
        os._exit(0)


def undone(function: Function, argument: object) -> str:
    """Call the function, and undo what it writes to the database. Returns what it raised, or an empty text."""
    try:
        if not connection.in_atomic_block:
            function(argument)
            return ""
        block = transaction.atomic()
        block._from_testcase = True  # type: ignore[attr-defined]  # a durable block may be in it, as in a test case
        with block:
            function(argument)
            transaction.set_rollback(True)
    except BaseException:  # noqa: BLE001  # reported to the parent
        return "\n".join(line[:200] for line in traceback.format_exc().splitlines()[-10:])
    return ""


def slowness() -> float:
    """How many times as long as there a computation takes here, at least 1."""
    started = time.process_time()
    _reference()
    return max(1.0, (time.process_time() - started) / _REFERENCE)


def _reference() -> None:
    re.fullmatch(r"(\d+\.?\d*)", "1" * 5_000 + "x")
