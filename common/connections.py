"""Connections of a process: clients of Redis, a PostgreSQL that is away, the limit of open files."""

import logging
import resource
import time
from functools import cache
from typing import Any

import psycopg
from django.conf import settings
from django.db import Error, OperationalError, connection
from redis import Redis
from redis.asyncio import Redis as AsyncRedis
from redis.asyncio.retry import Retry as AsyncRetry
from redis.asyncio.sentinel import Sentinel as AsyncSentinel
from redis.backoff import NoBackoff
from redis.exceptions import MasterDownError, ReadOnlyError
from redis.retry import Retry
from redis.sentinel import Sentinel

from common.redis_url import Sentinels

_log = logging.getLogger(__name__)
REDIS_SECONDS = 1.0
# Answers of a Redis that is a replica, or has lost its master. A client that names them closes the connection, so that
# the next one leads to the master, and with retries of 0 repeats nothing.
NO_MASTER = (ReadOnlyError, MasterDownError)
_MOST_FILES = 65_536
# Classes of PostgreSQL's error codes: a connection failed; connections, memory or space on the disk are used up; the
# server stops or starts.
_UNAVAILABLE = ("08", "53", "57P")


class BackOff:
    """After a failure a server is not used for some seconds, so that its outage does not delay every request."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self.until = 0.0  # on the monotonic clock

    @property
    def is_on(self) -> bool:
        return time.monotonic() < self.until

    def begin(self) -> None:
        self.until = time.monotonic() + self.seconds


@cache
def redis() -> Redis:
    """The client of Redis for calls that may fail: it waits REDIS_SECONDS to connect and for each answer."""
    return new_redis(settings.REDIS_URL, seconds=REDIS_SECONDS)


def new_redis(url: str, *, seconds: float) -> Redis:
    """A client that waits `seconds` to connect and for each answer, and repeats nothing."""
    deadlines = {"socket_connect_timeout": seconds, "socket_timeout": seconds}
    retry = {"retry": Retry(NoBackoff(), 0), "retry_on_error": [*NO_MASTER]}
    options: dict[str, Any] = {**deadlines, **retry}
    if (found := Sentinels.of(url)) is None:
        return Redis.from_url(url, **options)
    sentinel = Sentinel(  # type: ignore[no-untyped-call]  # redis-py types neither this nor the methods
        found.addresses, sentinel_kwargs={**deadlines, **found.sentinel_options}, **options, **found.server_options
    )
    client: Redis = sentinel.master_for(found.master)  # type: ignore[no-untyped-call]  # as above
    return client


def new_async_redis(url: str, *, seconds: float) -> AsyncRedis:
    """As `new_redis`, for an event loop. Answers are texts."""
    deadlines = {"socket_connect_timeout": seconds, "socket_timeout": seconds}
    options: dict[str, Any] = {
        **deadlines,
        "decode_responses": True,
        "retry": AsyncRetry(NoBackoff(), 0),
        "retry_on_error": [*NO_MASTER],
    }
    if (found := Sentinels.of(url)) is None:
        return AsyncRedis.from_url(url, **options)
    sentinel = AsyncSentinel(  # type: ignore[no-untyped-call]  # as above
        found.addresses, sentinel_kwargs={**deadlines, **found.sentinel_options}, **options, **found.server_options
    )
    client: AsyncRedis = sentinel.master_for(found.master)
    return client


def close_database() -> None:
    """Close this thread's connection to PostgreSQL, which may be broken."""
    try:
        connection.close()
    except Error as error:
        _log.debug("A broken connection could not be closed: %s", error)


def raise_file_limit() -> None:
    """Raise the soft limit of open files, usually 1,024: each client and each endpoint has a connection."""
    _soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = _MOST_FILES if hard == resource.RLIM_INFINITY else min(hard, _MOST_FILES)
    resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))


def is_unavailable(error: BaseException | None) -> bool:
    """Whether PostgreSQL cannot be reached, starts, stops, or lacks connections, memory or space on its disk.

    Or is a standby (`common.postgresql`). An OperationalError of psycopg without a code is of the connection, but for
    one: a statement with more than 65,535 parameters, which libpq refuses with a text only. An InterfaceError is a
    wrong use of psycopg.
    """
    cause = error.__cause__ if isinstance(error, OperationalError) else None
    if isinstance(cause, psycopg.errors.ReadOnlySqlTransaction):
        return True
    if not isinstance(cause, psycopg.OperationalError):
        return False
    return cause.sqlstate is None or cause.sqlstate.startswith(_UNAVAILABLE)
