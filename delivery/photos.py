"""Encodes photos anew, each in a process of its own with limits of memory and time (`delivery.photo_process`)."""

import logging
import signal
import subprocess
import sys
import threading
from dataclasses import dataclass

from django.utils.translation import gettext_noop

from delivery import photo_process
from delivery.errors import InvalidPhoto, PhotosBusy, PhotoTooLarge

MOST_BYTES = 8 * 1024 * 1024
_MOST_SECONDS = 10  # the process has 3 of CPU time
# For a photo that is being encoded. A process of the web server has few threads, and phones send photos again.
_WAIT_SECONDS = 1.0

_log = logging.getLogger(__name__)
# One at a time in each process, because a photo may take more than half a gigabyte.
_encoding = threading.Lock()

_REFUSALS = {
    "format": gettext_noop("The file is no photo in JPEG, PNG, WebP or HEIC."),
    "pixels": gettext_noop("The photo has more than 40 megapixels. Take it with a lower resolution."),
    "animated": gettext_noop("The picture is animated. Take a photo instead."),
    "colours": gettext_noop("The picture has colours for printing (CMYK) or of another kind. Take a photo."),
    "depth": gettext_noop("The picture has 16 bits for each colour. Take it with 8."),
    "scans": gettext_noop("The photo has more than 100 scans. Take it again."),
    "memory": gettext_noop("The photo takes too much memory to read. Take it with a lower resolution."),
}
_TOO_LONG = gettext_noop("The photo takes too long to read. Take it with a lower resolution.")
_DAMAGED = gettext_noop("The photo is incomplete or damaged. Take it again.")


@dataclass(frozen=True)
class Photo:
    """A JPEG without metadata, its longer side at most 1600 pixels."""

    jpeg: bytes
    width: int
    height: int


def encode(content: bytes) -> Photo:
    """The photo in this file, encoded anew. Takes up to 10 s, usually half a second.

    Raises PhotoTooLarge, InvalidPhoto, or PhotosBusy while this process encodes another one.
    """
    if len(content) > MOST_BYTES:
        raise PhotoTooLarge("The photo is larger than 8 MB.")
    if not _encoding.acquire(timeout=_WAIT_SECONDS):
        raise PhotosBusy("Other photos are being read. Send it again in a moment.")
    try:
        return _encode(content)
    finally:
        _encoding.release()


def _encode(content: bytes) -> Photo:
    command = [sys.executable, "-I", photo_process.__file__]
    try:
        # Without the environment, which holds secrets.
        process = subprocess.run(  # noqa: S603  # a constant command
            command, input=content, capture_output=True, timeout=_MOST_SECONDS, check=False, env={}
        )
    except subprocess.TimeoutExpired as error:
        raise InvalidPhoto(_TOO_LONG) from error
    if process.returncode == -signal.SIGXCPU:
        raise InvalidPhoto(_TOO_LONG)
    if process.returncode != 0:
        why = process.stdout.decode(errors="replace")
        if why not in _REFUSALS:
            _log.warning("A photo of %s bytes cannot be read: %s %r", len(content), process.returncode, why[:500])
        raise InvalidPhoto(_REFUSALS.get(why, _DAMAGED))
    size, _line_feed, jpeg = process.stdout.partition(b"\n")
    width, height = map(int, size.split())
    return Photo(jpeg, width, height)
