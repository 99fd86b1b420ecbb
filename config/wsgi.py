"""WSGI entry point, served by granian."""

import io
import os
from collections.abc import Iterable
from typing import TYPE_CHECKING

from django.core.wsgi import get_wsgi_application

if TYPE_CHECKING:
    from _typeshed.wsgi import StartResponse, WSGIEnvironment

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
# Here threads come and go with the requests. A worker's keep their connection; Celery would close a pool under them.
os.environ.setdefault("DATABASE_POOL", "10")

# More than any endpoint takes, so that each refuses what is too large in its own words.
_MOST_BYTES = 4 * 1024 * 1024

_django = get_wsgi_application()


def application(environ: "WSGIEnvironment", start_response: "StartResponse") -> Iterable[bytes]:
    """Django, with the length of a chunked body made known: without Content-Length it takes a body for empty."""
    if environ.get("HTTP_TRANSFER_ENCODING") and not environ.get("CONTENT_LENGTH"):
        body = environ["wsgi.input"].read(_MOST_BYTES)
        environ["wsgi.input"] = io.BytesIO(body)
        environ["CONTENT_LENGTH"] = str(len(body))
    return _django(environ, start_response)
