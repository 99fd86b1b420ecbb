"""Extraction of an API key from an Authorization header. Pure."""

import base64
import binascii

PREFIX = "rota_key_"


def find(header: bytes) -> str:
    """The key in the header, or an empty string.

    Accepts `Basic <key>` as specified, and the base64 form of RFC 7617, with the key as user name or as password, which
    is what HTTP clients send.
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
