"""Encryption of Web Push messages (RFC 8291, RFC 8188) and identification of the sender (VAPID, RFC 8292). Pure.

Not by the package http-ece, which the library pywebpush uses for this: it has no wheel, so its installation would
execute build tools whose hashes no lock file holds.
"""

import base64
import binascii
import json
import os
from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any, NamedTuple, Self
from urllib.parse import urlsplit

from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.asymmetric.utils import decode_dss_signature
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

_CURVE = ec.SECP256R1()
_SCALAR_BYTES, _POINT_BYTES, _SECRET_BYTES, _SALT_BYTES = 32, 65, 16, 16
# The whole message is one record; push services refuse messages of more than 4096 bytes.
_RECORD_BYTES = 4096
_LAST_RECORD = b"\x02"
# Push services refuse tokens that are valid for more than a day.
_TOKEN_TTL = timedelta(hours=12)


class InvalidKey(ValueError):
    """A key that is not what Web Push needs."""


class Recipient(NamedTuple):
    """The keys of a browser's subscription: the public key and the shared authentication secret."""

    public: ec.EllipticCurvePublicKey
    secret: bytes

    @classmethod
    def read(cls, p256dh: str, auth: str) -> Self:
        """The recipient from the texts of the subscription. Raises InvalidKey."""
        point, secret = _decode(p256dh), _decode(auth)
        if len(point) != _POINT_BYTES or len(secret) != _SECRET_BYTES:
            raise InvalidKey("The keys of the subscription have other lengths.")
        try:
            return cls(ec.EllipticCurvePublicKey.from_encoded_point(_CURVE, point), secret)
        except ValueError as error:
            raise InvalidKey("The subscription's key is no point of the curve.") from error


def encrypt(
    text: bytes, to: Recipient, *, sender: ec.EllipticCurvePrivateKey | None = None, salt: bytes | None = None
) -> bytes:
    """The body of a message in the content coding `aes128gcm`. `sender` and `salt` are given in tests only."""
    sender, salt = sender or ec.generate_private_key(_CURVE), salt or os.urandom(_SALT_BYTES)
    public = _point(sender.public_key())
    info = b"WebPush: info\0" + _point(to.public) + public
    key = _derived(sender.exchange(ec.ECDH(), to.public), salt=to.secret, info=info, length=32)
    content_key = _derived(key, salt=salt, info=b"Content-Encoding: aes128gcm\0", length=16)
    nonce = _derived(key, salt=salt, info=b"Content-Encoding: nonce\0", length=12)
    head = salt + _RECORD_BYTES.to_bytes(4, "big") + len(public).to_bytes(1, "big") + public
    return head + AESGCM(content_key).encrypt(nonce, text + _LAST_RECORD, None)


def new_key() -> str:
    """A private key as the setting VAPID_PRIVATE_KEY has it."""
    number = ec.generate_private_key(_CURVE).private_numbers().private_value
    return _encode(number.to_bytes(_SCALAR_BYTES, "big"))


def private_key(text: str) -> ec.EllipticCurvePrivateKey:
    """The key from a text that `new_key` made. Raises InvalidKey."""
    scalar = _decode(text)
    if len(scalar) != _SCALAR_BYTES:
        raise InvalidKey("A private key has 32 bytes.")
    try:
        return ec.derive_private_key(int.from_bytes(scalar, "big"), _CURVE)
    except ValueError as error:
        raise InvalidKey("The number is no private key of the curve.") from error


def public_key(key: ec.EllipticCurvePrivateKey) -> str:
    """The public key as browsers want it: `applicationServerKey`."""
    return _encode(_point(key.public_key()))


def authorization(url: str, *, key: ec.EllipticCurvePrivateKey, subject: str, at: datetime) -> str:
    """The header that tells the push service at `url` who sends. `subject`: a mailto: or https: URL."""
    parts = urlsplit(url)
    claims = {
        "aud": f"{parts.scheme}://{parts.netloc}",
        "exp": int((at + _TOKEN_TTL).timestamp()),
        "sub": subject,
    }
    signed = f"{_json({'typ': 'JWT', 'alg': 'ES256'})}.{_json(claims)}"
    r, s = decode_dss_signature(key.sign(signed.encode(), ec.ECDSA(hashes.SHA256())))
    signature = _encode(r.to_bytes(_SCALAR_BYTES, "big") + s.to_bytes(_SCALAR_BYTES, "big"))
    return f"vapid t={signed}.{signature}, k={public_key(key)}"


def _derived(secret: bytes, *, salt: bytes, info: bytes, length: int) -> bytes:
    return HKDF(algorithm=hashes.SHA256(), length=length, salt=salt, info=info).derive(secret)


def _point(key: ec.EllipticCurvePublicKey) -> bytes:
    return key.public_bytes(Encoding.X962, PublicFormat.UncompressedPoint)


def _json(value: Mapping[str, Any]) -> str:
    return _encode(json.dumps(value, separators=(",", ":")).encode())


def _encode(value: bytes) -> str:
    return base64.urlsafe_b64encode(value).rstrip(b"=").decode()


def _decode(text: str) -> bytes:
    """Base64 in the alphabet for URLs, with or without padding. Raises InvalidKey."""
    try:
        return base64.b64decode(text.rstrip("=") + "=" * (-len(text.rstrip("=")) % 4), altchars=b"-_", validate=True)
    except (binascii.Error, ValueError) as error:
        raise InvalidKey("The key is not in base64url.") from error
