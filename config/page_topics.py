"""The subscriptions of one web process to the topics of page updates: a single connection to Redis for all streams."""

import asyncio
import logging
import random
from collections import Counter
from collections.abc import Iterable
from typing import Protocol

from redis.asyncio import Redis
from redis.asyncio.client import PubSub
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff
from redis.exceptions import RedisError

from common.page_updates import CHANNEL

_log = logging.getLogger("rota.server")
# A subscription without streams, because the library cannot wait for messages without any.
_ALWAYS = CHANNEL
_TIMEOUT_SECONDS = 2
# Redis is asked for an answer this often. Without one until the next time the connection is taken for broken.
_CHECK_SECONDS = 5
_FIRST_PAUSE_SECONDS, _LONGEST_PAUSE_SECONDS = 0.5, 5


class Listener(Protocol):
    """Is told about its topics, in the event loop's thread."""

    topics: tuple[str, ...]

    def changed(self, ids: Iterable[str]) -> None: ...

    def ready(self) -> None:
        """From now on `changed` is called for each message."""

    def away(self) -> None:
        """Messages are lost until `ready` is called."""


class Topics:
    """Subscribes to the topics that have listeners. To be used in the event loop only."""

    def __init__(self, redis_url: str) -> None:
        self._url = redis_url
        self._listeners: dict[str, set[Listener]] = {}
        self._task: asyncio.Task[None] | None = None
        self._pubsub: PubSub | None = None
        self._is_away = False
        # Requests for subscriptions that Redis has not confirmed, and topics without such whose last one it has.
        self._unconfirmed: Counter[str] = Counter()
        self._confirmed: set[str] = set()

    async def add(self, listener: Listener) -> None:
        for topic in listener.topics:
            self._listeners.setdefault(topic, set()).add(listener)
        if self._task is None:
            self._task = asyncio.create_task(self._run())
        elif self._is_away:
            listener.away()
        elif self._pubsub is not None:
            try:
                await self._subscribe(self._pubsub, set(listener.topics) - self._confirmed)
            except (RedisError, OSError):
                return  # `_read` notices it too
            self._tell_if_ready(listener)

    def remove(self, listener: Listener) -> None:
        for topic in listener.topics:
            self._listeners[topic].remove(listener)
            if not self._listeners[topic]:
                del self._listeners[topic]

    def end(self) -> None:
        if self._task is not None:
            self._task.cancel()

    async def _run(self) -> None:
        pause = _FIRST_PAUSE_SECONDS
        while True:
            try:
                async with self._connection() as redis, redis.pubsub() as pubsub:
                    await pubsub.subscribe(_ALWAYS)
                    await self._subscribe(pubsub, self._listeners)
                    self._pubsub = pubsub
                    pause = _FIRST_PAUSE_SECONDS
                    await self._read(pubsub)
            except (RedisError, OSError) as error:
                if not self._is_away:
                    _log.warning("Open pages ask for updates until Redis answers again: %s", error)
            except Exception:  # noqa: BLE001  # otherwise no page would be told of anything until the process ends
                _log.exception("The subscription to page updates failed")
            self._lose_connection()
            await asyncio.sleep(pause * random.uniform(0.5, 1))  # noqa: S311  # nosec B311  # no secret
            pause = min(2 * pause, _LONGEST_PAUSE_SECONDS)

    def _connection(self) -> Redis:
        return Redis.from_url(
            self._url,
            decode_responses=True,
            socket_connect_timeout=_TIMEOUT_SECONDS,
            socket_timeout=_TIMEOUT_SECONDS,
            retry=Retry(NoBackoff(), 0),
        )

    def _lose_connection(self) -> None:
        self._pubsub, self._is_away = None, True
        self._unconfirmed.clear()
        self._confirmed.clear()
        for listener in set().union(*self._listeners.values()):
            listener.away()

    async def _subscribe(self, pubsub: PubSub, topics: Iterable[str]) -> None:
        wanted = list(topics)
        if wanted:
            self._unconfirmed.update(wanted)
            await pubsub.subscribe(*(CHANNEL + topic for topic in wanted))

    async def _read(self, pubsub: PubSub) -> None:
        """Pass messages on. Raises ConnectionError when Redis does not answer."""
        loop = asyncio.get_running_loop()
        next_check = loop.time() + _CHECK_SECONDS
        is_asked = False
        while True:
            message = await pubsub.get_message(timeout=max(0.01, next_check - loop.time()))
            if message is not None:
                is_asked = False
                self._receive(message["type"], message["channel"], message["data"])
            elif is_asked:
                raise ConnectionError("no answer")
            if loop.time() >= next_check:
                next_check = loop.time() + _CHECK_SECONDS
                is_asked = True
                await pubsub.ping()
                await self._unsubscribe_unused(pubsub)

    async def _unsubscribe_unused(self, pubsub: PubSub) -> None:
        unused = self._confirmed - self._listeners.keys()
        if unused:
            self._confirmed -= unused
            await pubsub.unsubscribe(*(CHANNEL + topic for topic in unused))

    def _receive(self, kind: str, channel: str | None, data: str) -> None:
        topic = (channel or "").removeprefix(CHANNEL)
        if kind == "message":
            for listener in self._listeners.get(topic, ()):
                listener.changed(data.split(" "))
        elif kind == "subscribe" and topic:
            self._unconfirmed[topic] -= 1
            if not self._unconfirmed[topic]:
                del self._unconfirmed[topic]
                self._confirmed.add(topic)
                for listener in self._listeners.get(topic, ()):
                    self._tell_if_ready(listener)
        elif kind == "subscribe" and self._is_away:
            _log.warning("Redis answers again, open pages are told of changes.")
            self._is_away = False

    def _tell_if_ready(self, listener: Listener) -> None:
        if self._confirmed.issuperset(listener.topics):
            listener.ready()
