"""Server-Sent Events to open pages: which objects have changed. Streams occupy no thread.

Django answers the request, so the view decides who may open a stream. An answer whose view has set
`common.page_updates.STREAM` is replaced by a stream. The view's own answer tells the page to ask from time to time
instead; it is sent when there are too many streams, and by servers without this module, such as Django's.
"""

import asyncio
import random
import signal
from collections import Counter
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from types import FrameType
from typing import TYPE_CHECKING, Any, NamedTuple

from granian._granian import RSGIProtocolClosed as ProtocolClosed  # granian.rsgi does not export it to mypy

from common.page_updates import ANYTHING, END, StreamRequest
from config.page_topics import Topics

if TYPE_CHECKING:
    from granian._granian import RSGIHTTPProtocol as HTTPProtocol
    from granian._granian import RSGIHTTPStreamTransport as Transport

_RECONNECT = "retry: 2000\n\n"
_BEAT = "event: beat\ndata: -\n\n"
_READY = "event: ready\ndata: -\n\n"
_AWAY = "event: away\ndata: -\n\n"
_MOST_PENDING = 32


class Answer(NamedTuple):
    """A complete answer of Django, and the stream that replaces it."""

    status: int
    headers: list[tuple[str, str]]
    content: bytes
    request: StreamRequest


@dataclass(frozen=True)
class StreamLimits:
    """Limits of a process, of a user in it, and of one stream.

    The browser opens a stream that has ended again, so the user's rights are checked at least every 1.2 `seconds`.
    `total_bytes` limits the memory for a client that does not read: granian's buffer of a connection has no limit.
    Between two messages on a stream are at least `pause_seconds`.
    """

    streams: int = 1000
    of_user: int = 20
    seconds: float = 300
    beat_seconds: float = 15
    pause_seconds: float = 0.25
    total_bytes: int = 512 * 1024


class PageStreams:
    """The open streams of one process. To be used in the event loop only."""

    def __init__(self, redis_url: str, limits: StreamLimits | None = None) -> None:
        self._topics = Topics(redis_url)
        self._limits = limits or StreamLimits()
        self._streams: set[_Stream] = set()
        self._of_user: Counter[str] = Counter()
        self._has_ended = False

    async def send(self, answer: Answer, protocol: "HTTPProtocol") -> None:
        """Send the stream until it ends, or the answer without it when there are too many."""
        user = answer.request.user
        is_full = len(self._streams) >= self._limits.streams or self._of_user[user] >= self._limits.of_user
        if self._has_ended or is_full:
            protocol.response_bytes(answer.status, answer.headers, answer.content)
            return
        stream = _Stream(answer.request.topics)
        self._streams.add(stream)
        self._of_user[user] += 1
        headers = [(name, value) for name, value in answer.headers if name != "content-length"]
        transport = protocol.response_stream(answer.status, headers)
        disconnected = asyncio.ensure_future(protocol.client_disconnect())
        disconnected.add_done_callback(lambda _: stream.end())
        try:
            with suppress(ProtocolClosed):  # the client has gone away
                await self._topics.add(stream)
                await stream.write(transport, self._limits)
        finally:
            disconnected.cancel()
            self._topics.remove(stream)
            self._streams.remove(stream)
            self._of_user[user] -= 1
            if not self._of_user[user]:
                del self._of_user[user]

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
        self._topics.end()
        for stream in self._streams:
            stream.end()


class _Stream:
    """One stream: what its page has to be told, gathered until it can be sent."""

    def __init__(self, topics: tuple[str, ...]) -> None:
        self.topics = topics
        self._ids: set[str] = set()
        self._state = ""  # the last change of the connection to Redis that was not sent
        self._wanted = asyncio.Event()
        self._has_ended = False

    def changed(self, ids: Iterable[str]) -> None:
        self._ids.update(ids)
        if END in self._ids:
            self.end()
            return
        if ANYTHING in self._ids or len(self._ids) > _MOST_PENDING:
            self._ids = {ANYTHING}
        self._wanted.set()

    def ready(self) -> None:
        self._state = _READY
        self._wanted.set()

    def away(self) -> None:
        self._state = _AWAY
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
        while loop.time() < until and written < limits.total_bytes:
            with suppress(TimeoutError):
                async with asyncio.timeout(min(limits.beat_seconds, until - loop.time())):
                    await self._wanted.wait()
            if self._has_ended:
                return
            text = self._next()
            await transport.send_str(text)
            written += len(text)
            await asyncio.sleep(limits.pause_seconds)

    def _next(self) -> str:
        """What is to be sent, or a sign of life."""
        self._wanted.clear()
        state, self._state = self._state, ""
        ids, self._ids = self._ids, set()
        if state:  # the page loads everything, or asks from time to time
            return state
        return f"data: {' '.join(sorted(ids))}\n\n" if ids else _BEAT
