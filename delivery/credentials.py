"""Secrets at rest: a digest to look a token up by, and Fernet for what must be sent again in clear text."""

import hashlib
import secrets
from functools import cache, lru_cache

from cryptography.fernet import Fernet, MultiFernet
from django.conf import settings

_RANDOM_BYTES = 32  # 256 bits


def random_token(prefix: str) -> str:
    """A new secret of 256 random bits behind a prefix that tells people what they are looking at."""
    return prefix + secrets.token_urlsafe(_RANDOM_BYTES)


def digest(token: str) -> bytes:
    """SHA-256. A token has 256 bits of entropy, so a plain digest cannot be searched back."""
    return hashlib.sha256(token.encode()).digest()


def encrypt(secret: str) -> str:
    """Ciphertext under the first of CREDENTIALS_KEYS."""
    return _fernet().encrypt(secret.encode()).decode()


# A ciphertext always means the same text; who may use it is asked elsewhere, each time.
@lru_cache(maxsize=4096)
def decrypt(ciphertext: str) -> str:
    """Clear text under whichever of CREDENTIALS_KEYS made it. Raises cryptography.fernet.InvalidToken otherwise."""
    return _fernet().decrypt(ciphertext.encode()).decode()


@cache
def _fernet() -> MultiFernet:
    return MultiFernet([Fernet(key) for key in settings.CREDENTIALS_KEYS])
