"""Claims items that are due, sends their events and settles the outcomes.

No transaction is open while a request or anything else is waited for.
"""

import asyncio
import logging
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
from delivery.webhooks.queue import ClaimedItem
from delivery.webhooks.request_builder import NotSendable, RequestBuilder
from delivery.webhooks.sending import Request, Result
from delivery.webhooks.settlement import settle

T = TypeVar("T")
Step = Callable[[ThreadPoolExecutor], Awaitable[None]]
_log = logging.getLogger(__name__)
# A waiting request needs little memory, and with four for each endpoint many endpoints may hang at the same time.
_IN_FLIGHT = 1024
# An item that was claimed longer ago is not sent: its lease, 60 s, could end before its outcome is written.
_FRESH_SECONDS = 40
# Outcomes are written together: as soon as there are so many, or so long after the first of them. With fewer requests
# in flight than that each is written at once, because little would be gathered.
_BATCH = 64
_GATHER_SECONDS = 0.01
_DATABASE_PAUSE_SECONDS = 1


class Sender:
    """Sends what is due, in one event loop, until it is stopped. No request waits for another one.

    Claiming and settling run concurrently, each in a thread with its own database connection. `wake` and every
    settlement start a claim; requests that have ended start a settlement.
    """

    def __init__(self) -> None:
        self.idle = asyncio.Event()
        self._claim_wanted = asyncio.Event()
        self._settlement_wanted = asyncio.Event()
        self._stopping = asyncio.Event()
        self._outcomes: list[tuple[ClaimedItem, Result]] = []
        self._requests: set[asyncio.Task[None]] = set()
        self._running_steps = 0

    def wake(self) -> None:
        """Claim what is due."""
        self.idle.clear()
        self._claim_wanted.set()

    def stop(self) -> None:
        """Claim nothing more. `run` returns when the requests in flight have ended, within 15 s, and are settled."""
        self._stopping.set()
        self.wake()

    async def run(self) -> None:
        """Send until `stop` is called and everything in flight is settled."""
        async with sending.open_session(allow_loopback=settings.WEBHOOK_ALLOW_LOOPBACK) as session:
            with ThreadPoolExecutor(1) as claiming, ThreadPoolExecutor(1) as settling:
                steps = [
                    asyncio.create_task(self._repeat(partial(self._claim, session), self._claim_wanted, claiming)),
                    asyncio.create_task(self._repeat(self._settle, self._settlement_wanted, settling)),
                ]
                await self._stopping.wait()
                await self.idle.wait()
                for step, thread in zip(steps, (claiming, settling), strict=True):
                    step.cancel()
                    await _run_in(thread, connections.close_all)

    async def _repeat(self, step: Step, wanted: asyncio.Event, thread: ThreadPoolExecutor) -> None:
        """Run `step` each time it is wanted, and again after a fault."""
        while True:
            await wanted.wait()
            wanted.clear()
            self._running_steps += 1
            try:
                await step(thread)
            except (OperationalError, InterfaceError) as error:
                _log.warning("The database is away, trying again in a second: %s", error)
                await self._reconnect(wanted, thread)
            except Exception:  # noqa: BLE001  # the next run may succeed, and an exception here would end all sending
                _log.exception("A step of the webhook sender failed")
                await self._reconnect(wanted, thread)
            self._running_steps -= 1
            if not (self._running_steps or self._requests or self._outcomes or self._claim_wanted.is_set()):
                self.idle.set()

    async def _reconnect(self, wanted: asyncio.Event, thread: ThreadPoolExecutor) -> None:
        wanted.set()
        try:
            await _run_in(thread, connections.close_all)
        except Error as error:
            _log.warning("A broken connection could not be closed: %s", error)
        await asyncio.sleep(_DATABASE_PAUSE_SECONDS)

    async def _claim(self, session: aiohttp.ClientSession, thread: ThreadPoolExecutor) -> None:
        limit = _IN_FLIGHT - len(self._requests)
        if limit > 0 and not self._stopping.is_set():
            claimed_at = time.monotonic()
            for item, request in await _run_in(thread, _claim_requests, limit):
                task = asyncio.create_task(self._send(session, item, request, claimed_at=claimed_at))
                self._requests.add(task)

    async def _send(
        self, session: aiohttp.ClientSession, item: ClaimedItem, request: Request | Result, *, claimed_at: float
    ) -> None:
        if time.monotonic() - claimed_at > _FRESH_SECONDS:
            _log.warning("event %s was claimed too long ago and is left to the end of its lease", item.event_id)
        else:
            result = request if isinstance(request, Result) else await sending.send(session, request)
            self._outcomes.append((item, result))
        self._requests.discard(asyncio.current_task())
        if len(self._outcomes) >= _BATCH or len(self._requests) < _BATCH:
            self._settlement_wanted.set()
        elif len(self._outcomes) == 1:
            asyncio.get_running_loop().call_later(_GATHER_SECONDS, self._settlement_wanted.set)

    async def _settle(self, thread: ThreadPoolExecutor) -> None:
        outcomes, self._outcomes = self._outcomes, []
        try:
            if outcomes:
                await _run_in(thread, _settle_each_possible, outcomes)
        except BaseException:
            self._outcomes = outcomes + self._outcomes
            raise
        self._claim_wanted.set()


async def _run_in(thread: ThreadPoolExecutor, call: Callable[..., T], *arguments: object) -> T:
    return await asyncio.get_running_loop().run_in_executor(thread, call, *arguments)


def _claim_requests(limit: int) -> list[tuple[ClaimedItem, Request | Result]]:
    """Claim up to `limit` items. Each comes with its request, or with the result of one that cannot be sent."""
    at = timezone.now()
    items = queue.claim(lease=uuid4(), at=at, limit=limit)
    if not items:
        return []
    builder = RequestBuilder(items, at=at)
    return [(item, _request_or_reason(builder, item)) for item in items]


def _request_or_reason(builder: RequestBuilder, item: ClaimedItem) -> Request | Result:
    try:
        return builder.build(item)
    except NotSendable as error:
        _log.warning("event %s cannot be sent: %s", item.event_id, error)
        return Result(error=str(error), was_sent=False)


def _settle_each_possible(outcomes: list[tuple[ClaimedItem, Result]]) -> None:
    """Settle all outcomes together; if the database refuses one of them, each on its own, without that one.

    Raises OperationalError or InterfaceError when the database is away.
    """
    try:
        settle(outcomes, at=timezone.now())
    except (OperationalError, InterfaceError):
        raise
    except Error:
        if len(outcomes) == 1:
            _log.exception("The outcome of event %s cannot be written", outcomes[0][0].event_id)
            return
        for outcome in outcomes:
            _settle_each_possible([outcome])
