"""The current moment, although the clock of one machine may be wrong.

Web processes and workers compare the clock of their machine with that of PostgreSQL from time to time: a web process
in a thread, a worker before a task and before it claims webhooks, by the connection that it will use. If it jumps, they
count on from the last moment at which both agreed. Tasks that delete or end something by its age wait until both agree
again, because PostgreSQL's clock may be the wrong one.
"""

import logging
import math
import threading
import time
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import NamedTuple

from celery.exceptions import Ignore
from django.db import Error, connection
from django.utils import timezone

from common.connections import close_database

_log = logging.getLogger(__name__)
# The clocks of two machines then differ by at most twice as much. That has to be less than the rest of a lease when it
# is renewed: otherwise one worker would claim what another one is sending.
LARGEST_DIFFERENCE = timedelta(seconds=3)
COMPARE_SECONDS = 10
# Of a web process, which opens a connection for it, because no process keeps one for this alone.
_PAUSE_SECONDS = 30


class ClocksDiffer(Ignore):
    """The clocks of this machine and of PostgreSQL, which says `elsewhere`, differ by more than LARGEST_DIFFERENCE.

    A Celery task that it ends has not failed: it is run later, and `compare_if_due` reports the difference.
    """

    def __init__(self, difference: timedelta, elsewhere: datetime) -> None:
        super().__init__(difference, elsewhere)  # Celery passes an exception on as these arguments
        self.difference, self.elsewhere = difference, elsewhere

    def __str__(self) -> str:
        return f"The clocks of this machine and of PostgreSQL differ by {self.difference.total_seconds():.0f} s"


class _Known(NamedTuple):
    """It was `moment` when the monotonic clock said `counted`."""

    moment: datetime
    counted: float


_known: _Known | None = None
_compared_at, _differ = -math.inf, False
# Called each time that they differ. None in a process that does not compare: a command, beat.
_while_different: Callable[[], None] | None = None


def now() -> datetime:
    """The current moment: that of this machine's clock, unless it has jumped since `compare` was called last."""
    here = timezone.now()
    if _known is None:  # a process that does not compare
        return here
    counted = _known.moment + timedelta(seconds=time.monotonic() - _known.counted)
    return here if abs(here - counted) <= LARGEST_DIFFERENCE else counted


def midnight(at: datetime) -> datetime:
    """The last midnight before `at` in the service's time zone."""
    return timezone.localtime(at).replace(hour=0, minute=0, second=0, microsecond=0)


def agreed_now() -> datetime:
    """The current moment, for whatever expires or is deleted by its age. Raises ClocksDiffer.

    One machine whose clock is wrong must not end the offers, or delete the photos, of all.
    """
    before = timezone.now()
    with connection.cursor() as cursor:
        cursor.execute("SELECT clock_timestamp()")
        (elsewhere,) = cursor.fetchone()
    here = timezone.now()
    # The query's own time is not counted, however long it waited.
    difference = max(before - elsewhere, elsewhere - here)
    if difference > LARGEST_DIFFERENCE:
        raise ClocksDiffer(difference, elsewhere)
    return here


def compare() -> None:
    """Compare the clocks, for `now`. Raises ClocksDiffer and django.db.Error.

    A process that is started while they differ goes by PostgreSQL's clock, as the others of its kind are likely to do.
    """
    global _known  # noqa: PLW0603  # one for the process
    try:
        _known = _Known(agreed_now(), time.monotonic())
    except ClocksDiffer as error:
        if _known is None:
            _known = _Known(error.elsewhere, time.monotonic())
        raise


def compare_until_exit(while_different: Callable[[], None] = lambda: None) -> None:
    """Compare the clocks every half minute until the main thread has ended. For a thread of its own.

    Calls `while_different` each time that they differ.
    """
    compare_from_now_on(while_different)
    main = threading.main_thread()
    while main.is_alive():
        compare_if_due()
        close_database()
        main.join(_PAUSE_SECONDS)


def compare_from_now_on(while_different: Callable[[], None]) -> None:
    """Let `compare_if_due` compare in this process. It calls `while_different` each time that the clocks differ."""
    global _while_different  # noqa: PLW0603  # one for the process
    _while_different = while_different


def compare_if_due() -> None:
    """Compare the clocks if that was COMPARE_SECONDS ago, by this thread's connection, which stays open.

    Does nothing in a process that does not compare. Raises nothing.
    """
    global _compared_at, _differ  # noqa: PLW0603  # one for the process
    if _while_different is None or time.monotonic() < _compared_at + COMPARE_SECONDS:
        return
    _compared_at = time.monotonic()
    try:
        _differ = _compare(was_different=_differ)
        if _differ:
            _while_different()
    except Error as error:  # PostgreSQL is away, which others report
        _log.debug("The clocks are not compared: %s", error)
    except Exception:  # noqa: BLE001  # otherwise nobody would see the next jump
        _log.exception("The clocks could not be compared")


def _compare(*, was_different: bool) -> bool:
    """Whether they differ. Logs when that changes."""
    try:
        compare()
    except ClocksDiffer as error:
        if not was_different:
            _log.warning("%s; see Clocks differ in the runbook", error)
        return True
    if was_different:
        _log.warning("The clocks of this machine and of PostgreSQL agree again")
    return False
