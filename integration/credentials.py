"""API keys: made, digested, and found in an Authorization header. Only the digest is ever kept."""

import base64
import binascii
import hashlib
import secrets

PREFIX = "rota_key_"
_RANDOM_BYTES = 32  # 256 bits
_HINT_TAIL = 4


def new_key() -> str:
    """A new key of 256 random bits behind a prefix that tells people what they are looking at."""
    return PREFIX + secrets.token_urlsafe(_RANDOM_BYTES)


def digest(key: str) -> bytes:
    """SHA-256. A key has 256 bits of entropy, so a plain digest cannot be searched back."""
    return hashlib.sha256(key.encode()).digest()


def hint(key: str) -> str:
    """Its beginning and end, for people to tell keys apart."""
    return f"{PREFIX}…{key[-_HINT_TAIL:]}"


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
