"""Limits the calls of each credential, in a sliding window that Redis counts for all processes.

The window is approximated by two fixed ones (a sliding window counter): the calls of the current fixed window, plus
those of the one before, weighted with the share of it that the sliding window still covers. This takes two numbers
for each window. It assumes that the earlier calls were evenly distributed: after a burst at the end of a fixed window
up to twice the limit may be allowed within one window's length. In each fixed window, which begins at a multiple of
its length in Redis' time, never more than the limit is allowed. Refused calls are not counted.
"""

import logging
import math
import time
from dataclasses import dataclass
from functools import cache
from threading import Lock
from typing import Any, NamedTuple, TypedDict

from django.conf import settings
from redis import RedisError

from common.connections import new_redis

_log = logging.getLogger(__name__)
# To connect, and for each answer.
_TIMEOUT_SECONDS = 0.1
# After a failure Redis is not used for this long, so that its outage does not delay every call.
_BACK_OFF_SECONDS = 3.0
# A process refuses without Redis until Retry-After has passed, which keeps a caller cheap that does not wait, but for
# this long at most, so that a raised limit or a revoked credential takes effect.
_MOST_LOCAL_SECONDS = 5
_MOST_REFUSALS = 10_000
_KEY = "rota:rate-limit:"
# Key of the WSGI environ: the `Standing` of a call.
STANDING = "rota.rate_limit"

# KEYS[1]: a hash with three fields for each window: its number since the epoch, its calls, those of the one before.
# ARGV: name, seconds and limit of each window.
# Returns the microseconds until a call would be allowed, 0 if this one is; then for each window the calls that are
# left and the microseconds until the fixed window ends, or those until its next call if none is left.
_SCRIPT = """
local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]
local windows, longest, wait = {}, 0, 0
for i = 1, #ARGV, 3 do
  local w = {name = ARGV[i], size = ARGV[i + 1] * 1000000, limit = tonumber(ARGV[i + 2]), wait = 0}
  w.number = math.floor(now / w.size)
  w.passed = (now - w.number * w.size) / w.size
  local kept = redis.call('HMGET', KEYS[1], w.name, w.name .. ':calls', w.name .. ':before')
  local age = w.number - (tonumber(kept[1]) or -2)
  w.calls, w.before = 0, 0
  if age == 0 then w.calls, w.before = tonumber(kept[2]), tonumber(kept[3]) end
  if age == 1 then w.before = tonumber(kept[2]) end
  if w.calls + 1 > w.limit then
    w.wait = 1 - w.passed + math.max(0, 1 - (w.limit - 1) / w.calls)
  elseif w.before * (1 - w.passed) + w.calls + 1 > w.limit then
    w.wait = 1 - (w.limit - 1 - w.calls) / w.before - w.passed
  end
  w.wait = math.ceil(w.wait * w.size)
  wait, longest = math.max(wait, w.wait), math.max(longest, w.size)
  windows[#windows + 1] = w
end
local answer = {wait}
for _, w in ipairs(windows) do
  if wait == 0 then
    w.calls = w.calls + 1
    redis.call('HSET', KEYS[1], w.name, w.number, w.name .. ':calls', w.calls, w.name .. ':before', w.before)
  end
  answer[#answer + 1] = math.max(0, math.floor(w.limit - w.calls - w.before * (1 - w.passed)))
  answer[#answer + 1] = math.max(w.wait, math.ceil((1 - w.passed) * w.size))
end
if wait == 0 then redis.call('PEXPIRE', KEYS[1], 2 * longest / 1000) end
return answer
"""


class CallLimits(TypedDict):
    """The most calls of each token or key. Null: no limit."""

    perSecond: int | None
    perHour: int | None


class Limits(NamedTuple):
    """The most calls of one credential. 0: no limit."""

    per_second: int
    per_hour: int

    def windows(self) -> list[tuple[str, int, int]]:
        windows = [("second", 1, self.per_second), ("hour", 3600, self.per_hour)]
        return [window for window in windows if window[2]]

    def shown(self) -> CallLimits:
        return {"perSecond": self.per_second or None, "perHour": self.per_hour or None}


@dataclass(frozen=True)
class Standing:
    """What a call is told about its limits.

    `policy` and `state` are the fields RateLimit-Policy and RateLimit of draft-ietf-httpapi-ratelimit-headers-10.
    `retry_after` is the number of seconds, at least 1, after which a refused call may be repeated; 0 if it is allowed.
    """

    policy: str
    state: str
    retry_after: int


class Refusal(NamedTuple):
    """A credential over its limit, until `until` on the monotonic clock. `caller` is the argument of `count`."""

    until: float
    standing: Standing
    caller: Any


class Limiter:
    """Counts calls in Redis, and remembers for a moment which credentials are over their limit. Thread-safe."""

    def __init__(self, url: str) -> None:
        self._redis = new_redis(url, seconds=_TIMEOUT_SECONDS)
        self._script = self._redis.register_script(_SCRIPT)
        self._refusals: dict[bytes, Refusal] = {}
        self._lock = Lock()
        self._is_away = False
        self._next_use = 0.0  # on the monotonic clock

    def refused_lately(self, digest: bytes) -> Refusal | None:
        """The last refusal of this credential, while it lasts. Costs no round trip."""
        refusal = self._refusals.get(digest)
        if refusal is None or time.monotonic() < refusal.until:
            return refusal
        with self._lock:
            self._refusals.pop(digest, None)
        return None

    def count(self, digest: bytes, limits: Limits, *, caller: Any) -> Standing | None:
        """Count a call that is within its limits. None: there are no limits, or Redis is away; the call is allowed."""
        windows = limits.windows()
        answer = self._run(digest, windows) if windows else None
        if answer is None:
            return None
        standing = Standing(
            policy=", ".join(f'"{name}";q={limit};w={seconds}' for name, seconds, limit in windows),
            state=", ".join(
                f'"{name}";r={left};t={math.ceil(microseconds / 1e6)}'
                for (name, _seconds, _limit), left, microseconds in zip(
                    windows, answer[1::2], answer[2::2], strict=True
                )
            ),
            retry_after=math.ceil(answer[0] / 1e6),
        )
        if standing.retry_after:
            until = time.monotonic() + min(standing.retry_after, _MOST_LOCAL_SECONDS)
            self._remember(digest, Refusal(until, standing, caller))
        return standing

    def _remember(self, digest: bytes, refusal: Refusal) -> None:
        with self._lock:
            self._refusals.pop(digest, None)  # so that the first one of the dict is the oldest
            if len(self._refusals) >= _MOST_REFUSALS:
                self._refusals.pop(next(iter(self._refusals)))
            self._refusals[digest] = refusal

    def _run(self, digest: bytes, windows: list[tuple[str, int, int]]) -> list[int] | None:
        """The script's answer, or None while Redis is away."""
        now = time.monotonic()
        if self._is_away and now < self._next_use:
            return None
        self._next_use = now + _BACK_OFF_SECONDS  # while Redis is away, one thread at a time tries
        try:
            answer: list[int] = self._script([_KEY + digest.hex()], [part for window in windows for part in window])
        except RedisError as error:
            self._next_use = time.monotonic() + _BACK_OFF_SECONDS
            if not self._is_away:
                _log.warning("Calls are not limited until Redis answers again: %s", error)
            self._is_away = True
            self._redis.connection_pool.disconnect(inuse_connections=False)  # the idle ones are broken too
            return None
        if self._is_away:
            _log.warning("Redis answers again, calls are limited.")
        self._is_away = False
        return answer


@cache
def limiter() -> Limiter:
    return Limiter(settings.REDIS_URL)


def headers(environ: dict[str, Any]) -> dict[str, str]:
    """Header fields of the answer to a call, by the name; none if its limits are unknown."""
    standing: Standing | None = environ.get(STANDING)
    if standing is None:
        return {}
    retry = {"Retry-After": str(standing.retry_after)} if standing.retry_after else {}
    return {"RateLimit-Policy": standing.policy, "RateLimit": standing.state, **retry}
