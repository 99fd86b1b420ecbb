"""Pages that open without a connection.

Each has a shell, which holds nothing of a person, its files, and a service worker that keeps both on the device. Their
common scripts and styles are in `common/static/offline/`; `common.pages.device_data` reads what they send.
"""

import json
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256
from pathlib import Path

from django.contrib.staticfiles import finders
from django.http import HttpResponse
from django.template.loader import render_to_string
from django.templatetags.static import static
from django.urls import reverse

_COMMON = Path(__file__).parent.parent / "static" / "offline"
_OF_ALL = ("panel/colours.css", "panel/theme.js", "panel/old_browsers.js")  # which the panel has too
# What the browser keeps itself, with the service worker.
_WORKER = "worker.js"


@dataclass(frozen=True)
class OfflinePage:
    """`name` is that of what browsers keep of it: never changed, or they keep what is under the one before for ever.

    `folder` has its static files, whose names begin with the folder's. `url` is the name of its shell's URL.

    `render` makes the shell, in the language of the request, from the addresses of its modules. `others` are further
    static files, `later` those that a device keeps once they have been used.
    """

    name: str
    folder: Path
    url: str
    render: Callable[[list[str]], str]
    others: tuple[str, ...] = ()
    later: tuple[str, ...] = ()

    def shell(self) -> HttpResponse:
        return HttpResponse(self._shell())

    def service_worker(self) -> HttpResponse:
        """Its text, and so its version, changes with each file of the page and with the language."""
        settings = {
            "name": self.name,
            "version": sha256(self._digest + self._shell().encode()).hexdigest()[:16],
            "shell": reverse(self.url),
            "files": [static(name) for name in self._files if not name.endswith(f"/{_WORKER}")],
            "later": [static(name) for name in self.later],
        }
        workers = [static(name) for name in self._files if name.endswith(f"/{_WORKER}")]
        text = {"settings": json.dumps(settings), "scripts": ", ".join(map(json.dumps, workers))}
        script = render_to_string("offline/sw.js", text)
        return HttpResponse(script, content_type="text/javascript; charset=utf-8")

    def _shell(self) -> str:
        folders = (f"{_COMMON.name}/", f"{self.folder.name}/")
        scripts = (name for name in self._files if name.startswith(folders) and name.endswith(".js"))
        return self.render([static(name) for name in scripts if not name.endswith(f"/{_WORKER}")])

    @cached_property
    def _digest(self) -> bytes:
        """Of the files. Computed once: they change with a new start of the service only."""
        names = {**self._files, **{name: _found(name) for name in self.later}}
        return sha256(b"".join(name.encode() + path.read_bytes() for name, path in names.items())).digest()

    @property
    def _files(self) -> dict[str, Path]:
        """By the names that they are served by."""
        own = {
            f"{folder.name}/{path.name}": path for folder in (_COMMON, self.folder) for path in sorted(folder.iterdir())
        }
        return own | {name: _found(name) for name in (*_OF_ALL, *self.others)}


def _found(name: str) -> Path:
    return Path(str(finders.find(name)))
