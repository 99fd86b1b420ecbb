"""Headers of requests and answers that several operations have."""

from typing import Any

from config.openapi.operation import Parameter

IDEMPOTENCY_KEY = Parameter(
    "Idempotency-Key",
    "header",
    "A name for this call, new for each delivery or order. Calls with the same key and body take effect once and are "
    "answered alike for 24 hours.",
    # Without an example: the reference would send it with each call, and be answered with the first one's delivery.
    {"type": "string", "minLength": 1, "maxLength": 255, "pattern": "^[ -~]+$"},
)
PREFER = Parameter(
    "Prefer",
    "header",
    "`handling=strict` refuses unknown keys and parameters, and probable mistakes, instead of naming them in "
    "`Rota-Warnings`.",
    {"type": "string", "enum": ["handling=strict", "handling=lenient"]},
)
QUOTE_ID = Parameter(
    "Quote-Id", "header", "The `Quote-Id` of a quote for the same trip, less than ten minutes old: its price is kept."
)
SANDBOX_SPEED = Parameter(
    "Sandbox-Speed",
    "header",
    "How many times as fast the simulated driver is. Ignored with a live token.",
    {"type": "number", "minimum": 1, "maximum": 120, "default": 1},
)

_TEXT = {"type": "string"}
# Headers of answers: description and schema by name.
RESPONSE: dict[str, tuple[str, dict[str, Any]]] = {
    "X-Request-Id": ("The id of this call, as in our logs and on the page of refused calls.", _TEXT),
    "RateLimit-Policy": ("The limits of the token or key (IETF draft RateLimit header fields).", _TEXT),
    "RateLimit": ("How many calls are left within each limit.", _TEXT),
    "Rota-Warnings": ("Unknown keys and parameters, and probable mistakes in the body (a list of RFC 9651).", _TEXT),
    "Preference-Applied": ("`handling=strict`, if it was asked for.", _TEXT),
    "Idempotency-Replayed": (
        "`true` if this is the stored answer of an earlier call.",
        {"type": "string", "enum": ["true"]},
    ),
    "Quote-Id": ("Send it with request-delivery to have this price.", _TEXT),
    "Quote-Expires": ("Until when the Quote-Id is valid.", {"type": "string", "format": "date-time"}),
    "Pickup-Linked": (
        "`false` if request-delivery would be refused for its pickup.",
        {"type": "string", "enum": ["true", "false"]},
    ),
    "Retry-After": ("Seconds after which the call may be repeated.", {"type": "integer", "minimum": 1}),
    "WWW-Authenticate": ("The scheme to authenticate with.", _TEXT),
    "Allow": ("The methods of the path.", _TEXT),
}
# Of every answer to an authenticated call.
COMMON = ("X-Request-Id", "RateLimit-Policy", "RateLimit")
# Of answers with these statuses.
BY_STATUS = {
    401: ("WWW-Authenticate",),
    405: ("Allow",),
    409: ("Retry-After",),
    429: ("Retry-After",),
    503: ("Retry-After",),
}
