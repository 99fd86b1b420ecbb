"""Which of the two APIs a path belongs to."""

import posixpath
from enum import Enum
from functools import lru_cache
from urllib.parse import unquote


class Area(Enum):
    """The two APIs of the specification."""

    A = "immediate delivery"
    B = "order integration"


@lru_cache(maxsize=64)  # several middlewares ask about the same request
def area_of(path: str) -> Area | None:
    """The API whose error bodies a request to `path` gets; None for a page.

    Near misses of the endpoints' paths belong to an API too, so that a client with a wrong base URL reads JSON and not
    a page: `//api/x`, `/API/x`, `/api`, `/apix`, `/x/../api/y`, and slashes or dots that are percent-encoded twice
    (the server has decoded them once).
    """
    decoded = unquote(path).replace("\\", "/").lower()
    normalised = posixpath.normpath(f"/{decoded.lstrip('/')}")
    if normalised.startswith("/api/integration"):
        return Area.B
    return Area.A if normalised.startswith("/api") else None
