"""Signatures of the Standard Webhooks specification, version `v1` (HMAC-SHA256). Pure."""

import base64
import hashlib
import hmac
import secrets
from collections.abc import Sequence

_PREFIX = "whsec_"
_SECRET_BYTES = 32


def new_secret() -> str:
    """A signing secret, `whsec_` and 32 random bytes in base64."""
    return _PREFIX + base64.b64encode(secrets.token_bytes(_SECRET_BYTES)).decode()


def sign(*, webhook_id: str, timestamp: int, body: bytes, secrets: Sequence[str]) -> str:
    """Value of `webhook-signature`: one `v1,…` for each secret, separated by spaces.

    Source: Standard Webhooks specification, "Signature scheme": the signed content is `id.timestamp.body`.
    """
    content = f"{webhook_id}.{timestamp}.".encode() + body
    return " ".join(f"v1,{_signature(secret, content)}" for secret in secrets)


def _signature(secret: str, content: bytes) -> str:
    key = base64.b64decode(secret.removeprefix(_PREFIX))
    return base64.b64encode(hmac.digest(key, content, hashlib.sha256)).decode()
