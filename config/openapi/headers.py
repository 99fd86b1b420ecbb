"""Headers that requests and answers of several endpoints have."""

from typing import Any

# Of requests.
IDEMPOTENCY_KEY: dict[str, Any] = {
    "name": "Idempotency-Key",
    "in": "header",
    "description": "A name for this call, new for each delivery or order. Calls with the same key and body take effect "
    "once and are answered alike for 24 hours.",
    # Without an example: the reference would send it with each call, and be answered with the first one's delivery.
    "schema": {"type": "string", "minLength": 1, "maxLength": 255, "pattern": "^[ -~]+$"},
}
PREFER: dict[str, Any] = {
    "name": "Prefer",
    "in": "header",
    "description": "`handling=strict` refuses unknown keys and parameters, and probable mistakes, instead of naming "
    "them in `Rota-Warnings`.",
    "schema": {"type": "string", "enum": ["handling=strict", "handling=lenient"]},
}

# Of answers.
_TEXT = {"type": "string"}
_DESCRIBED: dict[str, tuple[str, dict[str, Any]]] = {
    "X-Request-Id": ("The id of this call, as in our logs and on the page of refused calls.", _TEXT),
    "RateLimit-Policy": ("The limits of the token or key (IETF draft RateLimit header fields).", _TEXT),
    "RateLimit": ("How many calls are left within each limit.", _TEXT),
    "Rota-Warnings": ("Unknown keys and parameters, and probable mistakes in the body (a list of RFC 9651).", _TEXT),
    "Preference-Applied": ("`handling=strict`, if it was asked for.", _TEXT),
    "Idempotency-Replayed": (
        "`true` if this is the stored answer of an earlier call.",
        {"type": "string", "enum": ["true"]},
    ),
    "Retry-After": ("Seconds after which the call may be repeated.", {"type": "integer", "minimum": 1}),
    "WWW-Authenticate": ("The scheme to authenticate with.", _TEXT),
    "Allow": ("The methods of the path.", _TEXT),
}
ANSWER = {name: {"description": text, "schema": schema} for name, (text, schema) in _DESCRIBED.items()}
OF_EVERY_CALL = ("X-Request-Id",)
OF_AUTHENTICATED_CALLS = ("RateLimit-Policy", "RateLimit")
OF_BODIES_AND_QUERIES = ("Rota-Warnings", "Preference-Applied")
OF_IDEMPOTENT_CALLS = ("Idempotency-Replayed",)
BY_STATUS = {
    401: ("WWW-Authenticate",),
    405: ("Allow",),
    409: ("Retry-After",),
    429: ("Retry-After",),
    503: ("Retry-After",),
}
