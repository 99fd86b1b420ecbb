"""API keys in an Authorization header. Pure."""

import base64
import binascii

PREFIX = "rota_key_"


def find(header: bytes) -> str:
    """The key in an Authorization header, empty when there is none.

    `Basic <key>` as the specification has it, and RFC 7617's base64 of `key:` or `anything:key`, which is what HTTP
    clients build.
    """
    scheme, _space, rest = header.strip().partition(b" ")
    credentials = rest.strip()
    if scheme.lower() != b"basic" or not credentials.isascii():
        return ""
    for part in (credentials.decode(), *_decoded(credentials)):
        if part.startswith(PREFIX) and part.isascii():
            return part
    return ""


def _decoded(credentials: bytes) -> list[str]:
    try:
        user, _colon, password = base64.b64decode(credentials, validate=True).decode().partition(":")
    except (binascii.Error, UnicodeDecodeError):
        return []
    return [user, password]
