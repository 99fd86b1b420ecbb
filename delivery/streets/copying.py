"""Copies the tiles of places from a map on the web into the map file of this server.

The header and the directories of the new file are known before its first tile is asked for, and are written first. So a
file that was interrupted is continued if it begins with the same bytes, which name the address and the version of the
map too. It gets the name of the map file when it is complete.
"""

import errno
import fcntl
import json
import os
import shutil
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import pairwise
from pathlib import Path
from typing import IO, Any, NamedTuple, TypeVar

from django.conf import settings
from pmtiles.tile import (
    Compression,
    Entry,
    HeaderDict,
    MagicNumberNotFound,
    SpecVersionUnsupported,
    TileType,
    deserialize_directory,
    deserialize_header,
    find_tile,
    zxy_to_tileid,
)
from pmtiles.writer import finalize_header

from common.pages.map_file import MOST_BYTES as _MOST_READ
from delivery.streets import tiles
from delivery.streets.errors import (
    MOST_BYTES,
    AlreadyCopying,
    NoRoom,
    NotWritten,
    PlaceMissing,
    SourceMissing,
    SourceUnreadable,
    TooLarge,
)
from delivery.streets.ranges import Range, RemoteFile
from delivery.streets.tiles import Box

_MOST_TILES = 500_000
# Left on the disk for everything else.
_SPARE_BYTES = 256 * 1024**2
_HEADER_BYTES, _START_BYTES = 127, 16 * 1024
_MOST_UNPACKED = 64 * 1024**2
_MOST_METADATA = 1024**2
_DEEPEST = 3  # directories below the first one
_NEAREST_ZOOM = 15
# Tiles that lie so near to each other are read as one range, which is not longer than this unless one tile is.
_GAP_BYTES, _RANGE_BYTES = 64 * 1024, 2 * 1024**2
_RANGES_AT_ONCE = 4
# Protomaps makes a map of the world each day, and keeps those of the last days.
_DAYS = 10
_UNREADABLE = (MagicNumberNotFound, SpecVersionUnsupported, ValueError, EOFError, IndexError, zlib.error)
_Item = TypeVar("_Item")


@dataclass(frozen=True)
class Progress:
    """Bytes of the tiles, those of `total` that are on this machine, and from where."""

    source: str
    tiles: int
    total: int
    done: int


class _Blob(NamedTuple):
    """Where a tile's data is in the map on the web, from the beginning of its data."""

    offset: int
    length: int


class _Part(NamedTuple):
    """Tiles that are read at once: the range, and where each is in it."""

    range: Range
    blobs: list[Range]

    @property
    def length(self) -> int:
        return sum(length for _first, length in self.blobs)


def default_sources(now: datetime) -> list[str]:
    """The newest maps of the world that may be there, the newest first."""
    days = (now - timedelta(days=number) for number in range(_DAYS))
    return [settings.MAP_SOURCE_URL.format(day=f"{day:%Y%m%d}") for day in days]


def copy(
    boxes: Sequence[Box], *, sources: Sequence[str], to: Path, tell: Callable[[Progress], None], **client: Any
) -> Progress:
    """Write the tiles of these boxes as the map file `to`, from the first of the sources that is there.

    `tell` is called before the first tile is asked for, and then again and again; what it raises ends the copying. What
    is interrupted is continued by the next call. `client` are options of RemoteFile. Raises MapNotCopied.
    """
    with _alone(to.with_name(f"{to.name}.part")) as file:
        kept = _source_of(file)
        for url in sorted(sources, key=lambda each: each != kept):
            with RemoteFile(url, **client) as remote:
                try:
                    start = remote.begin(_START_BYTES)
                except SourceMissing:
                    continue
                progress = _copy(remote, url, start, boxes, file, tell)
            Path(file.name).replace(to)
            return progress
    raise SourceMissing


def _copy(
    remote: RemoteFile, url: str, start: bytes, boxes: Sequence[Box], file: IO[bytes], tell: Callable[[Progress], None]
) -> Progress:
    header = _header(start, remote.size)
    found = _found(remote, header, boxes)
    blobs = sorted(set(found.values()))
    total = sum(blob.length for blob in blobs)
    if total > MOST_BYTES:
        raise TooLarge
    head = _head(remote, url, header, boxes, found, blobs)
    parts = _parts(blobs, header["tile_data_offset"])
    done, left = _continued(file, head, parts) if remote.version else _begun(file, head, parts)
    if shutil.disk_usage(Path(file.name).parent).free < total - done + _SPARE_BYTES:
        raise NoRoom
    tell(Progress(url, len(found), total, done))
    for several in _at_once(left):
        for part, content in zip(several, remote.read([each.range for each in several]), strict=True):
            for first, length in part.blobs:
                file.write(content[first : first + length])
        file.flush()
        os.fsync(file.fileno())
        done += sum(part.length for part in several)
        tell(Progress(url, len(found), total, done))
    return Progress(url, len(found), total, done)


@contextmanager
def _alone(path: Path) -> Iterator[IO[bytes]]:
    """The file that is being written, for this process alone. Raises AlreadyCopying, NoRoom or NotWritten."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("a+b") as file:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError as error:
                raise AlreadyCopying from error
            if not (path.exists() and os.path.samestat(path.stat(), os.fstat(file.fileno()))):
                raise AlreadyCopying  # by a process that has just completed it
            yield file
    except OSError as error:
        raise (NoRoom if error.errno in {errno.ENOSPC, errno.EDQUOT} else NotWritten) from error


def _header(start: bytes, size: int) -> HeaderDict:
    """The header of the map on the web. Raises SourceUnreadable unless browsers can draw its tiles."""
    try:
        header = deserialize_header(start[:_HEADER_BYTES])
    except _UNREADABLE as error:
        raise SourceUnreadable from error
    ends = [header["tile_data_offset"] + header["tile_data_length"]]
    ends += [header[f"{name}_offset"] + header[f"{name}_length"] for name in ("root", "metadata", "leaf_directory")]  # type: ignore[literal-required]
    if (
        header["internal_compression"] != Compression.GZIP
        or header["tile_compression"] not in {Compression.GZIP, Compression.NONE}
        or header["tile_type"] != TileType.MVT
        or max(ends) > size
    ):
        raise SourceUnreadable
    return header


def _found(remote: RemoteFile, header: HeaderDict, boxes: Sequence[Box]) -> dict[int, _Blob]:
    """The tiles of these boxes by their numbers, in their order. Raises PlaceMissing or TooLarge."""
    zooms = range(header["min_zoom"], min(header["max_zoom"], _NEAREST_ZOOM) + 1)
    wanted = tiles.ids(boxes, zooms=zooms)
    if len(wanted) > _MOST_TILES:
        raise TooLarge
    found: dict[int, _Blob] = {}
    level = [((header["root_offset"], header["root_length"]), wanted)]
    leaves = header["leaf_directory_offset"]
    for _depth in range(_DEEPEST + 1):
        below: dict[Range, list[int]] = {}
        for several in _at_once(level):
            directories = _directories(remote, [place for place, _ids in several])
            for (_place, ids), directory in zip(several, directories, strict=True):
                for number in ids:
                    entry = find_tile(directory, number)
                    if entry is not None and entry.run_length:
                        found[number] = _checked(_Blob(entry.offset, entry.length), header)
                    elif entry is not None:
                        below.setdefault((leaves + entry.offset, entry.length), []).append(number)
        level = list(below.items())
    if max(found, default=-1) < zxy_to_tileid(zooms.stop - 1, 0, 0):  # none of the nearest
        raise PlaceMissing
    return dict(sorted(found.items()))


def _checked(blob: _Blob, header: HeaderDict) -> _Blob:
    if not (0 <= blob.offset <= header["tile_data_length"] - blob.length and 0 < blob.length <= _MOST_READ):
        raise SourceUnreadable
    return blob


def _directories(remote: RemoteFile, places: list[Range]) -> list[list[Entry]]:
    """Raises SourceUnreadable."""
    if any(not 0 < length <= _MOST_READ or first + length > remote.size for first, length in places):
        raise SourceUnreadable
    try:
        return [deserialize_directory(_bounded(packed)) for packed in remote.read(places)]
    except _UNREADABLE as error:
        raise SourceUnreadable from error


def _bounded(packed: bytes) -> bytes:
    """What was packed by gzip, unless it is too large when it is unpacked. Raises SourceUnreadable or zlib.error."""
    unpacking = zlib.decompressobj(wbits=31)
    unpacking.decompress(packed, _MOST_UNPACKED)
    if not unpacking.eof or unpacking.unused_data:
        raise SourceUnreadable
    return packed


def _head(
    remote: RemoteFile, url: str, header: HeaderDict, boxes: Sequence[Box], found: dict[int, _Blob], blobs: list[_Blob]
) -> bytes:
    """Everything before the tiles: header, directory, metadata, further directories."""
    starts, at = {}, 0
    for blob in blobs:
        starts[blob], at = at, at + blob.length
    entries: list[Entry] = []
    for number, blob in found.items():
        last = entries[-1] if entries else None
        if last and last.offset == starts[blob] and number == last.tile_id + last.run_length:
            last.run_length += 1
        else:
            entries.append(Entry(number, starts[blob], blob.length, 1))
    first_seen = list(dict.fromkeys(found.values()))
    west, south, east, north = (
        round(10**7 * furthest(edges))
        for furthest, edges in zip((min, min, max, max), zip(*boxes, strict=True), strict=True)
    )
    copied = {
        **header, "min_lon_e7": west, "min_lat_e7": south, "max_lon_e7": east, "max_lat_e7": north,
        "center_lon_e7": (west + east) // 2, "center_lat_e7": (south + north) // 2,
    }  # fmt: skip  # a table
    metadata = _metadata(remote, header) | {"copied": {"from": url, "version": remote.version, "size": remote.size}}
    is_clustered = all(before < after for before, after in pairwise(first_seen))
    head = finalize_header(copied, len(found), entries, len(blobs), metadata, is_clustered, at)  # type: ignore[no-untyped-call]
    return b"".join(head)


def _metadata(remote: RemoteFile, header: HeaderDict) -> dict[str, Any]:
    """The attribution, the layers and the like. Raises SourceUnreadable."""
    if not 0 < header["metadata_length"] <= _MOST_METADATA:
        raise SourceUnreadable
    (packed,) = remote.read([(header["metadata_offset"], header["metadata_length"])])
    try:
        metadata = json.loads(zlib.decompress(_bounded(packed), wbits=31))
    except _UNREADABLE as error:
        raise SourceUnreadable from error
    if not isinstance(metadata, dict):
        raise SourceUnreadable
    return metadata


def _source_of(file: IO[bytes]) -> str:
    """The address of the map from which a file was begun; empty if it was not."""
    file.seek(0)
    try:
        header = deserialize_header(file.read(_HEADER_BYTES))
        file.seek(header["metadata_offset"])
        metadata = json.loads(zlib.decompress(file.read(header["metadata_length"]), wbits=31))
        return str(metadata["copied"]["from"])
    except (*_UNREADABLE, KeyError):
        return ""


def _parts(blobs: list[_Blob], data_offset: int) -> list[_Part]:
    """The ranges to be read, in their order."""
    parts: list[_Part] = []
    for offset, length in blobs:
        first = data_offset + offset
        if parts:
            (begin, read), into = parts[-1]
            if first - begin - read <= _GAP_BYTES and first + length - begin <= _RANGE_BYTES:
                parts[-1] = _Part((begin, max(read, first + length - begin)), [*into, (first - begin, length)])
                continue
        parts.append(_Part((first, length), [(0, length)]))
    return parts


def _continued(file: IO[bytes], head: bytes, parts: list[_Part]) -> tuple[int, list[_Part]]:
    """How many bytes of tiles the file has already, and which parts are left. It is begun anew if it is another's."""
    file.seek(0)
    if file.read(len(head)) != head:
        return _begun(file, head, parts)
    there, done = file.seek(0, os.SEEK_END) - len(head), 0
    left = list(parts)
    while left and done + left[0].length <= there:
        done += left.pop(0).length
    file.truncate(len(head) + done)
    return done, left


def _begun(file: IO[bytes], head: bytes, parts: list[_Part]) -> tuple[int, list[_Part]]:
    file.truncate(0)
    file.write(head)
    return 0, parts


def _at_once(items: Sequence[_Item]) -> Iterator[Sequence[_Item]]:
    return (items[at : at + _RANGES_AT_ONCE] for at in range(0, len(items), _RANGES_AT_ONCE))
