"""Decodes one photo and encodes it anew as JPEG. A program of its own, which `delivery.photos` starts for each photo.

Decoders are large, written in C, and read what strangers send. In a process of its own a photo has a limit of memory
and of time, and one that crashes the decoder ends nothing else. Imports nothing of the project, so that it starts fast.

Reads the photo from standard input. Writes "WIDTH HEIGHT", a line feed and the JPEG to standard output, or exits with
status REFUSED and writes why.
"""

import io
import re
import resource
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from PIL.Image import Image

REFUSED = 3
_MOST_MEMORY = 1024 * 1024 * 1024  # bytes of address space
_MOST_CPU = 3  # seconds
_MOST_PIXELS = 40_000_000
_MOST_SCANS = 100  # of a JPEG; progressive ones have about ten
_LONGEST_SIDE = 1600  # of the JPEG
_QUALITY = 85
# Where a file's signature is and what it is. HEIC files name one of several brands.
_SIGNATURES = {
    "JPEG": (0, b"\xff\xd8\xff"),
    "PNG": (0, b"\x89PNG\r\n\x1a\n"),
    "WEBP": (8, b"WEBP"),
    "HEIF": (4, b"ftyp"),
}
_BRANDS = (b"heic", b"heix", b"mif1")
_PNG_DEPTH = 24  # offset of the byte with the number of bits of a sample
_DEEP = 16
# The markers of a JPEG that decoders read, each with a length behind it but the last. Between them are others that have
# none: stuffed bytes (00), padding (FF), restarts (D0 to D7), and what decoders refuse.
_MARKER = re.compile(rb"\xff([\xc0-\xcf\xd8-\xfe])")
_SCAN, _END = b"\xda", b"\xd9"


class Refusal(Exception):
    """Why the photo is not taken: `format`, `pixels`, `animated`, `colours`, `depth` or `scans`."""


def main() -> None:
    _limit(resource.RLIMIT_AS, _MOST_MEMORY)
    _limit(resource.RLIMIT_CPU, _MOST_CPU)
    try:
        size, jpeg = encoded(sys.stdin.buffer.read())
    except Refusal as refusal:
        why = str(refusal)
    except MemoryError:
        why = "memory"
    except Exception as error:  # noqa: BLE001  # decoders raise what they like; `delivery.photos` logs it
        why = f"damaged {type(error).__name__}: {error}"[:500]
    else:
        sys.stdout.buffer.write(b"%d %d\n" % size + jpeg)
        return
    sys.stdout.write(why)
    sys.exit(REFUSED)


def _limit(kind: int, most: int) -> None:
    _soft, hard = resource.getrlimit(kind)
    resource.setrlimit(kind, (most if hard == resource.RLIM_INFINITY else min(most, hard), hard))


def encoded(content: bytes) -> tuple[tuple[int, int], bytes]:
    """Width and height, and the JPEG: upright, without metadata. Raises Refusal, or what the decoder raises."""
    from PIL import Image, ImageOps  # after the limits are set

    kind = _format(content)
    if kind == "JPEG" and _scans(content) > _MOST_SCANS:
        raise Refusal("scans")
    if kind == "HEIF":
        import pillow_heif

        pillow_heif.register_heif_opener(thumbnails=False)
    Image.MAX_IMAGE_PIXELS = None  # `_check` compares them, and refuses instead of warning
    with Image.open(io.BytesIO(content), formats=[kind]) as photo:
        _check(photo, content)
        photo.thumbnail((_LONGEST_SIDE, _LONGEST_SIDE))  # lets the decoder of JPEG skip what is not needed
        upright = ImageOps.exif_transpose(photo)
    # A new picture, because others keep comments and profiles, which would be written again.
    clean = Image.new("RGB", upright.size, "white")
    if upright.has_transparency_data:
        upright = upright.convert("RGBA")
        clean.paste(upright, mask=upright)
    else:
        clean.paste(upright.convert("RGB"))
    out = io.BytesIO()
    clean.save(out, "JPEG", quality=_QUALITY, optimize=True)
    return clean.size, out.getvalue()


def _format(content: bytes) -> str:
    """Pillow's name of the format, by the content."""
    for name, (offset, signature) in _SIGNATURES.items():
        if content.startswith(signature, offset) and (name != "HEIF" or content[8:12] in _BRANDS):
            return name
    raise Refusal("format")


def _scans(content: bytes) -> int:
    """How many scans a JPEG has. Each takes time for every pixel, however few bytes it has."""
    count, marker = 0, _MARKER.search(content, 2)  # behind the signature
    while marker is not None and marker[1] != _END:
        count += marker[1] == _SCAN
        length = int.from_bytes(content[marker.end() : marker.end() + 2])
        marker = _MARKER.search(content, marker.end() + length)
    return count


def _check(photo: "Image", content: bytes) -> None:
    """Refuse by the header, before a pixel is decoded."""
    if photo.width * photo.height > _MOST_PIXELS:
        raise Refusal("pixels")
    # MPO is JPEG with further pictures, such as the brighter copy of a phone's photo. The first one is taken.
    if photo.format != "MPO" and getattr(photo, "is_animated", False):
        raise Refusal("animated")
    if photo.format == "PNG" and content[_PNG_DEPTH] == _DEEP:
        raise Refusal("depth")
    if photo.mode not in ("1", "L", "LA", "P", "PA", "RGB", "RGBA", "RGBX"):
        raise Refusal("colours")


if __name__ == "__main__":
    main()
