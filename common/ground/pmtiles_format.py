"""What this project reads of the format PMTiles (version 3), from a file or by ranges of a URL, with limits.

The package `pmtiles` decodes it. An archive has a header, a directory of tiles with their places, and the tiles; in a
large one the directory's entries lead to further directories, the leaves.
"""

import zlib
from collections.abc import Callable
from typing import TypeVar

from pmtiles.tile import (
    Compression,
    Entry,
    HeaderDict,
    MagicNumberNotFound,
    SpecVersionUnsupported,
    TileType,
    deserialize_directory,
    deserialize_header,
)

# Reads so many bytes from an offset. Raises ArchiveError when there are fewer.
Read = Callable[[int, int], bytes]
T = TypeVar("T")
HEADER_BYTES = 127
# More than builds of the whole planet have.
_MOST_DIRECTORY_BYTES = 1024 * 1024
_MOST_UNPACKED_BYTES = 16 * 1024 * 1024
MOST_TILE_BYTES = 4 * 1024 * 1024


class ArchiveError(Exception):
    """A file that is no archive, is damaged, or holds something else than vector tiles. The text is for people."""


def header(read: Read) -> HeaderDict:
    """Raises ArchiveError unless the archive has vector tiles that are compressed with gzip or not at all."""
    try:
        found = _decoded(deserialize_header, read(0, HEADER_BYTES))
    except (MagicNumberNotFound, SpecVersionUnsupported) as error:
        raise ArchiveError("This is no PMTiles archive of version 3.") from error
    if found["tile_type"] != TileType.MVT:
        raise ArchiveError(f"The archive holds tiles of the type {found['tile_type'].name}, not vector tiles (MVT).")
    if found["internal_compression"] != Compression.GZIP:
        raise ArchiveError("The archive's directories are not compressed with gzip.")
    if found["tile_compression"] not in (Compression.GZIP, Compression.NONE):
        raise ArchiveError(f"The archive's tiles are compressed with {found['tile_compression'].name}, not with gzip.")
    return found


def directory(read: Read, offset: int, length: int) -> list[Entry]:
    """The entries of a directory. Raises ArchiveError."""
    if length > _MOST_DIRECTORY_BYTES:
        raise ArchiveError("A directory of the archive is too long.")
    packed = read(offset, length)
    unpacking = zlib.decompressobj(wbits=31)
    try:
        unpacking.decompress(packed, _MOST_UNPACKED_BYTES)
    except zlib.error as error:
        raise ArchiveError("A directory of the archive is damaged.") from error
    if not unpacking.eof:
        raise ArchiveError("A directory of the archive is damaged or too long.")
    return _decoded(deserialize_directory, packed)


def _decoded(decode: Callable[[bytes], T], content: bytes) -> T:
    try:
        return decode(content)
    except (EOFError, IndexError, ValueError, OSError) as error:
        raise ArchiveError("The archive is damaged.") from error
