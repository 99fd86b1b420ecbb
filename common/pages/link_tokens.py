"""Tokens of links that are computed from the id of a row, so that they cost no column and no write.

AES-SIV (RFC 5297) of the id: the token does not tell the id, from which strangers could count rows, and a forged one is
found with a probability of 2^-128. The keys are derived from SECRET_KEY, which has the former ones behind it.
"""

import base64
import binascii
from collections.abc import Iterator

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESSIV
from django.conf import settings
from django.utils.crypto import salted_hmac

_ID_BYTES = 8
LENGTH = 32  # characters


def make(pk: int, *, salt: str) -> str:
    """The token of a row. `salt` names the kind of link; tokens of another kind are invalid."""
    sealed = next(_ciphers(salt)).encrypt(pk.to_bytes(_ID_BYTES), None)
    return base64.urlsafe_b64encode(sealed).decode()


def read(token: str, *, salt: str) -> int | None:
    """The id of the row with this token, or None if it is no token of this kind."""
    if len(token) != LENGTH:
        return None
    try:
        sealed = base64.b64decode(token, altchars=b"-_", validate=True)
    except (binascii.Error, ValueError):  # ValueError: not ASCII
        return None
    for cipher in _ciphers(salt):
        try:
            return int.from_bytes(cipher.decrypt(sealed, None))
        except InvalidTag:
            continue
    return None


def _ciphers(salt: str) -> Iterator[AESSIV]:
    """Of the key that is used, then of the former ones."""
    for secret in (settings.SECRET_KEY, *settings.SECRET_KEY_FALLBACKS):
        yield AESSIV(salted_hmac(salt, "key", secret, algorithm="sha256").digest())
