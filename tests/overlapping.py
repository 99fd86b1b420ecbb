"""Two transactions in a fixed order: the second begins its work before the first commits."""

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor, wait
from typing import Any

from django.db import connection, transaction

_ENDS_AFTER = 20  # seconds, after which something hangs


def overlap(first: Callable[[], Any], second: Callable[[], Any], *, then: Callable[[], Any] | None = None) -> list[Any]:
    """Call `first` in a transaction, and `second` on another connection before that transaction commits.

    It commits as soon as `second` waits for one of its locks or has ended, after it has called `then`. So without a
    lock `second` always decides by what was there before `first`. Returns the results, with what `second` or `then`
    raised in place of its result.
    """
    with ThreadPoolExecutor(1) as pool:
        with _transaction():
            results = [first()]
            other = begin(second, pool)
            if then is not None:
                results.append(_outcome(then))
        results.insert(1, other.result(_ENDS_AFTER))
    return results


def begin(call: Callable[[], Any], pool: ThreadPoolExecutor) -> "Future[Any]":
    """Start `call` on another connection. Returns once it waits for a lock of this transaction, or has ended."""
    other = pool.submit(_elsewhere, call)
    _wait_until_it_waits(other)
    return other


def _transaction() -> transaction.Atomic:
    """An outermost transaction in which the durable ones of actions are allowed, as in those of Django's TestCase."""
    block = transaction.atomic()
    block._from_testcase = True  # type: ignore[attr-defined]  # not public
    return block


def _outcome(call: Callable[[], Any]) -> Any:
    try:
        with transaction.atomic():
            return call()
    except Exception as error:  # noqa: BLE001  # returned to the caller
        return error


def _elsewhere(call: Callable[[], Any]) -> Any:
    try:
        return call()
    except Exception as error:  # noqa: BLE001  # returned to the caller
        return error
    finally:
        connection.close()


def _wait_until_it_waits(other: "Future[Any]") -> None:
    """Return once another transaction waits for a lock of this one, or `other` has ended."""
    with connection.cursor() as cursor:
        for _try in range(100 * _ENDS_AFTER):
            if wait([other], timeout=0.01).done:
                return
            cursor.execute("SELECT count(*) FROM pg_locks WHERE pg_backend_pid() = ANY(pg_blocking_pids(pid))")
            if cursor.fetchone() != (0,):
                return
    raise AssertionError("the second call neither ended nor waited for a lock")
