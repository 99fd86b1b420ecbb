"""Claims items that are due, sends their events and settles the outcomes.

No transaction is open while a request or anything else is waited for.
"""

import asyncio
import logging
import threading
import time
from collections.abc import Awaitable, Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timedelta
from functools import partial
from typing import ClassVar, TypeVar
from uuid import uuid4
from weakref import WeakSet

from cryptography.fernet import InvalidToken
from django.conf import settings
from django.db import Error, InterfaceError, OperationalError, connections

from common import clock
from common.connections import raise_file_limit
from common.observability import tracing
from common.webhooks import claims, http_client, signing
from common.webhooks.http_client import Request, Result, StoredHead
from common.webhooks.models import Endpoint
from common.webhooks.outbox import Authorize, ClaimedItem, LeaseKey, NotSendable, Outbox
from common.webhooks.settlement import settle

T = TypeVar("T")
Outcome = tuple[ClaimedItem, Result]
_log = logging.getLogger(__name__)
# A waiting request needs little memory, and with four for each endpoint many endpoints may hang at the same time.
_IN_FLIGHT = 1024
# A lease is renewed when it was set so long ago; leases are examined once an interval.
_RENEW_AFTER_SECONDS = 5
_RENEWAL_INTERVAL_SECONDS = 1
# A request is not begun when the lease was set longer ago, as after a stall of the machine: it could end before it is
# renewed, and another worker would send the event too. The sum of this, the interval and the timeout for locks is less
# than the lease.
_FRESH_SECONDS = 10
# Outcomes are written together: as soon as there are so many, or so long after the first of them. With fewer requests
# in flight than that each is written at once, because little would be gathered.
_BATCH = 64
_GATHER_SECONDS = 0.01
# Until outcomes are settled again whose items were locked by other transactions, most of which are short.
_BLOCKED_SECONDS = 0.1
# After a fault of the database. Outcomes and leases are written first, so that no other worker claims their items.
_SETTLE_AGAIN_SECONDS = 0.5
_CLAIM_AGAIN_SECONDS = 2
# What is due is claimed so often without a wake-up: retries, and what a wake-up told of that was lost.
_CLAIM_AT_LEAST_EVERY_SECONDS = 2
# For `BackgroundSender.stop`: a request takes 15 s at most, and whatever stops a worker waits 20 s before it kills it.
STOP_SECONDS = 18


class _Step:
    """Part of the sender's work. Runs in a thread with its own database connection each time it is wanted."""

    def __init__(self, run: Callable[[ThreadPoolExecutor], Awaitable[None]], *, again_seconds: float) -> None:
        self.run, self.again_seconds = run, again_seconds
        self.wanted = asyncio.Event()
        self.thread = ThreadPoolExecutor(1)

    async def run_again_after_fault(self) -> None:
        self.wanted.set()
        try:
            await self.close_connection()
        except Error as error:
            _log.warning("A broken connection could not be closed: %s", error)
        await asyncio.sleep(self.again_seconds)

    async def close_connection(self) -> None:
        await _run_in(self.thread, connections.close_all)


class Sender:
    """Sends what is due, in one event loop, until it is stopped. No request waits for another one.

    Three steps run concurrently: claiming, wanted after `wake`, every settlement and every two seconds; settling,
    wanted when requests have ended; and renewing the leases of what is in flight, once a second.
    """

    def __init__(self, outbox: Outbox) -> None:
        self._outbox = outbox
        self.idle = asyncio.Event()
        self._stopping = asyncio.Event()
        self._claiming = _Step(self._claim, again_seconds=_CLAIM_AGAIN_SECONDS)
        self._settling = _Step(self._settle, again_seconds=_SETTLE_AGAIN_SECONDS)
        self._renewing = _Step(self._renew, again_seconds=_SETTLE_AGAIN_SECONDS)
        self._running_steps = 0
        # Everything in flight, from the claim until the outcome is written, with a monotonic time just before its
        # lease was set.
        self._leased_at: dict[LeaseKey, float] = {}
        self._requests: set[asyncio.Task[None]] = set()
        self._outcomes: list[Outcome] = []

    def wake(self) -> None:
        self.idle.clear()
        self._claiming.wanted.set()

    def stop(self) -> None:
        """Claim nothing more. `run` returns when the requests in flight have ended, within 15 s, and are settled."""
        self._stopping.set()
        self.wake()

    async def run(self) -> None:
        """Send until `stop` is called and everything in flight is settled."""
        steps = [self._claiming, self._settling, self._renewing]
        async with http_client.open_session(allow_loopback=settings.WEBHOOK_ALLOW_LOOPBACK) as session:
            self._session = session
            tasks = [asyncio.create_task(self._repeat(step)) for step in steps]
            waking = asyncio.create_task(self._wake_repeatedly())
            self._renewing.wanted.set()
            await self._stopping.wait()
            waking.cancel()
            await self.idle.wait()
        for step, task in zip(steps, tasks, strict=True):
            task.cancel()
            await step.close_connection()
            step.thread.shutdown()

    async def _wake_repeatedly(self) -> None:
        while True:
            await asyncio.sleep(_CLAIM_AT_LEAST_EVERY_SECONDS)
            self.wake()

    async def _repeat(self, step: _Step) -> None:
        while True:
            await step.wanted.wait()
            step.wanted.clear()
            self._running_steps += 1
            try:
                await step.run(step.thread)
            except (OperationalError, InterfaceError) as error:
                _log.warning("The database is away or a lock was not released; trying again soon: %s", error)
                await step.run_again_after_fault()
            except Exception:  # noqa: BLE001  # the next run may succeed, and an exception here would end all sending
                _log.exception("A step of the webhook sender failed")
                await step.run_again_after_fault()
            self._running_steps -= 1
            if not (self._running_steps or self._leased_at or self._claiming.wanted.is_set()):
                self.idle.set()

    async def _claim(self, thread: ThreadPoolExecutor) -> None:
        limit = _IN_FLIGHT - len(self._leased_at)
        if limit > 0 and not self._stopping.is_set():
            claimed_at = time.monotonic()
            for item, request in await _run_in(thread, _claim_requests, self._outbox, limit):
                self._leased_at[item.key] = claimed_at
                task = asyncio.create_task(self._send(item, request))
                self._requests.add(task)
                task.add_done_callback(self._ended)

    async def _send(self, item: ClaimedItem, request: Request | Result) -> None:
        if time.monotonic() - self._leased_at[item.key] > _FRESH_SECONDS:
            _log.warning("event %s was claimed too long ago and is left to the end of its lease", item.event_id)
            del self._leased_at[item.key]
        else:
            result = request if isinstance(request, Result) else await http_client.send(self._session, request)
            self._outcomes.append((item, result))
            if tracing.is_on():
                _trace(item, result)

    def _ended(self, task: "asyncio.Task[None]") -> None:
        self._requests.discard(task)
        if len(self._outcomes) >= _BATCH or len(self._requests) < _BATCH:
            self._settling.wanted.set()
        elif len(self._outcomes) == 1:
            asyncio.get_running_loop().call_later(_GATHER_SECONDS, self._settling.wanted.set)

    async def _settle(self, thread: ThreadPoolExecutor) -> None:
        outcomes, self._outcomes = self._outcomes, []
        blocked = outcomes  # kept when this raises
        try:
            blocked = await _run_in(thread, _settle_each_possible, self._outbox, outcomes) if outcomes else []
        finally:
            self._outcomes = blocked + self._outcomes
        for key in {item.key for item, _result in outcomes} - {item.key for item, _result in blocked}:
            del self._leased_at[key]
        if blocked:
            asyncio.get_running_loop().call_later(_BLOCKED_SECONDS, self._settling.wanted.set)
        self._claiming.wanted.set()

    async def _renew(self, thread: ThreadPoolExecutor) -> None:
        now = time.monotonic()
        keys = [key for key, leased_at in self._leased_at.items() if now - leased_at >= _RENEW_AFTER_SECONDS]
        # The moment is earlier than the statement, so the leases end a little early, never late.
        renew = partial(claims.renew, self._outbox, keys, at=clock.now())
        renewed = await _run_in(thread, renew) if keys else []
        for key in renewed:
            if key in self._leased_at:  # else its outcome was written meanwhile
                self._leased_at[key] = now
        asyncio.get_running_loop().call_later(_RENEWAL_INTERVAL_SECONDS, self._renewing.wanted.set)


async def _run_in(thread: ThreadPoolExecutor, call: Callable[..., T], *arguments: object) -> T:
    return await asyncio.get_running_loop().run_in_executor(thread, call, *arguments)


def _trace(item: ClaimedItem, result: Result) -> None:
    """Record the attempt in the trace of the request that made the event's change."""
    outcome: dict[str, str | int] = {"error.type": result.error}
    if result.status_code is not None:
        outcome = {"http.response.status_code": result.status_code}
    tracing.record(
        "webhook attempt",
        parent=item.trace_context,
        started_at=result.at,
        ended_at=result.at + timedelta(milliseconds=result.milliseconds),
        failed=not result.succeeded,
        attributes={"rota.event": str(item.event_id), "rota.sequence": item.sequence, **outcome},
    )


def _claim_requests(outbox: Outbox, limit: int) -> list[tuple[ClaimedItem, Request | Result]]:
    """Claim up to `limit` items. Each comes with its request, or with the result of one that cannot be sent."""
    clock.compare_if_due()
    at = clock.now()
    items = claims.claim(outbox, lease=uuid4(), at=at, limit=limit)
    return build_requests(outbox, items, at=at) if items else []


def build_requests(
    outbox: Outbox, items: Sequence[ClaimedItem], *, at: datetime
) -> list[tuple[ClaimedItem, Request | Result]]:
    """The requests of items that were claimed together, and results for those that cannot be sent.

    Endpoints and what authorizes their events are read now, so that what was revoked or replaced is not used by a later
    claim.
    """
    endpoints = {endpoint.pk: endpoint for endpoint in outbox.endpoints_by_id({item.endpoint_id for item in items})}
    authorize = outbox.authorizations(items, endpoints, at)
    return [(item, _request_or_reason(outbox, item, endpoints[item.endpoint_id], authorize, at=at)) for item in items]


def _request_or_reason(
    outbox: Outbox, item: ClaimedItem, endpoint: Endpoint, authorize: Authorize, *, at: datetime
) -> Request | Result:
    try:
        authorization, secrets = authorize(item), endpoint.secrets(at=at)
    except (NotSendable, InvalidToken) as error:  # InvalidToken: no key of CREDENTIALS_KEYS decrypts it
        reason = str(error) if isinstance(error, NotSendable) else "secrets_unreadable"
        _log.warning("event %s cannot be sent: %s", item.event_id, reason)
        return Result(error=reason, was_sent=False)
    body, webhook_id, timestamp = item.body.encode(), str(item.webhook_id), int(at.timestamp())
    signature = signing.sign(webhook_id=webhook_id, timestamp=timestamp, body=body, secrets=secrets)
    headers = signing.headers(
        authorization=authorization.headers,
        webhook_id=webhook_id,
        timestamp=timestamp,
        signature=signature,
        sequence=item.sequence,
        is_test=item.is_test,
        about=outbox.headers_about(item.subject_id),
    )
    stored = StoredHead(endpoint.url, authorization.hint, timestamp, signature)
    return Request(endpoint.url, headers, body, stored, secrets=[*authorization.secrets, *signing.parts(signature)])


def _settle_each_possible(outbox: Outbox, outcomes: list[Outcome]) -> list[Outcome]:
    """Settle all outcomes together; if the database refuses one of them, each on its own, without that one.

    Returns those that are to be settled again. Raises OperationalError or InterfaceError when the database is away or a
    lock was not released in time.
    """
    try:
        return settle(outbox, outcomes, at=clock.now())
    except (OperationalError, InterfaceError):
        raise
    except Error:
        if len(outcomes) == 1:
            _log.exception("The outcome of event %s cannot be written", outcomes[0][0].event_id)
            return []
        return [blocked for outcome in outcomes for blocked in _settle_each_possible(outbox, [outcome])]


class BackgroundSender:
    """The sender of a worker process: one thread with its own event loop, started by the first wake-up.

    It outlives the task that started it, and so do its connections: a task that sends until nothing is due would have
    to open them again, and would occupy a process of Celery's pool for as long as the slowest endpoint takes. It is no
    BackgroundWork, whose work learns of a wake-up when it has ended: what falls due while a request waits for its
    answer, up to 15 s, is to be sent at once.
    """

    _all: ClassVar[WeakSet["BackgroundSender"]] = WeakSet()

    def __init__(self, outbox: Outbox) -> None:
        self._all.add(self)
        self._outbox = outbox
        self._thread: _SenderThread | None = None
        self._starting = threading.Lock()

    def wake(self) -> None:
        """Send what is due, in the background. Returns at once."""
        with self._starting:
            if self._thread is None or not self._thread.is_alive():
                self._thread = _SenderThread(self._outbox)
                self._thread.start()
        self._thread.wake()

    def stop(self, *, seconds: float) -> None:
        """Wait until what is in flight is settled, for at most `seconds`. The senders of other areas begin to stop."""
        for sender in self._all:
            if sender._thread is not None:  # noqa: SLF001  # of the same class
                sender._thread.begin_to_stop()  # noqa: SLF001
        if self._thread is not None:
            self._thread.stop(seconds=seconds)


class _SenderThread(threading.Thread):
    def __init__(self, outbox: Outbox) -> None:
        super().__init__(name="webhook-sender", daemon=True)
        raise_file_limit()
        self._loop = http_client.new_event_loop()
        self._sender = Sender(outbox)

    def run(self) -> None:
        self._loop.run_until_complete(self._sender.run())

    def wake(self) -> None:
        self._loop.call_soon_threadsafe(self._sender.wake)

    def stop(self, *, seconds: float) -> None:
        self.begin_to_stop()
        self.join(seconds)

    def begin_to_stop(self) -> None:
        self._loop.call_soon_threadsafe(self._sender.stop)
