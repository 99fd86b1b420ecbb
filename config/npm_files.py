"""Static files from npm packages, which `npm ci` puts into node_modules."""

from collections.abc import Iterable, Iterator
from typing import Any

from django.contrib.staticfiles.finders import BaseFinder
from django.core.files.storage import FileSystemStorage

from config.env import BASE_DIR, StartRefused

_FOLDER = BASE_DIR / "node_modules"
# What pages load; nothing else of the packages is served. Below /static/npm/.
FILES = (
    "@zxing/library/umd/index.min.js",
    "htmx.org/dist/htmx.min.js",
    "leaflet/dist/leaflet.css",
    "leaflet/dist/leaflet.js",
    "protomaps-leaflet/dist/protomaps-leaflet.js",
    "swagger-ui-dist/swagger-ui-bundle.js",
    "swagger-ui-dist/swagger-ui.css",
)


def refuse_missing() -> None:
    """Raise StartRefused if one of the files is missing."""
    if missing := [name for name in FILES if not (_FOLDER / name).is_file()]:
        raise StartRefused(f"Rota does not start without node_modules/{missing[0]}: run `npm ci` in {BASE_DIR}")


class NpmFinder(BaseFinder):
    """Finds FILES under the prefix `npm`."""

    def __init__(self, *_arguments: Any) -> None:
        self._storage = FileSystemStorage(location=_FOLDER)
        self._storage.prefix = "npm"  # type: ignore[attr-defined]  # Django's finders set it so

    def check(self, **_options: Any) -> list[Any]:
        return []

    def find(self, path: str, find_all: bool = False, **_options: Any) -> Any:
        found = [str(_FOLDER / name) for name in FILES if path == f"npm/{name}"]
        return found if find_all else next(iter(found), None)

    def list(self, ignore_patterns: Iterable[str] | None) -> Iterator[Any]:
        """Raises StartRefused."""
        refuse_missing()
        for name in FILES:
            yield name, self._storage
