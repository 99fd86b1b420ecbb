"""Connections of a process: clients of Redis, the end of a broken connection to PostgreSQL, the limit of open files."""

import logging
import resource
from functools import cache

from django.conf import settings
from django.db import Error, connection
from redis import Redis
from redis.asyncio import Redis as AsyncRedis
from redis.asyncio.retry import Retry as AsyncRetry
from redis.backoff import NoBackoff
from redis.retry import Retry

_log = logging.getLogger(__name__)
REDIS_SECONDS = 1.0
_MOST_FILES = 65_536


@cache
def redis() -> Redis:
    """The client of this process for what may fail: it waits REDIS_SECONDS to connect and for each answer."""
    return new_redis(settings.REDIS_URL, seconds=REDIS_SECONDS)


def new_redis(url: str, *, seconds: float) -> Redis:
    """A client that waits so long to connect and for each answer, and repeats nothing."""
    return Redis.from_url(url, socket_connect_timeout=seconds, socket_timeout=seconds, retry=Retry(NoBackoff(), 0))


def new_async_redis(url: str, *, seconds: float) -> AsyncRedis:
    """As `new_redis`, for an event loop. Answers are texts."""
    return AsyncRedis.from_url(
        url,
        decode_responses=True,
        socket_connect_timeout=seconds,
        socket_timeout=seconds,
        retry=AsyncRetry(NoBackoff(), 0),
    )


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
