"""The photo that a simulated driver takes."""

import io

from PIL import Image, ImageDraw, ImageFont

_SIZE = (800, 600)
_BACKGROUND, _PARCEL, _TAPE, _TEXT = "#e8e4dc", "#b98a5a", "#d9b98c", "#202020"


def jpeg(*lines: str) -> bytes:
    """A drawing of a parcel with these lines of text above it."""
    picture = Image.new("RGB", _SIZE, _BACKGROUND)
    draw = ImageDraw.Draw(picture)
    draw.rectangle((250, 270, 550, 510), fill=_PARCEL)
    draw.rectangle((380, 270, 420, 510), fill=_TAPE)
    draw.multiline_text((40, 40), "\n".join(lines), fill=_TEXT, font=ImageFont.load_default(size=36), spacing=12)
    out = io.BytesIO()
    picture.save(out, "JPEG", quality=80)
    return out.getvalue()
