"""A disk of a few megabytes, which can be filled and emptied."""

import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

_SECONDS = 60


class Disk:
    """A file system of its own at `folder`."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._filler = folder / "filler"

    def fill(self) -> None:
        """To the last page, while others may write too."""
        with self._filler.open("ab", buffering=0) as file:
            for size in (1024 * 1024, 4096):
                with suppress(OSError):  # no space left
                    while file.write(bytes(size)):
                        pass

    def empty(self) -> None:
        self._filler.unlink()


@contextmanager
def mounted(folder: Path, *, megabytes: int) -> Iterator[Disk]:
    """Mount a new file system at an empty folder. Without the right to do so the test is skipped."""
    options = f"size={megabytes}m,mode=755"
    mount = subprocess.run(
        ["/bin/mount", "-t", "tmpfs", "-o", options, "rota-tests", str(folder)],
        check=False, capture_output=True, text=True, timeout=_SECONDS,
    )  # fmt: skip  # a command in few lines
    if mount.returncode and os.environ.get("NOTHING_SKIPS"):
        pytest.fail(f"No file system could be mounted, and here nothing may be skipped: {mount.stderr}")
    if mount.returncode:
        pytest.skip(f"A disk that is full needs the right to mount a file system: {mount.stderr.strip()}")
    try:
        yield Disk(folder)
    finally:
        # Lazily, because a server that did not stop may hold files.
        subprocess.run(["/bin/umount", "--lazy", str(folder)], check=True, timeout=_SECONDS)
