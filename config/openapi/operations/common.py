"""What many operations have: groups of error codes, and parameters."""

from config.openapi.operation import Parameter

# Any call.
ANY = (
    "bad_request", "account_suspended", "tls_required", "no_such_path", "method_not_allowed", "url_too_long",
    "rate_limited", "header_too_long", "server_error", "unavailable",
)  # fmt: skip  # a list
TOKEN, KEY = ("invalid_token", *ANY), ("key_missing", "invalid_key", *ANY)
# Any call with a JSON body.
BODY = (
    "late_body", "body_too_large", "unsupported_media_type", "malformed_body", "invalid_payload", "unknown_key", "busy",
)  # fmt: skip  # a list
IDEMPOTENCY = ("invalid_idempotency_key", "idempotency_key_reused", "call_in_progress")

DELIVERY_ID = Parameter("deliveryId", "path", "The deliveryId of request-delivery.", {"type": "string"})
LIMIT = Parameter(
    "limit", "query", "How many items the page has at most.",
    {"type": "integer", "minimum": 1, "maximum": 100, "default": 50},
)  # fmt: skip
CURSOR = Parameter("cursor", "query", "`nextCursor` of the answer before.")
CREATED_FROM = Parameter(
    "createdFrom", "query",
    "Created at this moment or later: ISO 8601, a date or a moment; without an offset in the service's time zone.",
)  # fmt: skip
CREATED_TO = Parameter("createdTo", "query", "Created before this moment, or on this date or earlier.")

UUID = "019aa8f0-5c1e-7d5a-9f00-3b6c1d2e4f50"
