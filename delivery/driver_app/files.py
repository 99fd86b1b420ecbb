"""The static files of the app, all of which its service worker keeps on the phone."""

from functools import cache
from hashlib import sha256
from pathlib import Path

from django.templatetags.static import static

_NAME = "driver_app"
_FOLDER = Path(__file__).parents[1] / "static" / _NAME
# Loaded by the service worker itself, which the browser keeps.
_WORKER = "worker.js"


def addresses() -> list[str]:
    """Where the page loads its files from."""
    return [static(f"{_NAME}/{path.name}") for path in _paths() if path.name != _WORKER]


def modules() -> list[str]:
    """The JavaScript modules among them."""
    return [address for address in addresses() if address.endswith(".js")]


@cache
def digest() -> bytes:
    """Changes with each of the files. Read once: they change with a new start of the service only."""
    return sha256(b"".join(path.name.encode() + path.read_bytes() for path in _paths())).digest()


def _paths() -> list[Path]:
    return sorted(_FOLDER.iterdir())
