"""The map file of this server (MAP_FILE)."""

import logging
import os
import weakref
from functools import lru_cache
from pathlib import Path
from threading import Lock

from django.conf import settings
from pmtiles.tile import Compression, Entry, find_tile, zxy_to_tileid

from common.ground import pmtiles_format
from common.ground.pmtiles_format import MOST_TILE_BYTES, ArchiveError

_log = logging.getLogger(__name__)
_MOST_LEVELS = 4  # of directories
_DIRECTORIES_KEPT = 16  # each has some thousand entries


class Archive:
    """An open archive. Thread-safe. Raises ArchiveError when it is none."""

    def __init__(self, path: Path) -> None:
        self._file = os.open(path, os.O_RDONLY)
        weakref.finalize(self, os.close, self._file)
        status = os.fstat(self._file)
        # Changes when the file is replaced.
        self.version = f"{status.st_ino:x}-{status.st_size:x}-{status.st_mtime_ns:x}"
        self._header = pmtiles_format.header(self._read)
        self._directory = lru_cache(_DIRECTORIES_KEPT)(self._read_directory)
        self.max_zoom = self._header["max_zoom"]
        self.is_packed = self._header["tile_compression"] == Compression.GZIP

    def tile(self, z: int, x: int, y: int) -> bytes | None:
        """The tile as it is stored, or None where there is none. Raises ArchiveError."""
        header = self._header
        if not header["min_zoom"] <= z <= header["max_zoom"] or not 0 <= x < 2**z or not 0 <= y < 2**z:
            return None
        key = zxy_to_tileid(z, x, y)
        offset, length = header["root_offset"], header["root_length"]
        for _level in range(_MOST_LEVELS):
            entry = find_tile(self._directory(offset, length), key)
            if entry is None:
                return None
            if entry.run_length:
                if entry.length > MOST_TILE_BYTES:
                    raise ArchiveError("A tile of the archive is too long.")
                return self._read(header["tile_data_offset"] + entry.offset, entry.length)
            offset, length = header["leaf_directory_offset"] + entry.offset, entry.length
        raise ArchiveError("The archive's directories are nested too deeply.")

    def _read_directory(self, offset: int, length: int) -> list[Entry]:
        return pmtiles_format.directory(self._read, offset, length)

    def _read(self, offset: int, length: int) -> bytes:
        content = os.pread(self._file, length, offset)
        if len(content) < length:
            raise ArchiveError("The archive is shorter than its header says.")
        return content


_lock = Lock()
_opened: tuple[tuple[int, int, int], Archive | None] | None = None


def current() -> Archive | None:
    """The map file, opened again when it was replaced. None: there is none, or it cannot be used, which is logged."""
    global _opened  # noqa: PLW0603  # one open file for each process
    path: Path = settings.MAP_FILE
    try:
        status = path.stat()
    except OSError:
        return None
    key = (status.st_ino, status.st_size, status.st_mtime_ns)
    with _lock:
        if _opened is None or _opened[0] != key:
            _opened = (key, _open(path))
        return _opened[1]


def _open(path: Path) -> Archive | None:
    try:
        return Archive(path)
    except (ArchiveError, OSError) as error:
        _log.warning("The map file %s cannot be used: %s", path, error)
        return None
