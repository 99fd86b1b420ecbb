"""HTTP. Many requests at once in one loop, each with a hard deadline, none to a place that is not public."""

import logging
import ssl
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
from typing import Any

import aiohttp

from delivery.webhooks.address_guard import AddressRefused, guarded_socket

_log = logging.getLogger(__name__)

_CONNECT_SECONDS = 3
_TOTAL_SECONDS = 15
_READ_BYTES = 64 * 1024
_KEPT_BYTES = 4 * 1024


@dataclass(frozen=True)
class Outgoing:
    """One request to make."""

    url: str
    headers: Mapping[str, str]
    body: bytes


@dataclass(frozen=True)
class Result:
    """What came of it. `error` is a short class such as `timeout`; the response's beginning is kept for people.

    `at` is when the request began.
    """

    status_code: int | None = None
    error: str = ""
    response_start: str = ""
    retry_after: str = ""
    milliseconds: int = 0
    at: datetime = field(default_factory=lambda: datetime.now(UTC))

    @property
    def succeeded(self) -> bool:
        return self.status_code is not None and 200 <= self.status_code < 300  # noqa: PLR2004  # the class 2xx


def open_session(*, allow_loopback: bool) -> aiohttp.ClientSession:
    """A session to send with; it keeps connections open between requests. To be used in an event loop."""
    return aiohttp.ClientSession(
        connector=aiohttp.TCPConnector(limit=0, socket_factory=partial(guarded_socket, allow_loopback=allow_loopback)),
        cookie_jar=aiohttp.DummyCookieJar(),
        auto_decompress=False,  # a small compressed answer must not unpack into a large one
        timeout=aiohttp.ClientTimeout(total=_TOTAL_SECONDS, sock_connect=_CONNECT_SECONDS),
        trust_env=False,  # .netrc would replace the Bearer token, and a proxy would read it
    )


async def send(session: aiohttp.ClientSession, request: Outgoing) -> Result:
    """Send a request and say what came of it, within 15 s. Raises nothing but cancellation."""
    at, started = datetime.now(UTC), time.monotonic()
    answer = await _answer(session, request)
    return Result(at=at, milliseconds=int((time.monotonic() - started) * 1000), **answer)


async def _answer(session: aiohttp.ClientSession, request: Outgoing) -> dict[str, Any]:
    """The fields of a Result that tell of the answer."""
    try:
        async with session.post(
            request.url, data=request.body, headers=request.headers, allow_redirects=False
        ) as response:
            return {
                "status_code": response.status,
                "response_start": await _read_start(response),
                "retry_after": response.headers.get("Retry-After", ""),
            }
    except (aiohttp.ClientError, OSError, TimeoutError, ValueError) as error:
        return {"error": _error_class(error)}
    except Exception:  # noqa: BLE001  # what nobody foresaw of one endpoint must not undo the results of the others
        _log.exception("a request failed in a new way")
        return {"error": "internal"}


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
