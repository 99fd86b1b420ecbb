"""`manage.py map fetch`, as operators run it."""

import json
from contextlib import suppress
from io import StringIO

import pytest
from django.core.management import CommandError, call_command
from pmtiles.reader import MemorySource, Reader

from tests.panel import archives


@pytest.fixture
def fetch(map_file, settings):
    settings.WEBHOOK_ALLOW_LOOPBACK = True

    def fetch(*arguments):
        out, err = StringIO(), StringIO()
        with suppress(SystemExit):
            call_command("map", "fetch", *arguments, stdout=out, stderr=err)
        return json.loads(out.getvalue()), err.getvalue()

    return fetch


class TestFetch:
    def test_says_the_size_first_and_what_was_copied_last(self, fetch, server, map_file):
        answer, said = fetch("--around", "-23.55,-46.63", "--km", "2", "--from", server.url)

        assert answer == {
            "file": str(map_file), "from": server.url, "tiles": answer["tiles"], "bytes": answer["bytes"],
        }  # fmt: skip  # a table
        lines = said.splitlines()
        assert lines[0] == f"{answer['tiles']} tiles, {answer['bytes'] / 10**6:.1f} MB, from {server.url}"
        assert "Open Database License" in lines[1]
        assert (lines[2], lines[-1]) == ("0.0 MB, 0 %", f"{answer['bytes'] / 10**6:.1f} MB, 100 %")

    def test_copies_several_places(self, fetch, server, map_file):
        fetch("--around", "-23.55,-46.63", "--around", "-23.51,-46.63", "--km", "1", "--from", server.url)

        copied = Reader(MemorySource(map_file.read_bytes()))
        assert all(copied.get(14, *archives.tile_at(latitude, -46.63, 14)) for latitude in (-23.55, -23.51))

    def test_takes_the_newest_map_of_protomaps_without_an_address(self, fetch, server, settings):
        settings.MAP_SOURCE_URL = server.url + "?{day}"

        answer, _said = fetch("--around", "-23.55,-46.63")

        assert answer["from"].startswith(f"{server.url}?20")

    @pytest.mark.parametrize(
        ("url", "code"),
        [
            ("{server}/none", "map_source_missing"),
            ("http://example.com/map.pmtiles", "map_source_refused"),
            ("https://10.0.0.1/map.pmtiles", "map_source_refused"),
            ("file:///etc/passwd", "map_source_refused"),
            ("https://[", "map_source_refused"),
        ],
    )
    def test_of_an_address_without_a_map_is_refused(self, fetch, server, map_file, url, code):
        answer, _said = fetch("--around", "-23.55,-46.63", "--from", url.format(server=server.url[:-12]))

        assert answer["error"] == code
        assert not map_file.exists()

    @pytest.mark.parametrize(("name", "value"), [("--km", "0.5"), ("--km", "101"), ("--km", "nan")])
    def test_refuses_what_is_no_place(self, fetch, map_file, name, value):
        with pytest.raises(CommandError, match="1 to 100 kilometres"):
            fetch("--around", "-23.55,-46.63", name, value)

    def test_refuses_what_is_no_position(self, fetch):
        assert fetch("--around", "91,0")[0]["error"] == "invalid_position"
