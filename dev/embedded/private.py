"""Folders and files that only their owner may use, and locks and logs in them."""

import fcntl
import hashlib
import os
import stat
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from config.env import StartRefused, data_dir

# sun_path of a unix socket holds 108 bytes on Linux and 104 elsewhere, the final NUL included.
LONGEST_SOCKET_PATH = 100
LOG_BYTES = 4 * 1024 * 1024
_KEPT_BYTES = 1024 * 1024
_LOCK_SECONDS = 120
_REMEDY = "Remove it, or set DATA_DIR or TMPDIR."


def private_folder(path: Path) -> Path:
    """Make `path`, and its parents where missing, a folder of mode 0700.

    Raises StartRefused when it is something else than a folder (a link, for instance) or belongs to another user.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    path.mkdir(mode=0o700, exist_ok=True)
    handle = _open(path, os.O_RDONLY | os.O_DIRECTORY)
    try:
        _make_private(handle, path, 0o700)
    finally:
        os.close(handle)
    return path


def open_private(path: Path, flags: int = os.O_RDWR | os.O_CREAT) -> int:
    """Open a regular file, of mode 0600 from then on, without following a link. Returns its descriptor.

    Raises FileExistsError and FileNotFoundError as `flags` provide, StartRefused when it is no file of this user.
    """
    handle = _open(path, flags)
    try:
        if not stat.S_ISREG(os.fstat(handle).st_mode):
            raise StartRefused(f"{path} is not a regular file. Remove it.")  # noqa: TRY301  # closes it
        _make_private(handle, path, 0o600)
    except StartRefused:
        os.close(handle)
        raise
    return handle


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Hold an exclusive lock on a file. The kernel releases it however the process ends."""
    handle = open_private(path)
    deadline = time.monotonic() + _LOCK_SECONDS
    try:
        while not try_lock(handle):
            if time.monotonic() > deadline:
                raise StartRefused(f"Another process has held {path} for {_LOCK_SECONDS} s. End it first.")
            time.sleep(0.05)
        yield
    finally:
        os.close(handle)


def try_lock(handle: int) -> bool:
    """Lock an open file exclusively if nobody else holds a lock on it."""
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def shorten(log: Path) -> None:
    """Cut a log of more than 4 MiB to its last 1 MiB, in place: servers that append continue at its end."""
    try:
        handle = os.open(log, os.O_RDWR | os.O_APPEND | os.O_NOFOLLOW | os.O_CLOEXEC)
    except FileNotFoundError:
        return
    with os.fdopen(handle, "r+b", buffering=0) as file:
        if os.fstat(file.fileno()).st_size > LOG_BYTES:
            file.seek(-_KEPT_BYTES, os.SEEK_END)
            end = file.read(_KEPT_BYTES)
            file.truncate(0)
            file.write(end)


def runtime_dir() -> Path:
    """A private folder with a short path for this data folder's sockets. Raises StartRefused when it is not ours."""
    digest = hashlib.sha256(os.fsencode(data_dir())).hexdigest()[:16]
    return private_folder(Path(tempfile.gettempdir()) / f"rota-{os.getuid()}-{digest}")


def _open(path: Path, flags: int) -> int:
    try:
        return os.open(path, flags | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK, 0o600)
    except (FileExistsError, FileNotFoundError):
        raise
    except OSError as error:  # ELOOP or ENOTDIR: a link; EACCES: another user's
        raise StartRefused(f"{path} cannot be used ({error.strerror}). {_REMEDY}") from error


def _make_private(handle: int, path: Path, mode: int) -> None:
    found = os.fstat(handle)
    if found.st_uid != os.geteuid():
        raise StartRefused(
            f"{path} belongs to another user (uid {found.st_uid}). Run as that user, or set DATA_DIR or TMPDIR."
        )
    if stat.S_IMODE(found.st_mode) != mode:
        os.fchmod(handle, mode)
