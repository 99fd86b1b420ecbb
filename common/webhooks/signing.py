"""Headers of a webhook, with the signature of the Standard Webhooks specification, version `v1` (HMAC-SHA256). Pure."""

import base64
import hashlib
import hmac
import secrets
from collections.abc import Mapping, Sequence

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


def parts(signature: str) -> list[str]:
    """What is secret of a value that `sign` returned: the signatures without their version."""
    return [part.partition(",")[2] for part in signature.split()]


def _signature(secret: str, content: bytes) -> str:
    key = base64.b64decode(secret.removeprefix(_PREFIX))
    return base64.b64encode(hmac.digest(key, content, hashlib.sha256)).decode()


def headers(
    *,
    authorization: Mapping[str, str],
    webhook_id: str,
    timestamp: int,
    signature: str,
    sequence: int,
    is_test: bool,
    about: Mapping[str, str],
) -> dict[str, str]:
    """All headers of a webhook but those that the HTTP client adds: Host, Accept, Accept-Encoding and Content-Length.

    For sending it, and for showing later what was sent. `authorization`: the header by which the endpoint recognises
    the sender, or none. `about`: see `Outbox.headers_about`.
    """
    return {
        **authorization,
        "Content-Type": "application/json",
        "User-Agent": "Rota-Webhooks/1",
        "webhook-id": webhook_id,
        "webhook-timestamp": str(timestamp),
        "webhook-signature": signature,
        "webhook-sequence": str(sequence),
        **({"webhook-test": "true"} if is_test else {}),
        **about,
    }
