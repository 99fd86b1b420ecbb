"""Copies the tiles of a region from an archive into a smaller one."""

import math
import os
import shutil
import time
from bisect import bisect_left
from collections.abc import Iterator
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import IO, NamedTuple, Protocol, cast

from pmtiles.tile import Entry, HeaderDict, serialize_header, zxy_to_tileid
from pmtiles.writer import optimize_directories

from common.ground import pmtiles_format
from common.ground.pmtiles_format import HEADER_BYTES, MOST_TILE_BYTES, ArchiveError, Read

# The north and south edge of Web Mercator.
_MOST_LATITUDE = 85.0511287798066
_MOST_TILES = 2_000_000
_MOST_LEVELS = 4
_MOST_METADATA_BYTES = 1024 * 1024
# Ranges with a smaller gap between them are read together, up to the length of one request.
_GAP_BYTES = 64 * 1024
_REQUEST_BYTES = 8 * 1024 * 1024
_FREE_BYTES = 256 * 1024 * 1024  # that stay free on the disk


class Box(NamedTuple):
    """Degrees."""

    west: float
    south: float
    east: float
    north: float


class Limits(NamedTuple):
    max_zoom: int
    total_bytes: int
    seconds: float


class Extracted(NamedTuple):
    tiles: int
    total_bytes: int


class Progress(Protocol):
    def __call__(self, done: int, total: int) -> None: ...


def extract(read: Read, box: Box, target: Path, *, limits: Limits, progress: Progress) -> Extracted:
    """Write the tiles within `box` to `target`, which is replaced when all of them are there. Raises ArchiveError."""
    deadline = time.monotonic() + limits.seconds
    header = pmtiles_format.header(read)
    wanted = _tiles_within(box, header["min_zoom"], min(header["max_zoom"], limits.max_zoom))
    found = list(_find(read, header, wanted, deadline))
    if not found:
        raise ArchiveError("The archive has no tile in this box.")
    contents = sorted({(entry.offset, entry.length) for entry in found})
    total = sum(length for _offset, length in contents)
    _check_space(total, limits, target.parent)
    moved = _moved(found, contents)
    with NamedTemporaryFile(dir=target.parent, prefix=f".{target.name}-", delete=False) as file:
        try:
            _write_head(cast("IO[bytes]", file), read, header, box, moved, len(contents), total)
            done = 0
            for content in _read_together(read, header["tile_data_offset"], contents):
                file.write(content)
                done += len(content)
                progress(done, total)
                _check_time(deadline)
            file.flush()
            os.fsync(file.fileno())
            Path(file.name).chmod(0o644)
            Path(file.name).replace(target)
        except BaseException:
            Path(file.name).unlink(missing_ok=True)
            raise
    return Extracted(sum(entry.run_length for entry in moved), target.stat().st_size)


def _tiles_within(box: Box, min_zoom: int, max_zoom: int) -> list[int]:
    """The ids of tiles in ascending order."""
    ranges = [(zoom, *_columns_and_rows(box, zoom)) for zoom in range(min_zoom, max_zoom + 1)]
    count = sum(len(columns) * len(rows) for _zoom, columns, rows in ranges)
    if count > _MOST_TILES:
        raise ArchiveError(
            f"The box has {count:,} tiles, more than {_MOST_TILES:,}. Choose a smaller one or --max-zoom."
        )
    return sorted(zxy_to_tileid(zoom, x, y) for zoom, columns, rows in ranges for x in columns for y in rows)


def _columns_and_rows(box: Box, zoom: int) -> tuple[range, range]:
    size: int = 2**zoom

    def column(longitude: float) -> int:
        return min(max(int((longitude + 180) / 360 * size), 0), size - 1)

    def row(latitude: float) -> int:
        clipped = math.radians(min(max(latitude, -_MOST_LATITUDE), _MOST_LATITUDE))
        return min(max(int((1 - math.asinh(math.tan(clipped)) / math.pi) / 2 * size), 0), size - 1)

    return range(column(box.west), column(box.east) + 1), range(row(box.north), row(box.south) + 1)


def _find(read: Read, header: HeaderDict, wanted: list[int], deadline: float) -> Iterator[Entry]:
    """An entry of run length 1 for each wanted tile that the archive has, in ascending order of their ids."""

    def walk(offset: int, length: int, first: int, last: int, level: int) -> Iterator[Entry]:
        _check_time(deadline)
        if level > _MOST_LEVELS:
            raise ArchiveError("The archive's directories are nested too deeply.")
        entries = pmtiles_format.directory(read, offset, length)
        for number, entry in enumerate(entries):
            begin = max(bisect_left(wanted, entry.tile_id), first)
            after = entries[number + 1].tile_id if number + 1 < len(entries) else None
            if entry.run_length:
                end = min(bisect_left(wanted, entry.tile_id + entry.run_length), last)
                if begin < end and entry.length > MOST_TILE_BYTES:
                    raise ArchiveError("A tile of the archive is too long.")
                for tile_id in wanted[begin:end]:
                    yield Entry(tile_id, entry.offset, entry.length, 1)
                continue
            end = last if after is None else min(bisect_left(wanted, after), last)
            if begin < end:
                yield from walk(header["leaf_directory_offset"] + entry.offset, entry.length, begin, end, level + 1)

    yield from walk(header["root_offset"], header["root_length"], 0, len(wanted), 1)


def _check_space(total: int, limits: Limits, folder: Path) -> None:
    if total > limits.total_bytes:
        mebibytes = math.ceil(total / 2**20)
        raise ArchiveError(f"The tiles have {mebibytes:,} MiB. Choose a smaller box or --max-zoom, or raise --max-mb.")
    free = shutil.disk_usage(folder).free
    if free < total + _FREE_BYTES:
        raise ArchiveError(f"{folder} has {free // 2**20:,} MiB left, too little for {total // 2**20:,} MiB of tiles.")


def _check_time(deadline: float) -> None:
    if time.monotonic() > deadline:
        raise ArchiveError("The time for the extract is over; nothing was changed. Raise --minutes.")


def _moved(found: list[Entry], contents: list[tuple[int, int]]) -> list[Entry]:
    """The entries with their places in the new archive. Neighbours with the same content are one entry."""
    place: dict[tuple[int, int], int] = {}
    end = 0
    for key in contents:
        place[key] = end
        end += key[1]
    moved: list[Entry] = []
    for entry in found:
        offset = place[entry.offset, entry.length]
        last = moved[-1] if moved else None
        if last and last.offset == offset and last.tile_id + last.run_length == entry.tile_id:
            last.run_length += 1
        else:
            moved.append(Entry(entry.tile_id, offset, entry.length, 1))
    return moved


def _write_head(
    file: IO[bytes], read: Read, source: HeaderDict, box: Box, entries: list[Entry], contents: int, total: int
) -> None:
    """Header, directories and metadata. The latter, which name the map's authors, are those of the source."""
    if source["metadata_length"] > _MOST_METADATA_BYTES:
        raise ArchiveError("The archive's metadata are too long.")
    metadata = read(source["metadata_offset"], source["metadata_length"])
    root, leaves, _count = optimize_directories(entries, 16384 - HEADER_BYTES)  # type: ignore[no-untyped-call]
    header = source.copy()
    header["root_offset"], header["root_length"] = HEADER_BYTES, len(root)
    header["metadata_offset"] = HEADER_BYTES + len(root)
    header["leaf_directory_offset"] = header["metadata_offset"] + len(metadata)
    header["leaf_directory_length"] = len(leaves)
    header["tile_data_offset"] = header["leaf_directory_offset"] + len(leaves)
    header["tile_data_length"] = total
    header["addressed_tiles_count"] = sum(entry.run_length for entry in entries)
    header["tile_entries_count"], header["tile_contents_count"] = len(entries), contents
    header["max_zoom"] = _zoom_of(entries[-1].tile_id)
    header["min_lon_e7"], header["min_lat_e7"] = round(box.west * 1e7), round(box.south * 1e7)
    header["max_lon_e7"], header["max_lat_e7"] = round(box.east * 1e7), round(box.north * 1e7)
    header["center_lon_e7"], header["center_lat_e7"] = (
        round((box.west + box.east) / 2 * 1e7), round((box.south + box.north) / 2 * 1e7),
    )  # fmt: skip
    file.write(serialize_header(header) + root + metadata + leaves)


def _zoom_of(tile_id: int) -> int:
    return ((3 * tile_id + 1).bit_length() - 1) // 2


def _read_together(read: Read, start: int, contents: list[tuple[int, int]]) -> Iterator[bytes]:
    """The contents in order, each range of the source with as few requests as possible."""
    group: list[tuple[int, int]] = []
    for offset, length in contents:
        is_near = group and offset - sum(group[-1]) <= _GAP_BYTES and offset + length - group[0][0] <= _REQUEST_BYTES
        if group and not is_near:
            yield _joined(read, start, group)
            group = []
        group.append((offset, length))
    yield _joined(read, start, group)


def _joined(read: Read, start: int, group: list[tuple[int, int]]) -> bytes:
    first, end = group[0][0], max(offset + length for offset, length in group)
    content = read(start + first, end - first)
    return b"".join(content[offset - first : offset - first + length] for offset, length in group)
