"""The side of browsers in Web Push, for tests: keys, and decryption as RFC 8291 and RFC 8188 describe it."""

import base64
import json
import os
from typing import Any

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives import hashes, hmac
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.asymmetric.utils import encode_dss_signature
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat


def encoded(value: bytes) -> str:
    return base64.urlsafe_b64encode(value).rstrip(b"=").decode()


def decoded(text: str) -> bytes:
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))


class Browser:
    """A browser that is subscribed at `endpoint`."""

    def __init__(self, endpoint: str) -> None:
        self._key, self._secret = ec.generate_private_key(ec.SECP256R1()), os.urandom(16)
        self.subscription = {
            "endpoint": endpoint,
            "p256dh": encoded(_point(self._key.public_key())),
            "auth": encoded(self._secret),
        }

    @property
    def body(self) -> dict[str, Any]:
        """What the page posts."""
        endpoint, *_keys = self.subscription.values()
        return {"endpoint": endpoint, "expirationTime": None, "keys": {**self.subscription, "endpoint": None}}

    def decrypt(self, message: bytes) -> dict[str, Any]:
        salt, size = message[:16], message[20]
        sender, encrypted = message[21 : 21 + size], message[21 + size :]
        shared = self._key.exchange(ec.ECDH(), ec.EllipticCurvePublicKey.from_encoded_point(ec.SECP256R1(), sender))
        info = b"WebPush: info\0" + _point(self._key.public_key()) + sender + b"\1"
        key = _hmac(salt, _hmac(_hmac(self._secret, shared), info))
        text = AESGCM(_hmac(key, b"Content-Encoding: aes128gcm\0\1")[:16]).decrypt(
            _hmac(key, b"Content-Encoding: nonce\0\1")[:12], encrypted, None
        )
        assert text[-1:] == b"\2"  # the delimiter of the last record
        content: dict[str, Any] = json.loads(text[:-1])
        return content


def claims(authorization: str) -> dict[str, Any]:
    """The claims of a VAPID header, whose signature is right. Raises InvalidSignature."""
    fields = dict(part.strip().split("=", 1) for part in authorization.removeprefix("vapid ").split(","))
    signed, _dot, signature = fields["t"].rpartition(".")
    raw = decoded(signature)
    if len(raw) != 64:
        raise InvalidSignature
    numbers = (int.from_bytes(half, "big") for half in (raw[:32], raw[32:]))
    key = ec.EllipticCurvePublicKey.from_encoded_point(ec.SECP256R1(), decoded(fields["k"]))
    key.verify(encode_dss_signature(*numbers), signed.encode(), ec.ECDSA(hashes.SHA256()))
    found: dict[str, Any] = json.loads(decoded(signed.split(".")[1]))
    return found


def _hmac(key: bytes, text: bytes) -> bytes:
    made = hmac.HMAC(key, hashes.SHA256())
    made.update(text)
    return made.finalize()


def _point(key: ec.EllipticCurvePublicKey) -> bytes:
    return key.public_bytes(Encoding.X962, PublicFormat.UncompressedPoint)
