"""Who makes a heavy call (`config.server.heavy_calls`)."""

import hashlib
import logging
from typing import Any

from django.conf import settings
from django.contrib.auth import SESSION_KEY
from django.contrib.sessions.backends.db import SessionStore
from django.db import Error, close_old_connections
from django.http import parse_cookie

from config.areas import area_of
from config.server.limits import LONGEST_HEADER
from integration.api.authentication import key_in
from integration.models import ApiKey

_log = logging.getLogger(__name__)


def caller_of(environ: dict[str, Any]) -> bytes | None:
    """Digest of the valid key of a call, or of the person who is logged in. None: there is none, or it is not known.

    A call without a caller is to be answered as any other: it is refused, or redirected to the log-in, before anything
    heavy begins. For a thread, before Django handles the request.
    """
    close_old_connections()  # as Django does when it begins with a request
    try:
        known = _key(environ) if area_of(environ["PATH_INFO"]) else _person(environ)
    except Error as error:
        _log.warning("The caller of a heavy call could not be looked up: %s", error)
        return None
    return hashlib.sha256(known.encode()).digest() if known else None


def _key(environ: dict[str, Any]) -> str:
    clear_text = key_in(_header(environ, "HTTP_AUTHORIZATION").encode("latin-1"))  # as REST framework encodes it
    key = ApiKey.find(clear_text) if clear_text else None
    return f"key {key.pk}" if key and key.revoked_at is None else ""


def _person(environ: dict[str, Any]) -> str:
    """What a page asks for by itself counts apart, so that a person can open a report while an upload is worked on."""
    cookie = parse_cookie(_header(environ, "HTTP_COOKIE")).get(settings.SESSION_COOKIE_NAME)
    person = SessionStore(cookie).get(SESSION_KEY) if cookie else None
    return f"person {person} {'HTTP_HX_REQUEST' in environ}" if person else ""


def _header(environ: dict[str, Any], name: str) -> str:
    """The value of a header, unless it is one that is refused: parsing it could take long."""
    value: str = environ.get(name, "")
    return value if len(value) <= LONGEST_HEADER else ""
