"""Every error code of both APIs: its status, what it means and what the caller does about it. Pure.

The OpenAPI description, the pages `/docs/errors/<code>` and the tests take the codes from here. The texts of a code of
one class stand in that class.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum
from http import HTTPStatus
from types import ModuleType

from common.errors import DomainError
from common.webhooks import address_guard
from delivery import errors as delivery_errors
from integration import errors as integration_errors

A, B = "immediate delivery", "order integration"
BOTH = (A, B)


class Repeat(Enum):
    """What an answer says about the effect of the call, and about repeating it."""

    WAIT = (
        "Nothing was changed. Wait, for the seconds in Retry-After if the answer has it, and repeat the call "
        "unchanged: with its Idempotency-Key, or without one if it had none."
    )
    SAME_KEY = (
        "The first call with the key may have its effect. Wait for the seconds in Retry-After and repeat the call "
        "unchanged, with the same Idempotency-Key and never without it."
    )
    UNKNOWN = (
        "It may have had its effect. Wait, for the seconds in Retry-After if the answer has it. Repeat a GET, a "
        "quote, and a call with its Idempotency-Key, unchanged; without one, look up first what was created."
    )
    CORRECTED = "Nothing was changed. Repeat only when the cause is put right; the Idempotency-Key can be the same."
    REUSED = (
        "This call changed nothing; an earlier one with the key made something. Repeat that one with its own body to "
        "get its answer, or send this one with a new Idempotency-Key."
    )
    COUNTED = "The try was counted, and nothing else was changed. Repeat only with the right PIN."


# Of the statuses whose answers differ from CORRECTED below 500, and from UNKNOWN from there.
REPEATS = {408: Repeat.WAIT, 429: Repeat.WAIT}
# Of the codes that differ from their status.
REPEATS_OF_CODES = {
    "busy": Repeat.WAIT,
    "closed": Repeat.WAIT,
    "look_ups_busy": Repeat.WAIT,
    "webhook_host_unresolved": Repeat.WAIT,
    "call_in_progress": Repeat.SAME_KEY,
    "geocoder_unavailable": Repeat.WAIT,
    "idempotency_key_reused": Repeat.REUSED,
    "wrong_pin": Repeat.COUNTED,
}


def repeat_of(status: int) -> Repeat:
    """What an answer with this status says, unless its code is one of REPEATS_OF_CODES."""
    return REPEATS.get(status, Repeat.UNKNOWN if status >= HTTPStatus.INTERNAL_SERVER_ERROR else Repeat.CORRECTED)


@dataclass(frozen=True)
class ErrorCode:
    """`apis`: which of the two have it. `remedy`: what to do, in the imperative."""

    code: str
    status: int
    meaning: str
    remedy: str
    apis: tuple[str, ...] = (A,)

    @property
    def repeat(self) -> Repeat:
        return REPEATS_OF_CODES.get(self.code) or repeat_of(self.status)


# Codes of both APIs, and codes without a class.
_SHARED = (
    # Of the transport and of authentication.
    ErrorCode(
        "bad_request",
        400,
        "The Host header names no host of this service, or the request is malformed.",
        "Check the base URL.",
        BOTH,
    ),
    ErrorCode(
        "invalid_token",
        401,
        "The token is missing, unknown, expired or revoked.",
        "Send 'Authorization: Bearer <token>' with a token of the panel, of the environment that you mean.",
    ),
    ErrorCode(
        "key_missing",
        401,
        "The Authorization header is missing or holds no API key.",
        "Send 'Authorization: Basic <API_KEY>', with the key that begins with rota_key_.",
        (B,),
    ),
    ErrorCode(
        "invalid_key",
        401,
        "The API key is unknown or revoked.",
        "Issue a new one on the seller's page in the panel, or ask the operator of the service.",
        (B,),
    ),
    ErrorCode(
        "account_suspended",
        401,
        "The credentials are valid and the account is suspended. Deliveries in progress and their webhooks continue.",
        "Ask the operator of the service to lift the suspension.",
        BOTH,
    ),
    ErrorCode(
        "tls_required",
        403,
        "The call was made over plain HTTP.",
        "Use https. Replace a token or key that the call carried: it was sent in clear text.",
        BOTH,
    ),
    ErrorCode(
        "no_such_path",
        404,
        "No endpoint has this path.",
        "Take the path that the message names, or check this one: lower case, without double slashes and trailing "
        "slashes.",
        BOTH,
    ),
    ErrorCode("method_not_allowed", 405, "The path has other methods.", "Use one that the message names.", BOTH),
    ErrorCode(
        "late_body",
        408,
        "The body took longer than 10 seconds, and one more for every 16 KiB.",
        "Send the body without pauses.",
        BOTH,
    ),
    ErrorCode(
        "body_too_large",
        413,
        "The body is over 256 KiB, or an invoice over 2 MiB.",
        "Send less.",
        BOTH,
    ),
    ErrorCode("url_too_long", 414, "Path and query are over 4 KiB.", "Shorten them.", BOTH),
    ErrorCode(
        "unsupported_media_type",
        415,
        "The body is not sent as JSON. Order integration answers with 422, or 400.",
        "Send the header 'Content-Type: application/json'.",
        BOTH,
    ),
    ErrorCode(
        "malformed_body",
        422,
        "The body is not a JSON object in UTF-8, or has too many levels. The message says which. The quote and the "
        "cancellation of order integration answer with 400.",
        "Serialise the body with a JSON library, uncompressed, in UTF-8.",
        BOTH,
    ),
    ErrorCode(
        "rate_limited",
        429,
        "The token or key is over its limit of calls.",
        "Wait for the seconds in Retry-After before the next call with it, and spread calls evenly.",
        BOTH,
    ),
    ErrorCode(
        "heavy_call_running",
        429,
        "A call that takes much computing time, such as labels or the file of a manifest, of the same token or key is "
        "under way, or too many of others wait.",
        "Make these calls one after the other, and repeat this one after the seconds in Retry-After.",
        (B,),
    ),
    ErrorCode("header_too_long", 431, "A header is over 8 KiB.", "Shorten it.", BOTH),
    ErrorCode(
        "server_error",
        500,
        "An error on our side. The request may have had its effect.",
        "Name the X-Request-Id when you report it.",
        BOTH,
    ),
    ErrorCode(
        "busy",
        503,
        "The service is receiving too many large bodies at the same time.",
        "Repeat the call after the seconds in Retry-After.",
        BOTH,
    ),
    ErrorCode(
        "unavailable",
        503,
        "The service cannot reach its database. The request may have had its effect.",
        "Wait for the seconds in Retry-After.",
        BOTH,
    ),
    # Of connected shops.
    ErrorCode(
        "connection_not_found",
        404,
        "The end of the address is not that of a connected shop, or the shop was removed.",
        "Copy the address from the page *Connect a shop* of the panel into the platform's settings.",
        BOTH,
    ),
    ErrorCode(
        "invalid_signature",
        401,
        "The platform's header with the signature is missing, or was made with another secret or of another body.",
        "Compare the secret in the platform's settings with that of the connection, or make a new one.",
        BOTH,
    ),
    ErrorCode(
        "unknown_form",
        422,
        "The body is not an order as the platform of the connection posts it. The message names what is missing.",
        "Choose the webhook about orders in the platform's settings, in JSON, and the platform of the connection.",
        BOTH,
    ),
    # Of the sandbox.
    ErrorCode(
        "sandbox_only",
        404,
        "This call needs a test token or test key, and the one sent is live.",
        "Send one that begins with rota_test_ or rota_testkey_. The live webhook URL is set in the panel.",
        BOTH,
    ),
    ErrorCode(
        "move_refused",
        422,
        "The state of the delivery or order does not allow this move now (sandbox, events of carriers).",
        "Read its status and make the moves in their order.",
        BOTH,
    ),
    ErrorCode(
        "invalid_sandbox_speed",
        422,
        "The header Sandbox-Speed is not a number from 1 to 120.",
        "Correct it.",
        BOTH,
    ),
    ErrorCode(
        "too_many_simulations",
        429,
        "As many deliveries, or orders, of the account move by themselves as may at once, 2,000 (sandbox).",
        "Call again when others have ended; most take two minutes, or less with Sandbox-Speed.",
        BOTH,
    ),
    # Of payloads, headers and queries.
    ErrorCode(
        "invalid_payload",
        422,
        "Fields are invalid; 'errors' names each of them. The quote and the cancellation of order integration answer "
        "with 400 and name them in the message.",
        "Correct the fields.",
        BOTH,
    ),
    ErrorCode(
        "unknown_key",
        422,
        "You prefer strict handling, and the body or query has unknown keys. 'errors' names them.",
        "Correct the spelling, or leave the header 'Prefer: handling=strict' out.",
        BOTH,
    ),
    ErrorCode(
        "swapped_coordinates",
        422,
        "With latitude and longitude swapped, points that lie outside the area that this service serves are inside. "
        "'errors' names them.",
        "Swap latitude and longitude.",
    ),
    ErrorCode("invalid_query", 422, "Query parameters are invalid; 'errors' names each of them.", "Correct them."),
    ErrorCode(
        "invalid_cursor",
        422,
        "The cursor was changed, or belongs to another account, environment, list or filter.",
        "Send nextCursor of an answer to the same filters unchanged, or begin without a cursor.",
    ),
    ErrorCode(
        "invalid_idempotency_key",
        422,
        "The Idempotency-Key is empty, over 255 characters or not printable ASCII.",
        "Send a UUID, or the number of your order.",
        BOTH,
    ),
    ErrorCode(
        "idempotency_key_reused",
        422,
        "A call with this Idempotency-Key and another body made a delivery or an order within the last 24 hours.",
        "Use a new key for each delivery or order, and the same one only to repeat a call unchanged.",
        BOTH,
    ),
    ErrorCode(
        "call_in_progress",
        409,
        "The first call with this Idempotency-Key has not ended after ten seconds.",
        "Repeat the call unchanged after the seconds in Retry-After.",
        BOTH,
    ),
)


def _of(apis: tuple[str, ...], *modules: ModuleType) -> Iterator[ErrorCode]:
    """The codes of the classes in these modules that have a meaning for callers of the APIs."""
    for module in modules:
        for kind in vars(module).values():
            if isinstance(kind, type) and issubclass(kind, DomainError) and "meaning" in vars(kind):
                yield ErrorCode(kind.code, kind.status, kind.meaning, kind.remedy, apis)


_ALL = (
    *_SHARED,
    *_of((A,), delivery_errors),
    *_of((B,), integration_errors),
    *_of(BOTH, address_guard),
)
CODES = {entry.code: entry for entry in _ALL}
