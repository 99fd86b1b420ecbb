"""Server-Sent Events to open pages: which objects have changed. Streams occupy no thread.

Django answers the request, so the view decides who may open a stream. The answer of `common.pages.page_updates.stream`
is replaced by a stream. The view's own answer tells the page to ask from time to time instead; it is sent when there
are too many streams, while Redis is away, and by servers without this module, such as Django's.

Pages that are told of an object ask for it. Where many pages show the same, the view gives the stream their content:
it is computed once for all of them in this process, and sent in place of the ids, within a third of a second.
"""

import asyncio
import logging
import random
import signal
from collections import Counter
from collections.abc import Awaitable, Callable, Coroutine, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from http import HTTPStatus
from secrets import token_hex
from types import FrameType
from typing import TYPE_CHECKING, Any, NamedTuple

from granian._granian import RSGIProtocolClosed as ProtocolClosed  # granian.rsgi does not export it to mypy
from redis.asyncio.client import PubSub
from redis.exceptions import RedisError

from common.connections import new_async_redis
from common.pages.page_updates import ANYTHING, CHANNEL, END, Content, StreamRequest, joined_version, version_keys

if TYPE_CHECKING:
    from granian._granian import RSGIHTTPProtocol as HTTPProtocol
    from granian._granian import RSGIHTTPStreamTransport as Transport
    from redis.asyncio import Redis as AsyncRedis

_log = logging.getLogger("rota.server")
_RECONNECT = "retry: 2000\n\n"
_BEAT = "event: beat\ndata: -\n\n"
# Begins what the page is told of each change. It loads everything, unless it shows what there is.
_READY, _READY_SAME = ("event: ready\ndata: -\n\n", "event: ready\ndata: same\n\n")
_MOST_PENDING = 32
# A subscription without streams, because the library cannot wait for messages without any.
_ALWAYS = CHANNEL
_TIMEOUT_SECONDS = 2
# Redis is asked for an answer this often. Without one until the next time the connection is taken for broken.
_CHECK_SECONDS = 5
_PAUSE_SECONDS = 2  # between attempts to connect


class Answer(NamedTuple):
    """A complete answer of Django with the status 200, and the stream that replaces it."""

    headers: list[tuple[str, str]]
    content: bytes
    request: StreamRequest


@dataclass(frozen=True)
class StreamLimits:
    """Limits of a process, of a user in it, and of one stream.

    The browser opens a stream that has ended again, so the user's rights are checked at least every 1.2 `seconds`.
    `total_bytes` limits the memory for a client that does not read: granian's buffer of a connection has no limit.
    The pause between two messages about a topic is from `pause_seconds` to `longest_pause_seconds`: `pause_for_each`
    of its streams without content, because each page that is told asks the service for what has changed. It is
    `pause_with_content` where content was sent, whose computation takes about 25 ms of CPU in each process.
    """

    streams: int = 1000
    of_user: int = 20
    seconds: float = 300
    beat_seconds: float = 15
    pause_seconds: float = 0.25
    pause_with_content: float = 0.3
    pause_for_each: float = 0.06
    longest_pause_seconds: float = 1.5
    total_bytes: int = 512 * 1024
    total_bytes_with_content: int = 4 * 1024 * 1024


async def _nowhere(_work: Callable[[], str | None]) -> str | None:
    """Where there are no threads for content: pages ask for it."""
    return None


class PageStreams:
    """The open streams of one process, with one subscription to Redis. To be used in the event loop only."""

    def __init__(self, redis_url: str, limits: StreamLimits | None = None) -> None:
        self._redis_url, self._limits = redis_url, limits or StreamLimits()
        self._streams: dict[str, set[_Stream]] = {}  # by topic
        # By topic: what has changed in the pause after its last message.
        self._gathered: dict[str, set[str]] = {}
        self._of_user: Counter[str] = Counter()
        self._subscription: asyncio.Task[None] | None = None
        self._pubsub: PubSub | None = None
        self._redis: AsyncRedis | None = None
        self._tasks: set[asyncio.Task[None]] = set()  # the loop itself keeps weak references
        # Runs something in a thread of requests.
        self.run: Callable[[Callable[[], str | None]], Awaitable[str | None]] = _nowhere
        self._is_away = False
        self._has_ended = False

    async def send(self, answer: Answer, protocol: "HTTPProtocol") -> None:
        """Send the stream until it ends, or the answer without it where there can be none."""
        request = answer.request
        topics, user = request.topics, request.user
        is_full = self._of_user.total() >= self._limits.streams or self._of_user[user] >= self._limits.of_user
        if self._has_ended or self._is_away or is_full:
            protocol.response_bytes(HTTPStatus.OK, answer.headers, answer.content)
            return
        stream = _Stream(request)
        self._of_user[user] += 1
        for topic in topics:
            self._streams.setdefault(topic, set()).add(stream)
        headers = [(name, value) for name, value in answer.headers if name != "content-length"]
        transport = protocol.response_stream(HTTPStatus.OK, headers)
        disconnected = asyncio.ensure_future(protocol.client_disconnect())
        disconnected.add_done_callback(lambda _: stream.end())
        try:
            with suppress(ProtocolClosed):  # the client has gone away
                await self._subscribe(topics)
                await stream.write(transport, self._limits)
        finally:
            disconnected.cancel()
            for topic in topics:
                self._streams[topic].remove(stream)
                if not self._streams[topic]:
                    del self._streams[topic]
            self._of_user -= Counter([user])  # without those that have none

    def end_at_signals(self, loop: asyncio.AbstractEventLoop) -> None:
        """Call `end` in the loop at SIGINT and SIGTERM. To be called in the main thread.

        Granian's own handlers are called first. It waits for the streams then, and does not tell them that it ends.
        """
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, partial(self._handle_signal, signal.getsignal(number), loop))

    def _handle_signal(
        self, granians: Any, loop: asyncio.AbstractEventLoop, number: int, frame: FrameType | None
    ) -> None:
        if callable(granians):
            granians(number, frame)
        loop.call_soon_threadsafe(self.end)

    def end(self) -> None:
        """End all streams, and open no more."""
        self._has_ended = True
        if self._subscription is not None:
            self._subscription.cancel()
        self._end_streams()

    def _end_streams(self) -> None:
        for stream in set().union(*self._streams.values()):
            stream.end()

    async def _subscribe(self, topics: Iterable[str]) -> None:
        """Redis confirms each topic, also one that the process has subscribed to already."""
        if self._subscription is None:
            self._subscription = asyncio.create_task(self._receive_until_end())
        elif self._pubsub is not None:
            with suppress(RedisError, OSError):  # `_receive` notices it too
                await self._pubsub.subscribe(*(CHANNEL + topic for topic in topics))

    async def _receive_until_end(self) -> None:
        """Pass messages on. While Redis is away there are no streams, and pages ask from time to time."""
        while True:
            try:
                async with (
                    new_async_redis(self._redis_url, seconds=_TIMEOUT_SECONDS) as redis,
                    redis.pubsub() as pubsub,
                ):
                    await pubsub.connect()
                    self._pubsub, self._redis = pubsub, redis
                    await pubsub.subscribe(_ALWAYS, *(CHANNEL + topic for topic in self._streams))
                    await self._receive(pubsub)
            except (RedisError, OSError) as error:
                if not self._is_away:
                    _log.warning("Open pages ask for updates until Redis answers again: %s", error)
            except Exception:  # noqa: BLE001  # otherwise no page would be told of anything until the process ends
                _log.exception("The subscription to page updates failed")
            self._pubsub = self._redis = None
            self._is_away = True
            self._end_streams()
            await asyncio.sleep(_PAUSE_SECONDS * random.uniform(0.5, 1))  # noqa: S311  # nosec B311  # no secret

    async def _receive(self, pubsub: PubSub) -> None:
        """Raises ConnectionError when Redis does not answer."""
        loop = asyncio.get_running_loop()
        next_check = loop.time() + _CHECK_SECONDS
        is_asked = False
        while True:
            message = await pubsub.get_message(timeout=max(0.01, next_check - loop.time()))
            if message is not None:
                is_asked = False
                self._pass_on(message["type"], message["channel"] or "", message["data"])
            elif is_asked:
                raise ConnectionError("no answer")
            if loop.time() >= next_check:
                next_check = loop.time() + _CHECK_SECONDS
                is_asked = True
                await pubsub.ping()
                if unused := set(pubsub.channels) - {_ALWAYS, *(CHANNEL + topic for topic in self._streams)}:
                    await pubsub.unsubscribe(*unused)

    def _pass_on(self, kind: str, channel: str, data: str) -> None:
        topic = channel.removeprefix(CHANNEL)
        if kind == "subscribe" and self._is_away:
            _log.warning("Redis answers again, open pages are told of changes.")
            self._is_away = False
        if kind == "subscribe":
            for stream in self._streams.get(topic, ()):
                if stream.is_last_of(topic):
                    self._begin(self._make_ready(stream))
        elif kind == "message":
            self._gather(topic, set(data.split(" ")))

    def _begin(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _make_ready(self, stream: "_Stream") -> None:
        """Compare the versions when no message can be missed any more."""
        since, found = stream.request.since, ""
        if since and self._redis is not None:
            with suppress(RedisError, OSError):  # `_receive` notices it too
                texts: list[Any] = await self._redis.mget(version_keys(stream.request.topics))
                found = joined_version(texts)
        stream.ready(is_same=found != "" and found == since)

    def _gather(self, topic: str, ids: set[str]) -> None:
        if END in ids:
            for stream in self._streams.get(topic, ()):
                stream.end()
        elif topic in self._gathered:
            self._gathered[topic] |= ids
        else:
            self._tell(topic, ids)

    def _tell(self, topic: str, ids: set[str]) -> None:
        """Tell the streams of the topic, in messages of one name, and gather until the pause after it has ended."""
        self._gathered[topic] = set()
        message = token_hex(8)
        with_content: dict[Content, list[_Stream]] = {}
        asking = 0
        for stream in self._streams.get(topic, ()):
            if (content := stream.request.content) is not None and ANYTHING not in ids:
                with_content.setdefault(content, []).append(stream)
            else:
                stream.changed(ids, message)
                asking += 1
        if with_content:
            self._begin(self._tell_content(topic, sorted(ids), message, with_content, asking))
        else:
            self._pause(topic, asking, least=self._limits.pause_seconds)

    async def _tell_content(
        self, topic: str, ids: Sequence[str], message: str, wanted: dict[Content, list["_Stream"]], asking: int
    ) -> None:
        for content, streams in wanted.items():
            text = None
            try:
                text = await self.run(partial(content, ids, message))
            except Exception:  # noqa: BLE001  # the pages ask for it, and are told if it fails again
                _log.exception("What pages show of changes could not be computed")
            for stream in streams:
                if text is None:
                    stream.changed(ids, message)
                else:
                    stream.shows(text, message)
            asking += len(streams) if text is None else 0
        self._pause(topic, asking, least=self._limits.pause_with_content)

    def _pause(self, topic: str, asking: int, *, least: float) -> None:
        limits = self._limits
        pause = min(max(least, limits.pause_for_each * asking), limits.longest_pause_seconds)
        asyncio.get_running_loop().call_later(pause, self._tell_gathered, topic)

    def _tell_gathered(self, topic: str) -> None:
        if ids := self._gathered.pop(topic):
            self._tell(topic, ids)


class _Stream:
    """One stream: what its page has to be told, gathered until it can be sent."""

    def __init__(self, request: StreamRequest) -> None:
        self.request = request
        self._unconfirmed = set(request.topics)
        self._ready = ""  # not sent yet
        self._ids: set[str] = set()
        self._contents: list[str] = []
        self._message = ""
        self._wanted = asyncio.Event()
        self._has_ended = False

    def is_last_of(self, topic: str) -> bool:
        """Whether the subscription to this topic was the last one to be confirmed."""
        was_expected = topic in self._unconfirmed
        self._unconfirmed.discard(topic)
        return was_expected and not self._unconfirmed

    def ready(self, *, is_same: bool) -> None:
        self._ready = _READY_SAME if is_same else _READY
        self._wanted.set()

    def changed(self, ids: Iterable[str], message: str) -> None:
        self._message = message
        self._ids.update(ids)
        if ANYTHING in self._ids or len(self._ids) > _MOST_PENDING:
            self._ids = {ANYTHING}
        self._wanted.set()

    def shows(self, content: str, message: str) -> None:
        """`content` is JSON in one line."""
        self._contents.append(f"id: {message}\nevent: content\ndata: {content}\n\n")
        self._wanted.set()

    def end(self) -> None:
        self._has_ended = True
        self._wanted.set()

    async def write(self, transport: "Transport", limits: StreamLimits) -> None:
        """Write messages until the stream ends. Raises ProtocolClosed."""
        loop = asyncio.get_running_loop()
        until = loop.time() + limits.seconds * random.uniform(0.8, 1.2)  # noqa: S311  # nosec B311  # no secret
        written = 0
        await transport.send_str(_RECONNECT)
        most = limits.total_bytes if self.request.content is None else limits.total_bytes_with_content
        while loop.time() < until and written < most:
            with suppress(TimeoutError):
                async with asyncio.timeout(min(limits.beat_seconds, until - loop.time())):
                    await self._wanted.wait()
            if self._has_ended:
                return
            text = self._next()
            await transport.send_str(text)
            written += len(text)

    def _next(self) -> str:
        """What is to be sent, or a sign of life. A message is named by its id."""
        self._wanted.clear()
        ready, self._ready = self._ready, ""
        ids, self._ids = self._ids, set()
        contents, self._contents = self._contents, []
        if ready == _READY:  # the page loads everything
            return ready
        told = f"id: {self._message}\ndata: {' '.join(sorted(ids))}\n\n" if ids else ""
        return "".join([ready, *contents, told]) or _BEAT
