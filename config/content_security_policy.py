"""The Content-Security-Policy of pages and of answers of the APIs. `config.site` extends the former for the admin."""

from typing import Any
from urllib.parse import urlsplit

from csp.constants import NONE, SELF

# Of the APIs: JSON and photos load nothing. `sandbox`: what a browser shows of one has no origin and runs nothing.
OF_ANSWERS = "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; sandbox"


def policy(*, tiles: str) -> dict[str, Any]:
    """The setting CONTENT_SECURITY_POLICY. `tiles` is the URL of map tiles, whose origin is allowed, or empty."""
    return {
        "DIRECTIVES": {
            "default-src": [NONE],
            "script-src": [SELF],
            "style-src": [SELF],
            "font-src": [SELF],
            "img-src": [SELF, "data:", *([_origin(tiles)] if tiles else [])],
            "connect-src": [SELF],
            "manifest-src": [SELF],  # of the driver's app
            "object-src": [NONE],
            "form-action": [SELF],
            "base-uri": [NONE],
            "frame-ancestors": [NONE],
        }
    }


def _origin(tiles: str) -> str:
    # {s} is the subdomain, which Leaflet chooses.
    return "{0.scheme}://{0.netloc}".format(urlsplit(tiles)).replace("{s}", "*")
