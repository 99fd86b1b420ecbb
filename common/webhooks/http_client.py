"""The HTTP client: concurrent requests in one event loop, each with a deadline, only to public addresses."""

import errno
import logging
import re
import socket
import ssl
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import aiohttp
import uvloop
from aiohttp.client_proto import ResponseHandler

from common import clock
from common.webhooks.address_guard import AddressRefused, MalformedUrl, called_url, guarded_socket

if TYPE_CHECKING:
    from aiohttp.connector import Connection

_log = logging.getLogger(__name__)

_CONNECT_SECONDS = 3
TOTAL_SECONDS = 15
# Many servers close an idle connection after five seconds. Closing it earlier avoids a request on a closed connection.
_KEEP_ALIVE_SECONDS = 4
_MAX_READ_BYTES = 64 * 1024
_STORED_BYTES = 4 * 1024
# Of the headers of an answer, which is more than most endpoints accept of a request. Those of longer ones are not read.
_MAX_HEADER_BYTES = 64 * 1024
_MAX_HEADERS = 1000
_STATUS_LINE = re.compile(rb"HTTP/\d(?:\.\d)? (\d{3})\b[^\n]*\n")
_END_OF_HEAD = re.compile(rb"\n\r?\n")
# The class of error of an answer with a status, of which the rest cannot be read.
UNREAD = "unread"
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

    `status_code` is set once the status line was received, whatever came after it. Without it `error` is set, a short
    class such as `timeout`; with it `error` is empty, or UNREAD when headers or body could not be read to their end.
    `response_start` is the start of the response's body, `retry_after` the header as received, and `at` when the
    request began. `was_sent` is False when no request was made for a reason on our side, such as a missing token; that
    is no failure of the endpoint.
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


class _StatusKnown(aiohttp.ClientError):
    """An answer with this status was received, and the rest of its head cannot be read."""

    def __init__(self, status_code: int) -> None:
        super().__init__(status_code)
        self.status_code = status_code


class _Protocol(ResponseHandler):
    """Keeps the start of the answer, because aiohttp tells nothing of an answer that it cannot read."""

    start = b""

    def set_response_params(self, **options: Any) -> None:
        self.start = b""  # a connection that is used again
        super().set_response_params(**options)

    def data_received(self, data: bytes) -> None:
        if len(self.start) < _MAX_HEADER_BYTES:
            self.start += data[:_MAX_HEADER_BYTES]
        super().data_received(data)
        if (error := self.exception()) is not None and self._payload is not None and not self._payload.is_eof():
            # Otherwise whoever reads a body with malformed chunks would wait for its end until the deadline.
            self._payload.set_exception(aiohttp.ClientPayloadError(str(error)))


class _Connector(aiohttp.TCPConnector):
    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self._factory = partial(_Protocol, loop=self._loop)  # type: ignore[assignment]  # partial is invariant


class _Response(aiohttp.ClientResponse):
    async def start(self, connection: "Connection") -> aiohttp.ClientResponse:
        """Read the head. Raises _StatusKnown where only its first line can be read."""
        protocol: Any = connection.protocol
        try:
            return await super().start(connection)
        except _UNREADABLE as error:
            if (status := status_of(protocol.start)) is not None:
                raise _StatusKnown(status) from error
            raise


def status_of(answer: bytes) -> int | None:
    """The status of an answer from its first bytes; None without a whole status line. Those of 1xx are skipped."""
    position = 0
    while (line := _STATUS_LINE.match(answer, position)) is not None:
        status = int(line[1])
        if status >= 200:  # noqa: PLR2004  # the class 1xx ends there
            return status
        end = _END_OF_HEAD.search(answer, line.end() - 1)
        if end is None:
            return None
        position = end.end()
    return None


def open_session(*, allow_loopback: bool, seconds: float | None = None) -> aiohttp.ClientSession:
    """A session that keeps connections open between requests. To be called within the event loop that uses it.

    A request has `seconds`, 15 unless given.
    """
    total = TOTAL_SECONDS if seconds is None else seconds
    return aiohttp.ClientSession(
        connector=_Connector(
            limit=0,
            keepalive_timeout=_KEEP_ALIVE_SECONDS,
            socket_factory=partial(guarded_socket, allow_loopback=allow_loopback),
        ),
        response_class=_Response,
        max_line_size=_MAX_HEADER_BYTES,
        max_field_size=_MAX_HEADER_BYTES,
        max_headers=_MAX_HEADERS,
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
            called_url(request.url), data=request.body, headers=request.headers, allow_redirects=False
        ) as response:
            response_start, error_class = await _read_start(response, request)
            outcome = {
                "status_code": response.status,
                "error": error_class,
                "response_start": response_start,
                "retry_after": response.headers.get("Retry-After", ""),
            }
    except _StatusKnown as known:
        outcome = {"status_code": known.status_code, "error": UNREAD}
    except _UNREADABLE as error:
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


async def _read_start(response: aiohttp.ClientResponse, request: Request) -> tuple[str, str]:
    """The first 4 KiB of the body as text, with the secrets of the request replaced; and UNREAD if its end is missing.

    Reads at most 64 KiB and closes the connection of a longer response, which could not be reused. The secrets are
    replaced because an endpoint may repeat its request in the response, which is stored and shown.
    """
    if response.content.at_eof():
        return "", ""  # most endpoints answer without a body
    received, error_class = bytearray(), ""
    try:
        async for chunk in response.content.iter_any():
            received += chunk
            if len(received) >= _MAX_READ_BYTES:
                response.close()
                break
    except _UNREADABLE as error:
        _log.debug("The body of an answer could not be read: %s", error)
        response.close()
        error_class = UNREAD
    for secret in request.secrets:
        received = received.replace(secret.encode(), b"[secret]")
    # PostgreSQL's type text cannot store NUL.
    text = bytes(received[:_STORED_BYTES]).decode(errors="replace").replace("\0", "\ufffd")
    return text, error_class


# What aiohttp raises of connections and answers.
_UNREADABLE = (aiohttp.ClientError, OSError, TimeoutError, ValueError)
_LOCAL_SHORTAGES = {errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM}
_ERROR_CLASSES: tuple[tuple[type[BaseException], str], ...] = (
    (TimeoutError, "timeout"),
    (aiohttp.ClientConnectorDNSError, "dns"),
    (aiohttp.ClientSSLError, "tls"),
    (ssl.SSLError, "tls"),
    (aiohttp.ClientConnectorError, "connect"),
    (aiohttp.InvalidURL, "invalid_url"),
    (MalformedUrl, "invalid_url"),
)


def _error_class(error: Exception) -> str:
    """A short, stable name for the kind of error, shown to people."""
    if any(isinstance(cause, AddressRefused) for cause in (error, getattr(error, "os_error", None), error.__cause__)):
        return "address_refused"
    return next((name for kind, name in _ERROR_CLASSES if isinstance(error, kind)), "protocol")
