"""HTTP. Many requests at once in one loop, each with a hard deadline, none to a place that is not public."""

import errno
import logging
import ssl
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
from typing import Any

import aiohttp

from delivery.webhooks.address_guard import AddressRefused, guarded_socket

_log = logging.getLogger(__name__)

_CONNECT_SECONDS = 3
_TOTAL_SECONDS = 15
# Many servers close an idle connection after five seconds, some just as the next request comes.
_KEPT_ALIVE_SECONDS = 4
_READ_BYTES = 64 * 1024
_KEPT_BYTES = 4 * 1024


@dataclass(frozen=True)
class Outgoing:
    """One request to make."""

    url: str
    headers: Mapping[str, str]
    body: bytes

    @property
    def secrets(self) -> list[bytes]:
        """What of the headers nobody but the endpoint may read."""
        token = self.headers.get("Authorization", "").partition(" ")[2]
        signatures = [part.partition(",")[2] for part in self.headers.get("webhook-signature", "").split()]
        return [secret.encode() for secret in (token, *signatures) if secret]


@dataclass(frozen=True)
class Result:
    """What came of it. `error` is a short class such as `timeout`; the response's beginning is kept for people.

    `at` is when the request began. Without a request, for want of a token or of something of this machine's own,
    `was_sent` is False: that is no failure of the endpoint's.
    """

    status_code: int | None = None
    error: str = ""
    response_start: str = ""
    retry_after: str = ""
    milliseconds: int = 0
    was_sent: bool = True
    at: datetime = field(default_factory=lambda: datetime.now(UTC))

    @property
    def succeeded(self) -> bool:
        return self.status_code is not None and 200 <= self.status_code < 300  # noqa: PLR2004  # the class 2xx


def open_session(*, allow_loopback: bool) -> aiohttp.ClientSession:
    """A session to send with; it keeps connections open between requests. To be used in an event loop."""
    return aiohttp.ClientSession(
        connector=aiohttp.TCPConnector(
            limit=0,
            keepalive_timeout=_KEPT_ALIVE_SECONDS,
            socket_factory=partial(guarded_socket, allow_loopback=allow_loopback),
        ),
        cookie_jar=aiohttp.DummyCookieJar(),
        auto_decompress=False,  # a small compressed answer must not unpack into a large one
        # aiohttp would round a deadline of more than five seconds up to the next whole one.
        timeout=aiohttp.ClientTimeout(
            total=_TOTAL_SECONDS, sock_connect=_CONNECT_SECONDS, ceil_threshold=_TOTAL_SECONDS + 1
        ),
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
                "response_start": await _read_start(response, secrets=request.secrets),
                "retry_after": response.headers.get("Retry-After", ""),
            }
    except (aiohttp.ClientError, OSError, TimeoutError, ValueError) as error:
        if getattr(error, "errno", None) in _OWN_SHORTAGES:
            _log.error("This machine is short of something that a request needs: %s", error)
            return {"error": "own_shortage", "was_sent": False}
        return {"error": _error_class(error)}
    except Exception:  # noqa: BLE001  # what nobody foresaw of one endpoint must not undo the results of the others
        _log.exception("a request failed in a new way")
        return {"error": "internal"}


async def _read_start(response: aiohttp.ClientResponse, *, secrets: Sequence[bytes]) -> str:
    """The answer's first 4 KiB, after reading 64 KiB at most; the connection of a longer one is dropped.

    An endpoint that repeats what it was sent does not get the token and the signature into the log.
    """
    received = bytearray()
    async for chunk in response.content.iter_any():
        received += chunk
        if len(received) >= _READ_BYTES:
            response.close()
            break
    for secret in secrets:
        received = received.replace(secret, b"[secret]")
    # PostgreSQL's text holds no NUL.
    return bytes(received[:_KEPT_BYTES]).decode(errors="replace").replace("\0", "\ufffd")


_OWN_SHORTAGES = {errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM}
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
