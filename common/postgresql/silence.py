"""Gives up waiting for a PostgreSQL that has stopped answering, while its connections stay open.

Its own limit of a statement's time does not help if its machine, its disk or the queue of a pooler stands still, and
neither does TCP while the other system acknowledges data. Without a limit here every thread of a web process would
wait as long as the server is silent, and so would all calls.
"""

import logging
import time
from functools import cache
from typing import Any

import psycopg
from psycopg.abc import RV, PQGen
from psycopg.waiting import Ready

_log = logging.getLogger("rota.postgresql")
# Once there was no answer, until there is one: how long a statement waits, and the pause between attempts to connect.
_SHORT_SECONDS = 2
_PAUSE_SECONDS = 1
_NO_ANSWER = "PostgreSQL does not answer"


class Silence:
    """Whether a server has left a statement of this process unanswered, and has answered none since."""

    def __init__(self, alias: str) -> None:
        self._alias = alias
        self._ask_at: float | None = None  # on the monotonic clock; None while it answers

    @property
    def is_noticed(self) -> bool:
        return self._ask_at is not None

    def begins(self) -> None:
        if not self.is_noticed:
            _log.warning("%s (%s). Statements are refused until it does.", _NO_ANSWER, self._alias)
        self._ask_at = time.monotonic() + _PAUSE_SECONDS

    def ends(self) -> None:
        if self.is_noticed:
            _log.warning("PostgreSQL answers again (%s).", self._alias)
            self._ask_at = None

    def refuse_all_but_one(self) -> None:
        """Let one thread connect from time to time; the others refuse their requests and do not wait with it.

        Raises psycopg.OperationalError.
        """
        if (ask_at := self._ask_at) is None:
            return
        now = time.monotonic()
        if now < ask_at:
            raise psycopg.OperationalError(_NO_ANSWER)
        self._ask_at = now + _SHORT_SECONDS + _PAUSE_SECONDS


@cache
def silence_of(alias: str) -> Silence:
    return Silence(alias)


class Connection(psycopg.Connection[Any]):
    """Waits at most `most_seconds` for the answer to a statement."""

    most_seconds: float
    silence: Silence

    def wait(self, gen: PQGen[RV], *args: Any, **options: Any) -> RV:
        """Wait as psycopg does. Without an answer in time, close the connection and raise psycopg.OperationalError."""
        limit = self.most_seconds
        if self.silence.is_noticed:
            gen, limit = _listening(gen, self.silence), _SHORT_SECONDS
        began = time.monotonic()
        try:
            return super().wait(gen, *args, **{**options, "timeout": limit})
        except psycopg.errors.ProtocolViolation:  # PgBouncer's query_wait_timeout
            self.silence.begins()
            raise
        except psycopg.OperationalError as error:
            if time.monotonic() - began < limit:
                raise
            self.close()
            self.silence.begins()
            raise psycopg.OperationalError(_NO_ANSWER) from error


def _listening(gen: PQGen[RV], silence: Silence) -> PQGen[RV]:
    """Run `gen`. If it has read something, the server has answered. To set `autocommit`, it reads nothing."""
    has_read = False
    try:
        wanted = next(gen)
        while True:
            ready = yield wanted
            has_read = has_read or bool(ready & Ready.R)
            wanted = gen.send(ready)
    except StopIteration as end:
        if has_read:
            silence.ends()
        result: RV = end.value
        return result


def connect(most_seconds: float, silence: Silence, **parameters: Any) -> Connection:
    """Raises psycopg.OperationalError.

    A connection is no answer yet: a pooler accepts it while its server is silent.
    """
    silence.refuse_all_but_one()
    if silence.is_noticed:
        parameters["connect_timeout"] = _SHORT_SECONDS
    try:
        connection = Connection.connect(**parameters)
    except psycopg.errors.ConnectionTimeout:
        silence.begins()
        raise
    connection.most_seconds, connection.silence = most_seconds, silence
    return connection
