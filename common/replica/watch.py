"""How far the replica is behind the primary, measured by a thread of each web process.

The thread notes where the primary's write-ahead log ends, and asks the replica up to where it has replayed it. So the
replica has everything that was committed before the last position it has passed was noted. No clocks of different
machines are compared, and an idle primary does not make the replica look late.
"""

import logging
import math
import threading
import time
from collections import deque
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Any, NamedTuple

from django.db import Error, connections

from common.replica import ALIAS

_log = logging.getLogger("rota.replica")
CHECK_SECONDS = 1.0
# A replica that has not answered for so long counts as away, and statements that wait for it are given up.
SILENT_SECONDS = 4.0
MOST_LAG_SECONDS = 10.0
# What was committed so long ago is in whatever is read from the replica: the lag when it was measured, and the age of
# that measurement. The rest is for commits that PostgreSQL flushes later (`synchronous_commit = off`).
STALE_SECONDS = MOST_LAG_SECONDS + SILENT_SECONDS + 6
_MOST_POSITIONS = 600

# Another cluster or database must never be read, whatever DATABASE_REPLICA_URL names.
_IDENTITY = "(SELECT system_identifier FROM pg_control_system())::text || '/' || current_database()"
_OF_PRIMARY = f"SELECT {_IDENTITY}, pg_wal_lsn_diff(pg_current_wal_flush_lsn(), '0/0')"  # nosec B608  # constants
_OF_REPLICA = f"""
SELECT {_IDENTITY}, CASE WHEN pg_is_in_recovery() THEN pg_wal_lsn_diff(pg_last_wal_replay_lsn(), '0/0') END
"""  # nosec B608  # likewise


class NoReplica(Exception):
    """DATABASE_REPLICA_URL leads to something else than a replica of DATABASE_URL."""


class _Position(NamedTuple):
    """Where the primary's log ended at `at`, on the monotonic clock."""

    at: float
    bytes: Decimal


@dataclass(frozen=True)
class _State:
    """`lag` in seconds, None before it is known. `failed`: a request could not be answered since."""

    answered_at: float = -math.inf
    lag: float | None = None
    failed: bool = False


class Watch:
    """What this process knows about the replica."""

    def __init__(self) -> None:
        self._state = _State()
        self._ahead: deque[_Position] = deque(maxlen=_MOST_POSITIONS)
        self._covered_at: float | None = None

    @property
    def answered_at(self) -> float:
        """When the replica has answered last, on the monotonic clock."""
        return self._state.answered_at

    @property
    def lag(self) -> float | None:
        """Seconds by which the replica is behind. None: it does not answer, or has not passed a known position yet."""
        return None if self._is_away else self._state.lag

    def fault(self) -> str:
        """Why the replica is not to be read from now; empty if there is no reason."""
        lag = self.lag
        if lag is None or lag > MOST_LAG_SECONDS:
            return "it does not answer" if self._is_away else "it is too far behind"
        return ""

    @property
    def _is_away(self) -> bool:
        state = self._state
        return state.failed or time.monotonic() - state.answered_at > SILENT_SECONDS

    def failed(self) -> None:
        """Do not read from the replica until it has answered again."""
        self._state = replace(self._state, failed=True)

    def check(self) -> None:
        """Measure the lag. Raises NoReplica or django.db.Error; the replica then counts as one that has failed.

        So it does after any other exception, which is a defect.
        """
        try:
            self._state = self._measured()
        except Exception:
            self.failed()
            raise

    def _measured(self) -> _State:
        noted_at = time.monotonic()
        of_primary, end = _asked("default", _OF_PRIMARY)
        of_replica, replayed = _asked(ALIAS, _OF_REPLICA)
        if replayed is None:
            raise NoReplica("it does not replay the log of another server")
        if of_replica != of_primary:
            raise NoReplica("it is a replica of another database than DATABASE_URL")
        self._ahead.append(_Position(noted_at, end))
        while self._ahead and self._ahead[0].bytes <= replayed:
            self._covered_at = self._ahead.popleft().at
        now = time.monotonic()
        return _State(now, None if self._covered_at is None else now - self._covered_at)


def _asked(alias: str, statement: str) -> tuple[str, Any]:
    with connections[alias].cursor() as cursor:
        cursor.execute(statement)
        ((identity, position),) = cursor.fetchall()
    return identity, position


watch = Watch()


def watch_until_exit() -> None:
    """Measure the lag every second until the main thread has ended. For a thread of its own."""
    main = threading.main_thread()
    faults, is_told = 0, False
    while main.is_alive():
        detail = _check(with_traceback=not is_told)
        fault = watch.fault()
        faults = faults + 1 if fault else 0
        if faults > 1 and not is_told:  # the first position that is noted is often passed at the second check only
            _log.warning("Lists and reports are read from the primary, because of the replica: %s", detail or fault)
            is_told = True
        elif is_told and not fault:
            _log.warning("Lists and reports are read from the replica again.")
            is_told = False
        main.join(CHECK_SECONDS)
    _close_connections()


def _check(*, with_traceback: bool) -> str:
    """The text of an error, if there was one. Without its connections, which may be broken."""
    try:
        watch.check()
    except (Error, NoReplica) as error:
        detail = str(error)
    except Exception as error:  # noqa: BLE001  # without this thread the replica would never be used again
        if with_traceback:
            _log.exception("The lag of the replica could not be measured")
        detail = repr(error)
    else:
        return ""
    _close_connections()
    return detail


def _close_connections() -> None:
    try:
        connections.close_all()
    except Error as error:
        _log.debug("A broken connection could not be closed: %s", error)
