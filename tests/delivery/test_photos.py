"""Encoding photos anew, in a real process of its own."""

import io
import resource
import struct
import subprocess
import sys
import zlib

import pytest
from PIL import Image

from config.env import BASE_DIR
from delivery import photo_process, photos
from delivery.errors import InvalidPhoto, PhotosBusy, PhotoTooLarge
from tests.cases import in_turn
from tests.photos import MAKER, animated, encoded, photo, with_metadata, with_scans

KINDS = ["JPEG", "PNG", "WEBP", "HEIF"]


def opened(content):
    return Image.open(io.BytesIO(photos.encode(content).jpeg))


def png_header(width, height):
    """A PNG file that declares so many pixels and has none."""
    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    chunks = [(b"IHDR", header), (b"IDAT", zlib.compress(b"")), (b"IEND", b"")]
    parts = [
        struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data)) for name, data in chunks
    ]
    return b"\x89PNG\r\n\x1a\n" + b"".join(parts)


class TestEncode:
    @pytest.mark.parametrize("kind", KINDS)
    def test_makes_a_jpeg_of(self, kind):
        made = photos.encode(photo(kind))

        assert Image.open(io.BytesIO(made.jpeg)).format == "JPEG"
        assert (made.width, made.height) == (64, 48)

    @pytest.mark.parametrize("kind", KINDS)
    def test_makes_large_photos_smaller(self, kind):
        made = photos.encode(photo(kind, size=(3200, 1000)))

        assert (made.width, made.height) == (1600, 500) == Image.open(io.BytesIO(made.jpeg)).size

    @pytest.mark.parametrize("kind", KINDS)
    def test_applies_the_orientation_and_drops_the_rest_of_the_metadata(self, kind):
        made = opened(with_metadata(kind))

        assert made.size == (480, 640)
        assert made.getpixel((20, 320))[0] > 200  # red at the left
        assert not dict(made.getexif())
        assert set(made.info) == {"jfif", "jfif_version", "jfif_unit", "jfif_density"}
        assert MAKER.encode() not in photos.encode(with_metadata(kind)).jpeg

    def test_shows_transparent_parts_as_white(self):
        made = opened(encoded(Image.new("RGBA", (64, 48), (0, 0, 0, 0)), "PNG"))

        assert made.getpixel((10, 10)) == (255, 255, 255)

    @pytest.mark.parametrize("mode", ["1", "L", "P"])
    def test_takes_pictures_with_few_colours(self, mode):
        assert opened(photo("PNG", mode=mode)).mode == "RGB"

    def test_takes_the_first_picture_of_a_photo_with_a_brighter_copy(self):
        assert opened(animated("MPO")).getpixel((10, 10))[0] < 20

    def test_takes_a_progressive_jpeg_with_as_many_scans_as_are_read(self):
        assert photos.encode(with_scans(100)).width == 64

    @pytest.mark.parametrize("comment", [b"\xff\xda" * 200, b"\xff\xd9\xff\xda"], ids=["scans", "an end"])
    def test_counts_no_scans_in_metadata(self, comment):
        assert photo_process._scans(photo(comment=comment)) == 1
        assert photo_process._scans(photo(comment=comment) + b"\xff\xda" * 200) == 1
        assert photos.encode(photo(comment=comment)).width == 64

    @pytest.mark.parametrize("hiding", [b"\xff\x01\xff\xff", b"\xff\x02\xff\xff", b"\xff\xd0\xff\xff", b"\xff\xff"])
    def test_counts_scans_behind_markers_that_have_no_length(self, hiding):
        content = with_scans(50)
        last = content.rindex(b"\xff\xda")

        assert photo_process._scans(content[:last] + hiding + content[last:]) == 50


class TestRefusal:
    @in_turn(
        ("content", "text"),
        [
            (b"", "no photo in JPEG"),
            (b"#!/bin/sh\nrm -r /", "no photo in JPEG"),
            (b'<svg xmlns="http://www.w3.org/2000/svg"><script>1</script></svg>', "no photo in JPEG"),
            (photo("GIF"), "no photo in JPEG"),
            (photo("TIFF"), "no photo in JPEG"),
            (b"\xff\xd8\xff" + b"<script>alert(1)</script>", "incomplete or damaged"),
            (photo(size=(640, 480), quality=95)[:1000], "incomplete or damaged"),
            (photo("PNG", size=(640, 480))[:-200], "incomplete or damaged"),
            (photo("WEBP", size=(640, 480))[:-50], "incomplete or damaged"),
            (photo("HEIF", size=(640, 480))[:-50], "incomplete or damaged"),
            (png_header(64, 48), "incomplete or damaged"),
            (png_header(10_000, 10_000), "more than 40 megapixels"),
            (png_header(2**31 - 1, 2**31 - 1), "more than 40 megapixels"),
            (animated("PNG"), "animated"),
            (animated("WEBP"), "animated"),
            (photo(mode="CMYK"), "CMYK"),
            (photo("PNG", mode="I;16"), "16 bits"),
            (with_scans(101), "more than 100 scans"),
        ],
    )  # fmt: skip  # a table
    def test_says_what_is_wrong(self, content, text):
        with pytest.raises(InvalidPhoto, match=text):
            photos.encode(content)

    @pytest.mark.parametrize(("kind", "options"), [("JPEG", {}), ("WEBP", {"method": 0})])
    def test_counts_the_pixels_of_a_whole_photo(self, kind, options):
        with pytest.raises(InvalidPhoto, match="more than 40 megapixels"):
            photos.encode(photo(kind, size=(8000, 5001), **options))

    def test_of_more_than_8_mb_reads_nothing(self):
        with pytest.raises(PhotoTooLarge):
            photos.encode(photo() + b"\0" * photos.MOST_BYTES)

    def test_of_many_scans_takes_no_time(self):
        content = with_scans(3000, size=(6000, 6000))
        before = resource.getrusage(resource.RUSAGE_CHILDREN)

        with pytest.raises(InvalidPhoto):
            photos.encode(content)

        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        assert after.ru_utime - before.ru_utime < 1

    def test_of_a_photo_that_takes_too_long(self, monkeypatch):
        monkeypatch.setattr(photos, "_MOST_SECONDS", 0.001)

        with pytest.raises(InvalidPhoto, match="too long"):
            photos.encode(photo())

    def test_of_a_second_photo_while_one_is_encoded(self, monkeypatch):
        monkeypatch.setattr(photos, "_WAIT_SECONDS", 0.01)

        with photos._encoding, pytest.raises(PhotosBusy):
            photos.encode(photo())

        assert photos.encode(photo()).width == 64


class TestProcess:
    def test_has_no_access_to_the_secrets_of_the_service(self, monkeypatch, tmp_path, caplog):
        program = tmp_path / "program.py"
        program.write_text("import os, sys\nsys.stdout.write(f'has {sorted(os.environ)}')\nsys.exit(3)\n")
        monkeypatch.setattr(photo_process, "__file__", str(program))
        monkeypatch.setenv("SECRET_KEY", "x")

        with pytest.raises(InvalidPhoto):
            photos.encode(photo())

        assert "has [" in caplog.text
        assert "SECRET_KEY" not in caplog.text

    @pytest.mark.parametrize(
        ("limit", "value", "output"), [("_MOST_MEMORY", 150 << 20, b"memory"), ("_MOST_CPU", 0, b"")]
    )
    def test_has_limits(self, limit, value, output):
        code = f"import sys; sys.path.insert(0, {str(BASE_DIR)!r})\nfrom delivery import photo_process as program\n"
        command = [sys.executable, "-I", "-c", f"{code}program.{limit} = {value}\nprogram.main()"]

        process = subprocess.run(command, input=photo("PNG", size=(8000, 5000)), capture_output=True, check=False)

        assert process.returncode != 0
        assert process.stdout == output
