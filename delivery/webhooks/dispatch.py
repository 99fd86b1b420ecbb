"""Claim what is due, send it, settle what came of it. No HTTP inside a transaction, no transaction around a wait."""

import asyncio
import gc
import logging
import resource
import threading
import time
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import TypeVar
from uuid import uuid4

import aiohttp
from django.conf import settings
from django.db import Error, InterfaceError, OperationalError, connections
from django.utils import timezone

from delivery.webhooks import queue, sending
from delivery.webhooks.envelopes import Envelopes, NotSendable
from delivery.webhooks.queue import Claimed
from delivery.webhooks.sending import Outgoing, Result
from delivery.webhooks.settlement import settle

T = TypeVar("T")
Step = Callable[[ThreadPoolExecutor], Awaitable[None]]
_log = logging.getLogger(__name__)
# Idle requests cost little, and so many endpoints that hang, at four each, leave room for the others.
_IN_FLIGHT = 1024
# What was claimed longer ago is not sent any more: its lease, 60 s, might end before its answer, 15 s, is written.
_FRESH_SECONDS = 40
# Under load outcomes are written together: when there are so many, or so long after the first of them. With fewer
# requests than that in flight waiting would gather little, so each is written at once.
_BATCH = 64
_GATHER_SECONDS = 0.01
_DATABASE_PAUSE_SECONDS = 1
# A name look-up that hangs keeps a thread for as long as the resolver likes; the others need theirs.
_LOOK_UP_THREADS = 64


class Sender:
    """Sends what is due, in one event loop, for as long as it runs. No request waits for a slower one.

    Two steps go round beside each other, each with a thread and a database connection of its own: claiming, set off
    by `look` and by every settlement, and settling, set off by requests that have ended.
    """

    def __init__(self) -> None:
        self.idle = asyncio.Event()
        self._due = asyncio.Event()
        self._ended = asyncio.Event()
        self._stopping = asyncio.Event()
        self._outcomes: list[tuple[Claimed, Result]] = []
        self._requests: set[asyncio.Task[None]] = set()
        self._steps = 0

    def look(self) -> None:
        """Look for due events."""
        self.idle.clear()
        self._due.set()

    def stop(self) -> None:
        """Claim nothing more; `run` ends when the requests in flight, 15 s at most, are settled."""
        self._stopping.set()
        self.look()

    async def run(self) -> None:
        """Send until `stop` is called and everything in flight is settled."""
        async with sending.open_session(allow_loopback=settings.WEBHOOK_ALLOW_LOOPBACK) as session:
            with ThreadPoolExecutor(1) as claiming, ThreadPoolExecutor(1) as settling:
                steps = [
                    asyncio.create_task(self._repeat(partial(self._claim, session), self._due, claiming)),
                    asyncio.create_task(self._repeat(self._settle, self._ended, settling)),
                ]
                await self._stopping.wait()
                await self.idle.wait()
                for step, thread in zip(steps, (claiming, settling), strict=True):
                    step.cancel()
                    await _in(thread, connections.close_all)

    async def _repeat(self, step: Step, news: asyncio.Event, thread: ThreadPoolExecutor) -> None:
        while True:
            await news.wait()
            news.clear()
            self._steps += 1
            try:
                await step(thread)
            except (OperationalError, InterfaceError) as error:
                _log.warning("The database is away, trying again in a second: %s", error)
                await self._after_fault(news, thread)
            except Exception:  # noqa: BLE001  # the next round may do; ending here would end all sending
                _log.exception("A step of the webhook sender failed")
                await self._after_fault(news, thread)
            self._steps -= 1
            if not (self._steps or self._requests or self._outcomes or self._due.is_set()):
                self.idle.set()

    async def _after_fault(self, news: asyncio.Event, thread: ThreadPoolExecutor) -> None:
        news.set()
        try:
            await _in(thread, connections.close_all)
        except Error as error:
            _log.warning("A broken connection would not close: %s", error)
        await asyncio.sleep(_DATABASE_PAUSE_SECONDS)

    async def _claim(self, session: aiohttp.ClientSession, thread: ThreadPoolExecutor) -> None:
        room = _IN_FLIGHT - len(self._requests)
        if room > 0 and not self._stopping.is_set():
            at = time.monotonic()
            for event, request in await _in(thread, _take, room):
                self._requests.add(asyncio.create_task(self._send(session, event, request, claimed_at=at)))

    async def _send(
        self, session: aiohttp.ClientSession, event: Claimed, request: Outgoing | Result, *, claimed_at: float
    ) -> None:
        if time.monotonic() - claimed_at > _FRESH_SECONDS:
            _log.warning("event %s was claimed too long ago and is left to the end of its lease", event.event_id)
        else:
            result = request if isinstance(request, Result) else await sending.send(session, request)
            self._outcomes.append((event, result))
        self._requests.discard(asyncio.current_task())
        if len(self._outcomes) >= _BATCH or len(self._requests) < _BATCH:
            self._ended.set()
        elif len(self._outcomes) == 1:
            asyncio.get_running_loop().call_later(_GATHER_SECONDS, self._ended.set)

    async def _settle(self, thread: ThreadPoolExecutor) -> None:
        outcomes, self._outcomes = self._outcomes, []
        try:
            if outcomes:
                await _in(thread, _write, outcomes)
        except BaseException:
            self._outcomes = outcomes + self._outcomes
            raise
        self._due.set()


async def _in(thread: ThreadPoolExecutor, do: Callable[..., T], *arguments: object) -> T:
    return await asyncio.get_running_loop().run_in_executor(thread, do, *arguments)


def _take(room: int) -> list[tuple[Claimed, Outgoing | Result]]:
    """Claimed events, each with its request or with the reason why it cannot be sent."""
    at = timezone.now()
    events = queue.claim(lease=uuid4(), at=at, limit=room)
    if not events:
        return []
    envelopes = Envelopes(events, at=at)
    taken: list[tuple[Claimed, Outgoing | Result]] = []
    for event in events:
        try:
            taken.append((event, envelopes.around(event)))
        except NotSendable as error:
            _log.warning("event %s cannot be sent: %s", event.event_id, error)
            taken.append((event, Result(error=str(error), was_sent=False)))
    return taken


def _write(outcomes: list[tuple[Claimed, Result]]) -> None:
    """Settle all; when one of them cannot be written, at least the others."""
    try:
        settle(outcomes, at=timezone.now())
    except (OperationalError, InterfaceError):
        raise
    except Error:
        if len(outcomes) == 1:
            _log.exception("The outcome of event %s cannot be written", outcomes[0][0].event_id)
            return
        for outcome in outcomes:
            _write([outcome])


class _Background:
    """The sender of this process, in a thread of its own, so that connections outlive the task that woke it."""

    def __init__(self) -> None:
        _allow_many_connections()
        self._loop = asyncio.new_event_loop()
        self._loop.set_default_executor(ThreadPoolExecutor(_LOOK_UP_THREADS, thread_name_prefix="look-up"))
        self._sender = Sender()
        # All that has been loaded stays: without this the collector walks it again and again while sending, which
        # costs a quarter of the speed.
        gc.collect()
        gc.freeze()
        self._thread = threading.Thread(target=self._run, name="webhook-sender", daemon=True)
        self._thread.start()

    @property
    def is_alive(self) -> bool:
        return self._thread.is_alive()

    def _run(self) -> None:
        self._loop.run_until_complete(self._sender.run())

    def look(self) -> None:
        self._loop.call_soon_threadsafe(self._sender.look)

    def stop(self, *, seconds: float) -> None:
        self._loop.call_soon_threadsafe(self._sender.stop)
        self._thread.join(seconds)


def _allow_many_connections() -> None:
    """Each endpoint of the last seconds has its own; the usual limit of a process is for less."""
    _soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))


_background: _Background | None = None
_starting = threading.Lock()


def look() -> None:
    """Have this process send what is due, in the background."""
    global _background  # noqa: PLW0603  # one sender for each process
    with _starting:
        if _background is None or not _background.is_alive:
            _background = _Background()
    _background.look()


def stop(*, seconds: float) -> None:
    """Let this process's sender end what it has begun, for so long at most."""
    if _background is not None:
        _background.stop(seconds=seconds)
