"""Secrets at rest: digests for looking up tokens and keys, Fernet for what is needed in clear text again."""

import hashlib
import secrets
from contextlib import suppress
from functools import cache, lru_cache

from cryptography.fernet import Fernet, InvalidToken, MultiFernet
from django.conf import settings

# Beginnings of the credentials of both APIs: tokens of immediate delivery, and keys of order
# integration, of sellers and of carriers.
LIVE_TOKEN, SANDBOX_TOKEN = "rota_live_", "rota_test_"
LIVE_KEY, SANDBOX_KEY = "rota_key_", "rota_testkey_"
CARRIER_KEY = "rota_carrierkey_"
KEYS = (LIVE_KEY, SANDBOX_KEY, CARRIER_KEY)
_RANDOM_BYTES = 32  # 256 bits
_HINT_TAIL = 4


def random_token(prefix: str) -> str:
    """A new secret of 256 random bits with a prefix that names its kind."""
    return prefix + secrets.token_urlsafe(_RANDOM_BYTES)


def digest(token: str) -> bytes:
    """SHA-256. A plain digest is enough: a token has 256 bits of entropy, which rules out a brute-force search."""
    return hashlib.sha256(token.encode()).digest()


def hint(prefix: str, token: str) -> str:
    """Prefix and last characters of a token, by which people recognise it."""
    return f"{prefix}…{token[-_HINT_TAIL:]}"


def encrypt(secret: str) -> str:
    """Ciphertext under the first of CREDENTIALS_KEYS."""
    return _fernet(_keys()).encrypt(secret.encode()).decode()


def decrypt(ciphertext: str) -> str:
    """Clear text under whichever of CREDENTIALS_KEYS made it. Raises cryptography.fernet.InvalidToken otherwise."""
    return _decrypted(ciphertext, _keys())


def decrypt_uncached(ciphertext: str) -> str:
    """As `decrypt`, for large texts, of which the cache would keep thousands in memory."""
    return _fernet(_keys()).decrypt(ciphertext.encode()).decode()


def reencrypt(ciphertext: str) -> str:
    """The same text under the first of CREDENTIALS_KEYS. Raises InvalidToken when none of them made it."""
    return _fernet(_keys()).rotate(ciphertext.encode()).decode()


def fingerprint(secret: str) -> str:
    """Identifies a secret without revealing it: 48 bits of its SHA-256. The secret must be random and long."""
    return hashlib.sha256(secret.encode()).hexdigest()[:12]


def first_key() -> str:
    """Fingerprint of the key that encrypts."""
    return fingerprint(_keys()[0])


def key_of(ciphertext: str) -> str:
    """Fingerprint of the one of CREDENTIALS_KEYS that made a ciphertext. Raises InvalidToken when none did."""
    for key in _keys():
        with suppress(InvalidToken):
            _fernet((key,)).decrypt(ciphertext.encode())
            return fingerprint(key)
    raise InvalidToken


def _keys() -> tuple[str, ...]:
    return tuple(settings.CREDENTIALS_KEYS)


# Cached, because a ciphertext always decrypts to the same text. Validity is checked elsewhere, on each use.
@lru_cache(maxsize=4096)
def _decrypted(ciphertext: str, keys: tuple[str, ...]) -> str:
    return _fernet(keys).decrypt(ciphertext.encode()).decode()


@cache
def _fernet(keys: tuple[str, ...]) -> MultiFernet:
    return MultiFernet([Fernet(key) for key in keys])
