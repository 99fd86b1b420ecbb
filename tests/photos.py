"""Photos as phones send them, and what is none."""

import io
from typing import Any

import pillow_heif
from PIL import Image

pillow_heif.register_heif_opener()

_MAKER, _ORIENTATION, _GPS = 0x010F, 0x0112, 0x8825
MAKER = "A maker of phones"


def photo(kind: str = "JPEG", *, size: tuple[int, int] = (64, 48), mode: str = "RGB", **options: Any) -> bytes:
    """A file of this kind in one colour."""
    return encoded(Image.new(mode, size), kind, **options)


def encoded(picture: Image.Image, kind: str, **options: Any) -> bytes:
    out = io.BytesIO()
    picture.save(out, kind, **options)
    return out.getvalue()


def with_scans(count: int, *, size: tuple[int, int] = (64, 48)) -> bytes:
    """A progressive JPEG with so many scans, at least ten: the last one again and again."""
    content = photo(size=size, progressive=True)
    last = content.rindex(b"\xff\xda")
    scans = content.count(b"\xff\xda")
    return content[:last] + content[last:-2] * (count - scans + 1) + content[-2:]


def animated(kind: str) -> bytes:
    frames = [Image.new("RGB", (64, 48), (shade, 0, 0)) for shade in (0, 100, 200)]
    return encoded(frames[0], kind, save_all=True, append_images=frames[1:])


def with_metadata(kind: str = "JPEG") -> bytes:
    """A photo that was taken with the phone upright, left side red, with the place and the maker of the phone."""
    exif = Image.Exif()
    exif[_MAKER], exif[_ORIENTATION] = MAKER, 6  # to be turned by a quarter to the right
    exif[_GPS] = {1: "S", 2: (23.0, 33.0, 41.0)}
    lying = Image.new("RGB", (640, 480), "blue")
    lying.paste("red", (0, 240, 640, 480))  # at the left, once it is turned
    options = {"comment": MAKER.encode()} if kind == "JPEG" else {}
    return encoded(lying, kind, exif=exif.tobytes(), **options)
