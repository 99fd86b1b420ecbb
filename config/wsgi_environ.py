"""The WSGI environ of an RSGI request."""

import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from granian.rsgi import Scope

# Stands in the WSGI environ for the value of a header that granian does not give, because it is not ASCII.
NOT_ASCII = "\xff"


def environ_of(scope: "Scope") -> dict[str, Any]:
    """PEP 3333's environ without the body.

    A header whose name holds an underscore is dropped, as nginx does: `X_Forwarded_For` would otherwise be the same
    key as the `X-Forwarded-For` that a proxy sets. A value with other bytes than ASCII is NOT_ASCII, so that it is
    refused where it has a meaning: without its Idempotency-Key, a repeated request would create a second delivery.
    """
    host, _colon, port = scope.server.rpartition(":")
    environ: dict[str, Any] = {
        "REQUEST_METHOD": scope.method,
        "SCRIPT_NAME": "",
        "PATH_INFO": _wsgi_text(scope.path),
        "QUERY_STRING": _wsgi_text(scope.query_string),
        "SERVER_NAME": host,
        "SERVER_PORT": port,
        "SERVER_PROTOCOL": f"HTTP/{scope.http_version}",
        "REMOTE_ADDR": scope.client.rpartition(":")[0].strip("[]"),
        "wsgi.version": (1, 0),
        "wsgi.url_scheme": scope.scheme,
        "wsgi.errors": sys.stderr,
        "wsgi.multithread": True,
        "wsgi.multiprocess": True,
        "wsgi.run_once": False,
    }
    for name, value in scope.headers.items():
        if "_" in name:
            continue
        key = _environ_key(name)
        if not key.startswith("HTTP_"):
            environ[key] = value
            continue
        separator = "; " if key == "HTTP_COOKIE" else ","
        environ[key] = f"{environ[key]}{separator}{value}" if key in environ else value
    for name in scope.headers.keys():  # noqa: SIM118  # not a dict: `items` leaves out what is not ASCII
        if "_" not in name:
            environ.setdefault(_environ_key(name), NOT_ASCII)
    if scope.http_version == "1.1":
        environ.setdefault("HTTP_HOST", "")  # which Django refuses, as RFC 9112 (3.2) demands
    return environ


def _environ_key(header: str) -> str:
    key = header.upper().replace("-", "_")
    return key if key in ("CONTENT_TYPE", "CONTENT_LENGTH") else f"HTTP_{key}"


def _wsgi_text(text: str) -> str:
    """WSGI strings represent bytes as latin-1."""
    return text if text.isascii() else text.encode().decode("latin-1")
