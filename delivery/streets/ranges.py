"""Reads ranges of a file on the web, with the client and the check of addresses of the webhooks."""

import asyncio
import logging
import re
from collections.abc import Sequence
from http import HTTPStatus
from types import TracebackType
from typing import Self
from urllib.parse import urljoin

import aiohttp
from yarl import URL

from common.webhooks import http_client
from common.webhooks.address_guard import AddressRefused, InvalidWebhookUrl, called_url, check_url
from delivery.streets.errors import (
    NoRanges,
    SourceAway,
    SourceChanged,
    SourceMissing,
    SourceRefused,
)

_log = logging.getLogger(__name__)
# Of one answer. The largest range has 2 MiB, which takes a connection of 0.3 Mbit/s as long.
_SECONDS = 60.0
# Before the second and the third try of a range.
_PAUSES = (1.0, 5.0)
_MOST_REDIRECTS = 3
_REDIRECTS = (301, 302, 303, 307, 308)
_MISSING = (HTTPStatus.FORBIDDEN, HTTPStatus.NOT_FOUND, HTTPStatus.GONE)  # buckets answer 403 for what is not there
_CONTENT_RANGE = re.compile(r"bytes ([0-9]{1,15})-([0-9]{1,15})/([0-9]{1,15})")
_HEADERS = {"User-Agent": "Rota", "Accept-Encoding": "identity"}
_FAILURES = (aiohttp.ClientError, OSError, TimeoutError, ValueError)

Range = tuple[int, int]  # the first byte, and how many


class RemoteFile:
    """A file on the web, of which ranges are read. All of its answers are of one version of the file.

    The first answer says which: its ETag, or Last-Modified, and the file's length. To be used in a `with`.
    """

    def __init__(
        self, url: str, *, allow_loopback: bool, seconds: float = _SECONDS, pauses: Sequence[float] = _PAUSES
    ) -> None:
        self.url, self.size, self.version = url, 0, ""
        self._allow_loopback, self._seconds, self._pauses = allow_loopback, seconds, pauses
        self._runner = asyncio.Runner(loop_factory=http_client.new_event_loop)

    def __enter__(self) -> Self:
        self._session = self._runner.run(self._open())
        return self

    def __exit__(
        self, _kind: type[BaseException] | None, _error: BaseException | None, _trace: TracebackType | None
    ) -> None:
        self._runner.run(self._session.close())
        self._runner.close()

    async def _open(self) -> aiohttp.ClientSession:
        return http_client.open_session(allow_loopback=self._allow_loopback, seconds=self._seconds)

    def begin(self, most: int) -> bytes:
        """The first bytes of the file, at most so many. Follows redirects: what is read later is at their end.

        Raises MapNotCopied.
        """
        for _redirect in range(_MOST_REDIRECTS + 1):
            try:
                return self._runner.run(self._patiently(0, most))
            except _Moved as moved:
                self.url = moved.url
        raise SourceRefused

    def read(self, ranges: Sequence[Range]) -> list[bytes]:
        """These ranges, asked for at the same time. Raises MapNotCopied."""
        return self._runner.run(self._all(ranges))

    async def _all(self, ranges: Sequence[Range]) -> list[bytes]:
        return await asyncio.gather(*(self._patiently(first, length) for first, length in ranges))

    async def _patiently(self, first: int, length: int) -> bytes:
        for pause in self._pauses:
            try:
                return await self._ask(first, length)
            except SourceAway as error:
                _log.info("Asking %s again in %s s: %s", self.url, pause, error.__cause__)
                await asyncio.sleep(pause)
        return await self._ask(first, length)

    async def _ask(self, first: int, length: int) -> bytes:
        """One range. Raises SourceAway for what another try may change, other kinds of MapNotCopied, or _Moved."""
        url = _checked(self.url, allow_loopback=self._allow_loopback)
        headers = {**_HEADERS, "Range": f"bytes={first}-{first + length - 1}"}
        try:
            async with self._session.get(url, headers=headers, allow_redirects=False) as response:
                expected = self._expected(response, first, length)
                content = await response.content.readexactly(expected)
        except _FAILURES as error:
            if any(isinstance(cause, AddressRefused) for cause in (error, getattr(error, "os_error", None))):
                raise SourceRefused from error
            raise SourceAway from error
        return content

    def _expected(self, response: aiohttp.ClientResponse, first: int, length: int) -> int:
        """How many bytes the answer has by its head."""
        status = response.status
        if status in _REDIRECTS and not self.size:
            raise _Moved(urljoin(self.url, response.headers.get("Location", "")))
        if status in _MISSING:
            raise SourceMissing
        if status == HTTPStatus.OK:
            raise NoRanges
        if status in {HTTPStatus.PRECONDITION_FAILED, HTTPStatus.REQUESTED_RANGE_NOT_SATISFIABLE} and self.size:
            raise SourceChanged
        if status != HTTPStatus.PARTIAL_CONTENT:
            raise SourceAway(f"The server of the map answered with the status {status}.")
        said = _CONTENT_RANGE.fullmatch(response.headers.get("Content-Range", ""))
        if said is None or response.headers.get("Content-Encoding", "identity") != "identity":
            raise NoRanges
        start, end, size = (int(number) for number in said.groups())
        version = response.headers.get("ETag") or response.headers.get("Last-Modified") or ""
        if not self.size:
            self.size, self.version = size, version
        if (size, version) != (self.size, self.version):
            raise SourceChanged
        if (start, end) != (first, min(first + length, size) - 1):
            raise NoRanges
        return end - start + 1


class _Moved(Exception):
    def __init__(self, url: str) -> None:
        super().__init__(url)
        self.url = url


def _checked(url: str, *, allow_loopback: bool) -> URL:
    """The URL as it is called. Raises SourceRefused for what must not be."""
    try:
        check_url(url, allow_loopback=allow_loopback)
    except InvalidWebhookUrl as error:
        raise SourceRefused(error.message, **error.values) from error
    return called_url(url)
