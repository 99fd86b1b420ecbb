"""Where an extract is taken from: a file, or a URL that is read by ranges."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from http import HTTPStatus
from pathlib import Path
from urllib.parse import urlsplit

import requests

from common.ground.pmtiles_format import ArchiveError, Read

_TIMEOUT_SECONDS = (10, 30)  # to connect, and between two parts of an answer
_TRIES = 4
_LOOPBACK = ("127.0.0.1", "localhost", "::1")


@contextmanager
def opened(source: str) -> Iterator[Read]:
    """Read `source`, the path of a file or an https URL. Raises ArchiveError, also while it is read."""
    if "://" in source:
        with requests.Session() as session:
            yield _Remote(session, source).read
        return
    try:
        with Path(source).open("rb") as file:

            def read(offset: int, length: int) -> bytes:
                file.seek(offset)
                content = file.read(length)
                if len(content) < length:
                    raise ArchiveError("The file is shorter than its header says.")
                return content

            yield read
    except OSError as error:
        raise ArchiveError(f"{source} cannot be read: {error.strerror}") from error


class _Remote:
    """A file on a server that answers requests for ranges. All have to be of the same version of the file."""

    def __init__(self, session: requests.Session, url: str) -> None:
        self._session, self._url = session, url
        self._version: str | None = None
        _check(url)

    def read(self, offset: int, length: int) -> bytes:
        """Tries again after faults of the network and of the server. Raises ArchiveError."""
        for attempt in range(1, _TRIES + 1):
            try:
                return self._range(offset, length)
            except requests.RequestException as error:
                if attempt == _TRIES:
                    raise ArchiveError(f"{self._url} does not answer: {error}") from error
                time.sleep(2**attempt / 2)
        raise AssertionError("unreachable")

    def _range(self, offset: int, length: int) -> bytes:
        headers = {"Range": f"bytes={offset}-{offset + length - 1}", "Accept-Encoding": "identity"}
        with self._session.get(
            self._url, headers=headers, timeout=_TIMEOUT_SECONDS, stream=True, allow_redirects=False
        ) as answer:
            if answer.status_code == HTTPStatus.OK:
                raise ArchiveError(f"{self._url}: the server does not answer requests for ranges.")
            if answer.status_code >= HTTPStatus.INTERNAL_SERVER_ERROR:
                answer.raise_for_status()
            if answer.status_code != HTTPStatus.PARTIAL_CONTENT:
                raise ArchiveError(f"{self._url}: the server answered {answer.status_code}.")
            version = answer.headers.get("ETag") or answer.headers.get("Last-Modified", "")
            if self._version not in (None, version):
                raise ArchiveError("The file has changed while it was read; begin again.")
            self._version = version
            content = bytearray()
            for part in answer.iter_content(64 * 1024):
                content += part
                if len(content) > length:
                    break
        if len(content) != length:
            raise ArchiveError(f"{self._url}: the server sent {len(content)} bytes instead of {length}.")
        return bytes(content)


def _check(url: str) -> None:
    """Raises ArchiveError unless the URL is https, or http on this machine."""
    parts = urlsplit(url)
    if parts.scheme != "https" and not (parts.scheme == "http" and parts.hostname in _LOOPBACK):
        raise ArchiveError("The URL has to begin with https://")
