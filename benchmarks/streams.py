"""What a page reads of the streams of page updates."""

import json

MOST_BYTES = 2**20  # of a line, in aiohttp's reader


def told(data: str) -> tuple[list[str], bool]:
    """The ids in an event's data, and whether what pages show of them is there too, so that they do not ask for it."""
    return (json.loads(data)["ids"], True) if data.startswith("{") else (data.split(" "), False)
