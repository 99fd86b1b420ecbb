"""The tiles of a place, copied from a map on a real server of ranges, and what servers do wrong."""

import gzip
import socket
import threading
from datetime import UTC, datetime
from itertools import count

import pytest
from pmtiles import writer
from pmtiles.reader import MemorySource, Reader, all_tiles
from pmtiles.tile import Compression, TileType

from common.pages import map_file as served
from delivery.geo.distance import Point
from delivery.streets import copying, errors, tiles
from delivery.streets.errors import (
    AlreadyCopying,
    MapNotCopied,
    NoRanges,
    NoRoom,
    PlaceMissing,
    SourceAway,
    SourceChanged,
    SourceMissing,
    SourceRefused,
    SourceUnreadable,
    Stopped,
    TooLarge,
)
from tests.delivery.streets.conftest import PLACE
from tests.panel import archives

BOX = tiles.box(Point(*PLACE), km=3)


@pytest.fixture
def small_ranges(monkeypatch):
    """So that the few tiles of a test need several of them, one after the other."""
    monkeypatch.setattr(copying, "_RANGE_BYTES", 4096)
    monkeypatch.setattr(copying, "_RANGES_AT_ONCE", 1)


@pytest.fixture
def copy(server, map_file):
    def copy(url="", *, boxes=(BOX,), sources=None, tell=lambda _progress: None, **client):
        client = {"allow_loopback": True, "pauses": (0.0, 0.0), **client}
        return copying.copy(list(boxes), sources=sources or [url or server.url], to=map_file, tell=tell, **client)

    return copy


def stopping_at(wanted):
    """Told of progress, it stops the copying at this call."""
    calls = count(1)

    def tell(_progress):
        if next(calls) == wanted:
            raise Stopped

    return tell


class TestCopy:
    def test_has_exactly_the_tiles_of_the_place_as_they_were(self, copy, server, map_file):
        told: list[copying.Progress] = []

        progress = copy(tell=told.append)

        copied, source = Reader(MemorySource(map_file.read_bytes())), Reader(MemorySource(server.content))
        found = {place for place, _tile in all_tiles(copied.get_bytes)}
        x, y = archives.tile_at(*PLACE, 14)
        edge = {archives.tile_at(PLACE[0], PLACE[1] + 0.02, 14), archives.tile_at(PLACE[0] + 0.02, PLACE[1], 14)}
        assert {(0, 0, 0), (14, x, y), *((14, *each) for each in edge)} <= found
        assert (14, x + 5, y) not in found  # 10 km away
        assert all(copied.get(*place) == source.get(*place) for place in found)
        assert (progress.tiles, progress.done) == (len(found), progress.total)
        assert [(told[0].done, told[0].total), told[-1].done] == [(0, progress.total), progress.total]
        assert progress.total < map_file.stat().st_size < len(server.content)
        assert served._start() is not None  # as pages ask whether there is one
        assert not map_file.with_name("map.pmtiles.part").exists()

    def test_keeps_attribution_and_says_where_it_is_from(self, copy, server, map_file):
        copy()

        metadata = Reader(MemorySource(map_file.read_bytes())).metadata()
        assert metadata["attribution"] == "© OpenStreetMap"
        assert metadata["copied"] == {"from": server.url, "version": '"1"', "size": len(server.content)}

    def test_of_several_places_has_what_they_share_once(self, copy, map_file):
        alone = copy().tiles
        other = tiles.box(Point(PLACE[0] + 0.001, PLACE[1]), km=3)

        assert alone <= copy(boxes=[BOX, other]).tiles < 2 * alone

    def test_replaces_the_map_file_at_the_end_only(self, copy, map_file):
        map_file.parent.mkdir()
        map_file.write_bytes(b"the one before")
        during = []

        copy(tell=lambda _progress: during.append(map_file.read_bytes()))

        assert set(during) == {b"the one before"}
        assert map_file.read_bytes().startswith(b"PMTiles")

    def test_reads_directories_below_the_first_one(self, copy, server, map_file, monkeypatch, tmp_path):
        """As the map of the world has."""
        monkeypatch.setattr(
            writer, "optimize_directories", lambda entries, _most: writer.build_roots_leaves(entries, 9)
        )
        archives.write(tmp_path / "deep", *PLACE, zooms=range(15), around=6)
        monkeypatch.undo()
        flat = copy().tiles
        server.content, server.etag = (tmp_path / "deep").read_bytes(), '"2"'

        assert copy().tiles == flat

    def test_of_tiles_that_are_not_compressed_says_so(self, copy, server, map_file):
        server.content = server.content[:98] + bytes([Compression.NONE.value]) + server.content[99:]

        copy()

        assert Reader(MemorySource(map_file.read_bytes())).header()["tile_compression"] is Compression.NONE


@pytest.mark.usefixtures("small_ranges")
class TestInterrupted:
    def test_is_continued_where_it_was(self, copy, server, map_file):
        whole = copy()
        complete, asked = map_file.read_bytes(), len(server.asked)
        map_file.unlink()
        told: list[copying.Progress] = []
        with pytest.raises(Stopped):
            copy(tell=stopping_at(3))
        part = map_file.with_name("map.pmtiles.part")
        with part.open("ab") as file:
            file.write(b"half of a range")
        before = len(server.asked)

        copy(tell=told.append)

        assert map_file.read_bytes() == complete
        assert 0 < told[0].done < told[0].total == whole.total
        assert len(server.asked) - before < asked

    @pytest.mark.parametrize("change", ["version", "place"])
    def test_is_begun_anew_if_it_is_of_another(self, copy, server, map_file, change):
        with pytest.raises(Stopped):
            copy(tell=stopping_at(3))
        told: list[copying.Progress] = []
        box = BOX
        if change == "version":
            server.etag = '"2"'
        else:
            box = tiles.box(Point(PLACE[0] + 0.02, PLACE[1]), km=2)

        copy(boxes=[box], tell=told.append)

        assert told[0].done == 0
        assert Reader(MemorySource(map_file.read_bytes())).get(14, *archives.tile_at(*PLACE, 14))

    def test_is_continued_from_the_map_of_the_day_that_it_was_begun_with(self, copy, server):
        """At midnight, when there is a newer one."""
        today, tomorrow = server.url, server.url + "?newer"
        with pytest.raises(Stopped):
            copy(today, tell=stopping_at(3))

        assert copy(sources=[tomorrow, today]).source == today

    def test_of_a_server_without_versions_is_begun_anew(self, copy, server):
        told: list[copying.Progress] = []
        server.etag = ""
        with pytest.raises(Stopped):
            copy(tell=stopping_at(3))

        copy(tell=told.append)

        assert told[0].done == 0

    def test_is_not_written_by_two_at_once(self, copy, map_file):
        def second(_progress):
            with pytest.raises(AlreadyCopying):
                copy()

        copy(tell=second)

        assert map_file.exists()


def wrong_length(_number, handler):
    handler.send_range(0, 99)
    return True


def whole_file(_number, handler):
    handler.answer(200, b"PMTiles", ETag='"1"')
    return True


def packed(_number, handler):
    handler.answer(206, b"", **{"Content-Range": "bytes 0-99/100", "Content-Encoding": "gzip"})
    return True


def truncated(number, handler):
    if number < 3:
        return False
    handler.send_range(*handler.range, cut=10)
    return True


def changed(number, handler):
    if number > 3:
        handler.server.etag = '"2"'
    return False


def to_private_address(_number, handler):
    handler.answer(302, Location="https://10.0.0.1/map.pmtiles")
    return True


def to_private_name(_number, handler):
    handler.answer(302, Location="https://localtest.example/map.pmtiles")
    return True


def without_encryption(_number, handler):
    handler.answer(302, Location="http://example.com/map.pmtiles")
    return True


def in_a_circle(_number, handler):
    handler.answer(302, Location="/map.pmtiles")
    return True


def failing(_number, handler):
    handler.answer(503)
    return True


@pytest.mark.usefixtures("small_ranges")
class TestServer:
    @pytest.mark.parametrize(
        ("instead", "error"),
        [
            (whole_file, NoRanges),
            (wrong_length, NoRanges),
            (packed, NoRanges),
            (truncated, SourceAway),
            (failing, SourceAway),
            (changed, SourceChanged),
            (to_private_address, SourceRefused),
            (without_encryption, SourceRefused),
            (in_a_circle, SourceRefused),
        ],
    )
    def test_that_does_otherwise_leaves_the_map_file_as_it_was(self, copy, server, map_file, instead, error):
        map_file.parent.mkdir()
        map_file.write_bytes(b"the one before")
        server.instead = instead

        with pytest.raises(error):
            copy()

        assert map_file.read_bytes() == b"the one before"

    def test_whose_name_leads_into_the_private_network_is_not_asked(self, copy, server, monkeypatch):
        """The addresses are compared when the connection is made."""
        found, real = [(2, 1, 6, "", ("10.0.0.1", 443))], socket.getaddrinfo
        monkeypatch.setattr(
            socket, "getaddrinfo", lambda host, *rest, **more: found if "example" in host else real(host, *rest, **more)
        )
        server.instead = to_private_name

        with pytest.raises(SourceRefused):
            copy()

    def test_of_this_machine_is_not_asked_in_production(self, copy, server):
        with pytest.raises(SourceRefused):
            copy(allow_loopback=False)

        assert server.asked == []

    def test_that_does_not_answer_is_given_up_at_the_deadline(self, copy, server):
        ended = threading.Event()
        server.instead = lambda _number, _handler: ended.wait(30)

        with pytest.raises(SourceAway):
            copy(seconds=0.2)

        ended.set()
        assert len(server.asked) == 3

    def test_that_breaks_off_once_is_asked_again(self, copy, server, map_file):
        server.instead = lambda number, handler: number == 4 and truncated(number, handler)

        copy()

        assert map_file.exists()

    def test_that_leads_on_is_followed_once_for_all_ranges(self, copy, server):
        def instead(_number, handler):
            if handler.path != "/":
                return False
            handler.answer(302, Location="/map.pmtiles")
            return True

        server.instead = instead

        copy(server.url.removesuffix("map.pmtiles"))

        assert server.asked.count("bytes=0-16383") == 2

    def test_without_the_newest_map_is_asked_for_the_one_before(self, copy, server, settings):
        settings.MAP_SOURCE_URL = "https://build.example.com/{day}.pmtiles"
        days = copying.default_sources(datetime(2026, 3, 1, 12, tzinfo=UTC))

        progress = copy(sources=[server.url.replace("/map", "/newest"), server.url])

        assert days[:2] == [f"https://build.example.com/2026{day}.pmtiles" for day in ("0301", "0228")]
        assert progress.source == server.url

    def test_without_any_is_said(self, copy, server):
        with pytest.raises(SourceMissing):
            copy(server.url.replace("/map", "/none"))


class TestFile:
    @pytest.mark.parametrize(
        "spoil",
        [
            lambda content: b"<html>" + content[6:],
            lambda content: content[:7] + b"\x02" + content[8:],
            lambda content: content[:97] + bytes([Compression.NONE.value]) + content[98:],
            lambda content: content[:98] + bytes([Compression.BROTLI.value]) + content[99:],
            lambda content: content[:99] + bytes([TileType.PNG.value]) + content[100:],
            lambda content: content[:127] + b"\0" * 100 + content[227:],  # the directory
            lambda content: content[:-5000],  # shorter than its header says
            lambda content: content[:40],
        ],
    )
    def test_that_is_no_map_is_refused(self, copy, server, spoil):
        server.content = spoil(server.content)

        with pytest.raises(SourceUnreadable):
            copy()

    def test_whose_directory_is_huge_once_unpacked_is_refused(self, copy, server, monkeypatch):
        monkeypatch.setattr(copying, "_MOST_UNPACKED", 100)

        with pytest.raises(SourceUnreadable):
            copy()

    def test_without_the_place_is_said(self, copy, map_file):
        with pytest.raises(PlaceMissing):
            copy(boxes=[tiles.box(Point(40.0, 20.0), km=3)])

        assert not map_file.exists()

    def test_is_bounded_before_its_first_tile(self, copy, server, monkeypatch):
        monkeypatch.setattr(copying, "MOST_BYTES", 10_000)

        with pytest.raises(TooLarge):
            copy()

        assert len(server.asked) == 2  # header, directory

    def test_fits_on_the_disk_or_is_not_begun(self, copy, monkeypatch):
        monkeypatch.setattr(copying, "_SPARE_BYTES", 10**18)

        with pytest.raises(NoRoom):
            copy()


def test_every_reason_has_a_code_of_its_own():
    kinds = MapNotCopied.__subclasses__()

    assert len(errors.BY_CODE) == len(kinds)
    assert all(kind.message for kind in kinds)


def test_a_box_is_as_wide_as_said_in_the_north_too():
    west, south, east, north = tiles.box(Point(60, 10), km=100)

    assert (north - south) / 2 == pytest.approx(0.898, abs=0.001)
    assert (east - west) / 2 == pytest.approx(1.85, abs=0.06)


def test_a_tile_is_packed_as_before(copy, map_file):
    copy()

    tile = Reader(MemorySource(map_file.read_bytes())).get(14, *archives.tile_at(*PLACE, 14))
    assert gzip.decompress(tile) == archives.tile(14, *archives.tile_at(*PLACE, 14))
