"""Signs of life of beat and of the workers: keys in Redis, whose remaining time to live says how old they are.

So no clocks of different machines are compared.
"""

import logging
import math
import time
from typing import Literal

from redis import RedisError

from common.connections import redis

_log = logging.getLogger(__name__)
Process = Literal["beat", "worker"]
PROCESSES: tuple[Process, ...] = ("beat", "worker")
_KEPT_MS = 24 * 3600 * 1000
_PAUSE_SECONDS = 5
_CLOCK_KEY = "rota:worker-clock-differs"
_CLOCK_KEPT_MS = 30 * 1000  # a worker repeats it every few seconds
_written_at: dict[str, float] = {}  # on the monotonic clock


def written_by(process: Process) -> None:
    """Note that this process works. Costs a round trip at most every five seconds; raises nothing if Redis is away."""
    now = time.monotonic()
    if now - _written_at.get(process, -math.inf) < _PAUSE_SECONDS:
        return
    _written_at[process] = now
    try:
        redis().set(_key(process), 1, px=_KEPT_MS)
    except RedisError as error:
        _log.warning("The sign of life was not written: %s", error)


def ages() -> dict[Process, float | None]:
    """Seconds since the last sign of life of beat and of any worker; None without one in a day. Raises RedisError."""
    with redis().pipeline(transaction=False) as pipeline:
        for process in PROCESSES:
            pipeline.pttl(_key(process))
        left = pipeline.execute()
    return {
        process: (_KEPT_MS - milliseconds) / 1000 if milliseconds >= 0 else None
        for process, milliseconds in zip(PROCESSES, left, strict=True)
    }


def clock_differs() -> None:
    """Note that the clock of this worker's machine differs from PostgreSQL's. Raises nothing if Redis is away."""
    try:
        redis().set(_CLOCK_KEY, 1, px=_CLOCK_KEPT_MS)
    except RedisError as error:
        _log.warning("The difference of the clocks was not noted: %s", error)


def does_clock_differ() -> bool:
    """Whether a worker has noted so in the last half minute. Raises RedisError."""
    return bool(redis().exists(_CLOCK_KEY))


def _key(process: Process) -> str:
    return f"rota:heartbeat:{process}"
