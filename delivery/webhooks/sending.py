"""HTTP. Many requests at once in one loop, each with a hard deadline, none to a place that is not public."""

import asyncio
import logging
import ssl
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import partial
from uuid import UUID

import aiohttp

from delivery.webhooks.address_guard import AddressRefused, guarded_socket

_log = logging.getLogger(__name__)

_CONNECT_SECONDS = 3
_TOTAL_SECONDS = 15
_READ_BYTES = 64 * 1024
_KEPT_BYTES = 4 * 1024


@dataclass(frozen=True)
class Outgoing:
    """One request to make. Without an Authorization header it is not made: it would be taken for a forgery."""

    event_id: UUID
    url: str
    headers: Mapping[str, str]
    body: str


@dataclass(frozen=True)
class Result:
    """What came of it. `error` is a short class such as `timeout`; the response's beginning is kept for people."""

    event_id: UUID
    status_code: int | None = None
    error: str = ""
    response_start: str = ""
    retry_after: str = ""
    milliseconds: int = 0
    at: datetime = field(default_factory=lambda: datetime.now(UTC))

    @property
    def succeeded(self) -> bool:
        return self.status_code is not None and 200 <= self.status_code < 300  # noqa: PLR2004  # the class 2xx


def send_all(requests: Sequence[Outgoing], *, allow_loopback: bool) -> list[Result]:
    """Send every request concurrently and return one result for each, within 15 s."""
    loop = asyncio.new_event_loop()
    try:
        return loop.run_until_complete(_send_all(requests, allow_loopback=allow_loopback))
    finally:
        # Unlike `asyncio.run`, this does not wait for the thread of a name look-up that hangs.
        loop.close()


async def _send_all(requests: Sequence[Outgoing], *, allow_loopback: bool) -> list[Result]:
    connector = aiohttp.TCPConnector(limit=0, socket_factory=partial(guarded_socket, allow_loopback=allow_loopback))
    async with aiohttp.ClientSession(
        connector=connector,
        cookie_jar=aiohttp.DummyCookieJar(),
        auto_decompress=False,  # a small compressed answer must not unpack into a large one
        timeout=aiohttp.ClientTimeout(total=_TOTAL_SECONDS, sock_connect=_CONNECT_SECONDS),
        trust_env=False,  # .netrc would replace the Bearer token, and a proxy would read it
    ) as session:
        return await asyncio.gather(*(_send(session, request) for request in requests))


async def _send(session: aiohttp.ClientSession, request: Outgoing) -> Result:
    at, started = datetime.now(UTC), time.monotonic()
    result = await _outcome(session, request)
    return replace(result, at=at, milliseconds=int((time.monotonic() - started) * 1000))


async def _outcome(session: aiohttp.ClientSession, request: Outgoing) -> Result:
    if "Authorization" not in request.headers:
        return Result(request.event_id, error="no_valid_token")
    try:
        async with session.post(
            request.url, data=request.body.encode(), headers=request.headers, allow_redirects=False
        ) as response:
            return Result(
                request.event_id,
                status_code=response.status,
                response_start=await _read_start(response),
                retry_after=response.headers.get("Retry-After", ""),
            )
    except (aiohttp.ClientError, OSError, TimeoutError, ValueError) as error:
        return Result(request.event_id, error=_error_class(error))
    except Exception:  # noqa: BLE001  # what nobody foresaw of one endpoint must not undo the results of the others
        _log.exception("sending event %s", request.event_id)
        return Result(request.event_id, error="internal")


async def _read_start(response: aiohttp.ClientResponse) -> str:
    """The answer's first 4 KiB, after reading 64 KiB at most; the connection of a longer one is dropped."""
    received = bytearray()
    async for chunk in response.content.iter_any():
        received += chunk
        if len(received) >= _READ_BYTES:
            response.close()
            break
    # PostgreSQL's text holds no NUL.
    return bytes(received[:_KEPT_BYTES]).decode(errors="replace").replace("\0", "\ufffd")


_ERROR_CLASSES: tuple[tuple[type[BaseException], str], ...] = (
    (TimeoutError, "timeout"),
    (aiohttp.ClientConnectorDNSError, "dns"),
    (aiohttp.ClientSSLError, "tls"),
    (ssl.SSLError, "tls"),
    (aiohttp.ClientConnectorError, "connect"),
    (aiohttp.InvalidURL, "invalid_url"),
)


def _error_class(error: Exception) -> str:
    """A short, stable class of what went wrong, for people and filters."""
    if any(isinstance(cause, AddressRefused) for cause in (error, getattr(error, "os_error", None), error.__cause__)):
        return "address_refused"
    return next((name for kind, name in _ERROR_CLASSES if isinstance(error, kind)), "protocol")
