"""`manage.py fetch_map`, from a file and from a server on loopback."""

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from io import StringIO

import pytest
from django.core.management import call_command

from common.ground import extract
from common.ground.archive import Archive
from tests.panel import archives

PLACE = (-23.55, -46.63)
BOX = "-46.66,-23.57,-46.60,-23.53"
CORNERS = [(-23.53, -46.66), (-23.57, -46.60)]


@pytest.fixture
def source(tmp_path):
    """An archive with more tiles than the box has."""
    path = tmp_path / "source.pmtiles"
    archives.write(path, *PLACE, zooms=range(15), around=6)
    return path


@pytest.fixture(autouse=True)
def target(tmp_path, settings):
    settings.MAP_FILE = tmp_path / "data" / "map.pmtiles"
    return settings.MAP_FILE


class Site(ThreadingHTTPServer):
    """A server of a file. `statuses` and `versions` are those of its answers, by the number of the request."""

    def __init__(self, path):
        self.path, self.requests = path, []
        self.statuses, self.versions, self.understands_ranges = {}, {}, True
        super().__init__(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server_port}/planet.pmtiles"


class Handler(BaseHTTPRequestHandler):
    server: Site

    def do_GET(self):
        site, asked = self.server, self.headers["Range"]
        number = len(site.requests)
        site.requests.append(asked)
        first, last = (int(text) for text in asked.removeprefix("bytes=").split("-"))
        status = site.statuses.get(number, 206 if site.understands_ranges else 200)
        content = site.path.read_bytes()
        body = content[first : last + 1] if status == 206 else content
        self.send_response(status)
        self.send_header("ETag", site.versions.get(number, "one"))
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_arguments):
        pass


@pytest.fixture
def site(source, monkeypatch):
    monkeypatch.setattr("common.ground.sources.time.sleep", lambda _seconds: None)
    server = Site(source)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield server
    server.shutdown()
    server.server_close()


def fetch(place, *options, box=BOX):
    out = StringIO()
    call_command("fetch_map", str(place), f"--box={box}", *options, stdout=out)
    return json.loads(out.getvalue())


def refusal(place, *options, box=BOX):
    """The text of a refusal."""
    out = StringIO()
    with pytest.raises(SystemExit):
        call_command("fetch_map", str(place), f"--box={box}", *options, stdout=out)
    return json.loads(out.getvalue())["detail"]


class TestExtract:
    def test_has_the_tiles_of_the_box(self, source, target):
        result = fetch(source)

        opened, whole = Archive(target), Archive(source)
        inside, outside = archives.tile_at(*PLACE, 14), archives.tile_at(-23.62, -46.63, 14)
        assert opened.tile(14, *inside) == whole.tile(14, *inside)
        assert opened.tile(14, *inside) is not None
        assert (opened.tile(14, *outside), whole.tile(14, *outside) is None) == (None, False)
        assert opened.tile(0, 0, 0) == whole.tile(0, 0, 0)
        assert (result["file"], result["bytes"]) == (str(target), target.stat().st_size)
        north_west, south_east = ([archives.tile_at(*at, zoom) for zoom in range(15)] for at in CORNERS)
        corners = zip(north_west, south_east, strict=True)
        assert result["tiles"] == sum((right - left + 1) * (low - high + 1) for (left, high), (right, low) in corners)

    def test_ends_at_the_zoom_level(self, source, target):
        fetch(source, "--max-zoom", "11")

        assert Archive(target).max_zoom == 11

    def test_is_the_same_from_a_server_with_few_requests(self, source, site, target):
        fetch(source)
        from_file = target.read_bytes()

        fetch(site.url)

        assert target.read_bytes() == from_file
        assert len(site.requests) <= 10  # for 32 tiles

    def test_reads_directories_of_directories(self, tmp_path, source, target, monkeypatch):
        fetch(source)
        without = target.read_bytes()
        archives.in_leaves(monkeypatch)
        archives.write(tmp_path / "leaves", *PLACE, zooms=range(15), around=6)

        fetch(tmp_path / "leaves")

        assert Archive(tmp_path / "leaves")._header["leaf_directory_length"] > 0
        assert target.read_bytes() == without

    def test_keeps_equal_tiles_once(self, tmp_path, target, monkeypatch):
        monkeypatch.setattr(archives, "tile", lambda *_place: b"sea")
        source = tmp_path / "sea.pmtiles"
        archives.write(source, *PLACE, zooms=range(10, 15))

        result = fetch(source)

        assert Archive(target)._header["tile_contents_count"] == 1
        assert result["bytes"] < 1000


class TestServer:
    def test_is_asked_again_after_a_fault(self, site):
        site.statuses = {0: 503, 2: 502}

        assert fetch(site.url)["tiles"] > 0

    @pytest.mark.parametrize(
        ("fault", "text"),
        [
            ({"understands_ranges": False}, "does not answer requests for ranges"),
            ({"statuses": {1: 404}}, "the server answered 404"),
            ({"statuses": {0: 302}}, "the server answered 302"),
            ({"versions": {2: "two"}}, "has changed while it was read"),
            ({"statuses": dict.fromkeys(range(9), 500)}, "does not answer"),
        ],
    )
    def test_is_refused_when_it_cannot_be_read(self, site, target, fault, text):
        for name, value in fault.items():
            setattr(site, name, value)

        assert text in refusal(site.url)
        assert list(target.parent.iterdir()) == []

    def test_has_to_be_https(self):
        assert refusal("http://tiles.example.com/a.pmtiles") == "The URL has to begin with https://"


class TestRefusal:
    @pytest.mark.parametrize(
        "box", ["", "1,2,3", "a,b,c,d", "-46.60,-23.57,-46.66,-23.53", "-23.57,-146.66,-23.53,-46.60", "nan,0,1,1"]
    )
    def test_of_a_box_says_what_it_is(self, source, box):
        assert refusal(source, box=box).startswith("--box ")

    def test_of_a_place_without_tiles(self, tmp_path):
        archives.write(tmp_path / "city", *PLACE, zooms=range(10, 13))

        assert "no tile in this box" in refusal(tmp_path / "city", box="100,10,101,11")

    def test_of_too_many_tiles(self, source):
        assert "Choose a smaller one" in refusal(source, box="-180,-80,180,80")

    def test_of_too_many_bytes(self, source):
        assert "raise --max-mb" in refusal(source, "--max-mb", "0")

    def test_of_a_disk_without_space(self, source, monkeypatch):
        monkeypatch.setattr(extract, "_FREE_BYTES", 2**60)

        assert "too little" in refusal(source)

    def test_of_too_long_a_time(self, source):
        assert "Raise --minutes" in refusal(source, "--minutes", "0")

    @pytest.mark.parametrize("content", [b"", b"no archive" * 100])
    def test_of_another_file_leaves_the_map_as_it_was(self, source, target, tmp_path, content):
        fetch(source)
        before = target.read_bytes()
        (tmp_path / "other").write_bytes(content)

        refusal(tmp_path / "other")

        assert target.read_bytes() == before
        assert [path.name for path in target.parent.iterdir()] == [target.name]

    def test_of_a_missing_file(self, tmp_path):
        assert "cannot be read" in refusal(tmp_path / "none")
