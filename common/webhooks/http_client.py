"""The HTTP client: concurrent requests in one event loop, each with a deadline, only to public addresses."""

import errno
import logging
import socket
import ssl
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial
from typing import Any, NamedTuple

import aiohttp
import uvloop

from common import clock
from common.webhooks.address_guard import AddressRefused, guarded_socket

_log = logging.getLogger(__name__)

_CONNECT_SECONDS = 3
TOTAL_SECONDS = 15
# Many servers close an idle connection after five seconds. Closing it earlier avoids a request on a closed connection.
_KEEP_ALIVE_SECONDS = 4
_MAX_READ_BYTES = 64 * 1024
_STORED_BYTES = 4 * 1024
# A name look-up that hangs occupies a thread until the resolver gives up; other look-ups need threads meanwhile.
_LOOK_UP_THREADS = 64


class StoredHead(NamedTuple):
    """What is stored of a request's URL and headers: that which differs between the attempts at an event."""

    url: str = ""
    token_hint: str = ""
    webhook_timestamp: int | None = None
    signature: str = ""


class Request(NamedTuple):
    url: str
    headers: Mapping[str, str]
    body: bytes
    stored: StoredHead = StoredHead()
    secrets: Sequence[str] = ()  # in its headers, not to be stored with the response


@dataclass(frozen=True)
class Result:
    """The outcome of a request.

    Either `status_code` or `error` is set; `error` is a short class such as `timeout`. `response_start` is the start of
    the response's body, `retry_after` the header as received, and `at` when the request began. `was_sent` is False
    when no request was made for a reason on our side, such as a missing token; that is no failure of the endpoint.
    """

    status_code: int | None = None
    error: str = ""
    response_start: str = ""
    retry_after: str = ""
    milliseconds: int = 0
    was_sent: bool = True
    at: datetime = field(default_factory=clock.now)
    request: StoredHead = field(default_factory=StoredHead)

    @property
    def succeeded(self) -> bool:
        return self.status_code is not None and 200 <= self.status_code < 300  # noqa: PLR2004  # the class 2xx


class _Loop(uvloop.Loop):
    """uvloop's event loop, except that names are looked up as asyncio does it: in the threads of the default executor.

    uvloop's own look-ups have four threads for the whole process, so four names that hang would stop all others.
    """

    async def getaddrinfo(self, host: Any, port: Any, **options: int) -> Any:
        return await self.run_in_executor(None, partial(socket.getaddrinfo, host, port, **options))

    async def shutdown_default_executor(self, timeout: float | None = None) -> None:  # noqa: ASYNC109  # asyncio's name
        """Wait for no look-up: one that hangs has outlived its request. `close` lets the threads end by themselves."""


def new_event_loop() -> uvloop.Loop:
    """An event loop that looks up as many names at the same time as `_LOOK_UP_THREADS` says."""
    loop = _Loop()
    loop.set_default_executor(ThreadPoolExecutor(_LOOK_UP_THREADS, thread_name_prefix="look-up"))
    return loop


def open_session(*, allow_loopback: bool, seconds: float | None = None) -> aiohttp.ClientSession:
    """A session that keeps connections open between requests. To be called within the event loop that uses it.

    A request has `seconds`, 15 unless given.
    """
    total = TOTAL_SECONDS if seconds is None else seconds
    return aiohttp.ClientSession(
        connector=aiohttp.TCPConnector(
            limit=0,
            keepalive_timeout=_KEEP_ALIVE_SECONDS,
            socket_factory=partial(guarded_socket, allow_loopback=allow_loopback),
        ),
        cookie_jar=aiohttp.DummyCookieJar(),
        auto_decompress=False,  # a small compressed response could expand to gigabytes
        # By default aiohttp rounds deadlines of more than five seconds up to whole seconds.
        timeout=aiohttp.ClientTimeout(total=total, sock_connect=_CONNECT_SECONDS, ceil_threshold=total + 1),
        trust_env=False,  # .netrc would replace the Bearer token, and a proxy could read it
    )


async def send(session: aiohttp.ClientSession, request: Request) -> Result:
    """Send a request and return its outcome, within the session's deadline.

    Every error becomes a Result; only cancellation is raised.
    """
    at, started = clock.now(), time.monotonic()
    outcome: dict[str, Any]
    try:
        async with session.post(
            request.url, data=request.body, headers=request.headers, allow_redirects=False
        ) as response:
            outcome = {
                "status_code": response.status,
                "response_start": await _read_start(response, request),
                "retry_after": response.headers.get("Retry-After", ""),
            }
    except (aiohttp.ClientError, OSError, TimeoutError, ValueError) as error:
        if getattr(error, "errno", None) in _LOCAL_SHORTAGES:
            _log.error("This machine lacks a resource that a request needs: %s", error)
            outcome = {"error": "local_shortage", "was_sent": False}
        else:
            outcome = {"error": _error_class(error)}
    except Exception:  # noqa: BLE001  # an unforeseen error of one request must not affect the others
        _log.exception("A request failed with an unexpected error")
        outcome = {"error": "internal"}
    milliseconds = int((time.monotonic() - started) * 1000)
    return Result(at=at, milliseconds=milliseconds, request=request.stored, **outcome)


async def _read_start(response: aiohttp.ClientResponse, request: Request) -> str:
    """The first 4 KiB of the body as text, with the secrets of the request replaced.

    Reads at most 64 KiB and closes the connection of a longer response, which could not be reused. The secrets are
    replaced because an endpoint may repeat its request in the response, which is stored and shown.
    """
    if response.content.at_eof():
        return ""  # most endpoints answer without a body
    received = bytearray()
    async for chunk in response.content.iter_any():
        received += chunk
        if len(received) >= _MAX_READ_BYTES:
            response.close()
            break
    for secret in request.secrets:
        received = received.replace(secret.encode(), b"[secret]")
    # PostgreSQL's type text cannot store NUL.
    return bytes(received[:_STORED_BYTES]).decode(errors="replace").replace("\0", "\ufffd")


_LOCAL_SHORTAGES = {errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM}
_ERROR_CLASSES: tuple[tuple[type[BaseException], str], ...] = (
    (TimeoutError, "timeout"),
    (aiohttp.ClientConnectorDNSError, "dns"),
    (aiohttp.ClientSSLError, "tls"),
    (ssl.SSLError, "tls"),
    (aiohttp.ClientConnectorError, "connect"),
    (aiohttp.InvalidURL, "invalid_url"),
)


def _error_class(error: Exception) -> str:
    """A short, stable name for the kind of error, shown to people."""
    if any(isinstance(cause, AddressRefused) for cause in (error, getattr(error, "os_error", None), error.__cause__)):
        return "address_refused"
    return next((name for kind, name in _ERROR_CLASSES if isinstance(error, kind)), "protocol")
