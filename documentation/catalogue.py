"""Every error code of both APIs: its status, what it means and what the caller does about it. Pure.

The OpenAPI description, the pages `/docs/errors/<code>` and the tests take the codes from here.
"""

from dataclasses import dataclass

A, B = "immediate delivery", "order integration"


@dataclass(frozen=True)
class ErrorCode:
    """`apis`: which of the two have it. `remedy`: what to do, in the imperative."""

    code: str
    status: int
    meaning: str
    remedy: str
    apis: tuple[str, ...] = (A,)


_BOTH = (A, B)

CODES = {
    entry.code: entry
    for entry in (
        # Of the transport and of authentication.
        ErrorCode(
            "bad_request",
            400,
            "The Host header names no host of this service, or the request is malformed.",
            "Check the base URL.",
            _BOTH,
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
            "Ask the operator of the service for a new one.",
            (B,),
        ),
        ErrorCode(
            "account_suspended",
            401,
            "The credentials are valid and the account is suspended. Deliveries in progress and their webhooks "
            "continue.",
            "Ask the operator of the service to lift the suspension.",
            _BOTH,
        ),
        ErrorCode(
            "tls_required",
            403,
            "The call was made over plain HTTP. Nothing was changed.",
            "Use https, and replace the token or key: it was sent in clear text.",
            _BOTH,
        ),
        ErrorCode(
            "no_such_path",
            404,
            "No endpoint has this path.",
            "Check the path: lower case, without double slashes and trailing slashes.",
            _BOTH,
        ),
        ErrorCode(
            "method_not_allowed", 405, "The path has other methods.", "Use one that the header Allow names.", _BOTH
        ),
        ErrorCode(
            "late_body",
            408,
            "The body took longer than 10 seconds, and one more for every 16 KiB. Nothing was changed.",
            "Send the body without pauses.",
            _BOTH,
        ),
        ErrorCode(
            "body_too_large",
            413,
            "The body is over 256 KiB, or an invoice over 2 MiB.",
            "Send less.",
            _BOTH,
        ),
        ErrorCode("url_too_long", 414, "Path and query are over 4 KiB.", "Shorten them.", _BOTH),
        ErrorCode(
            "unsupported_media_type",
            415,
            "The body is not sent as JSON. Order integration answers with 422, or 400.",
            "Send the header 'Content-Type: application/json'.",
            _BOTH,
        ),
        ErrorCode(
            "malformed_body",
            422,
            "The body is not a JSON object in UTF-8, or has too many levels. The message says which. The quote and the "
            "cancellation of order integration answer with 400.",
            "Serialise the body with a JSON library, uncompressed, in UTF-8.",
            _BOTH,
        ),
        ErrorCode(
            "rate_limited",
            429,
            "The token or key is over its limit of calls. Nothing was changed.",
            "Wait for the seconds in Retry-After before the next call with it, and spread calls evenly.",
            _BOTH,
        ),
        ErrorCode("header_too_long", 431, "A header is over 8 KiB.", "Shorten it.", _BOTH),
        ErrorCode(
            "server_error",
            500,
            "An error on our side. The request may have had its effect.",
            "Repeat a GET. Repeat a POST only with its Idempotency-Key; without one, look the delivery or order "
            "up first. "
            "Name the X-Request-Id when you report it.",
            _BOTH,
        ),
        ErrorCode(
            "busy",
            503,
            "The service is receiving too many large bodies at the same time. Nothing was changed.",
            "Repeat the call after the seconds in Retry-After.",
            _BOTH,
        ),
        # Of payloads, headers and queries.
        ErrorCode(
            "invalid_payload",
            422,
            "Fields are invalid; 'errors' names each of them. The quote and the cancellation of order "
            "integration answer "
            "with 400 and name them in the message.",
            "Correct the fields.",
            _BOTH,
        ),
        ErrorCode(
            "unknown_key",
            422,
            "You prefer strict handling, and the body has unknown keys. 'errors' names them.",
            "Correct the spelling, or leave the header 'Prefer: handling=strict' out.",
            _BOTH,
        ),
        ErrorCode(
            "outside_service_area",
            422,
            "Points lie outside the area that this service serves. 'errors' names them.",
            "Check whether latitude and longitude are swapped.",
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
            _BOTH,
        ),
        ErrorCode(
            "idempotency_key_reused",
            422,
            "A call within the last 24 hours had this Idempotency-Key and another body.",
            "Use a new key for each delivery or order, and the same one only to repeat a call unchanged.",
            _BOTH,
        ),
        ErrorCode(
            "call_in_progress",
            409,
            "The first call with this Idempotency-Key has not ended after ten seconds.",
            "Repeat the call unchanged after the seconds in Retry-After.",
            _BOTH,
        ),
        # Of deliveries.
        ErrorCode(
            "price_unavailable",
            400,
            "No active tariff serves the vehicle, or distance, weight, longest side or volume is over the "
            "tariff's maximum. "
            "'detail' names both figures.",
            "Ask for the other vehicleType, or split the delivery.",
        ),
        ErrorCode(
            "pickup_not_linked",
            404,
            "pickup.address is not within the radius of an active pickup point of the account. 'detail' names "
            "the nearest.",
            "Compare the coordinates with the pickup points on the panel's overview; the operator adds new ones.",
        ),
        ErrorCode(
            "quote_expired",
            422,
            "The Quote-Id is older than ten minutes.",
            "Quote again and send the new Quote-Id.",
        ),
        ErrorCode(
            "quote_mismatch",
            422,
            "The Quote-Id is for another trip, account or environment, or is not one that a quote was answered with.",
            "Quote exactly what you request, and send that Quote-Id.",
        ),
        ErrorCode(
            "delivery_not_found",
            404,
            "This account and environment have no delivery with this deliveryId.",
            "Check the id and whether the token is of the same environment, live or sandbox.",
        ),
        ErrorCode(
            "invalid_delivery_id",
            422,
            "The deliveryId is not a UUID (cancel-delivery).",
            "Send the deliveryId that request-delivery answered with.",
        ),
        ErrorCode(
            "already_finished",
            422,
            "The delivery has ended, so nothing is left to cancel.",
            "Read how it ended.",
        ),
        # Of the sandbox.
        ErrorCode(
            "invalid_sandbox_speed",
            422,
            "The header Sandbox-Speed is not a number from 1 to 120.",
            "Correct it.",
        ),
        ErrorCode(
            "move_refused",
            422,
            "The delivery's state does not allow this move now (sandbox).",
            "Read the delivery's status and make the moves in their order.",
        ),
        ErrorCode("route_taken", 422, "The delivery was accepted already (sandbox).", "Go on with the next move."),
        ErrorCode("offer_expired", 422, "The offer has expired (sandbox).", "Request a new delivery."),
        ErrorCode(
            "stop_not_found",
            422,
            "The route has no drop-off with this letter (sandbox).",
            "Use B, C or D, as far as the route has them.",
        ),
        ErrorCode(
            "stop_not_open",
            422,
            "The drop-off was delivered or failed already (sandbox).",
            "Go on with another one.",
        ),
        ErrorCode(
            "no_driver_assigned",
            422,
            "No driver holds the route, so no position can be set (sandbox).",
            "Accept it first.",
        ),
        # Of orders.
        ErrorCode(
            "foreign_company",
            401,
            "company_document belongs to another seller than the key does.",
            "Use the key of that seller, or a document of your own companies.",
            (B,),
        ),
        ErrorCode(
            "company_not_found",
            404,
            "No company has this company_document.",
            "Ask the operator of the service to register the company.",
            (B,),
        ),
        ErrorCode(
            "duplicate_order",
            400,
            "Another order of yours has this orderId or trackingCode; 'errors' names which.",
            "Look the order up: it may be the one that you mean. Send an Idempotency-Key to repeat calls safely.",
            (B,),
        ),
        ErrorCode("order_not_found", 404, "The seller of the key has no such order.", "Check the orderId.", (B,)),
        ErrorCode("already_delivered", 400, "The order was delivered and cannot be cancelled.", "Nothing.", (B,)),
        ErrorCode("already_cancelled", 400, "The order is cancelled already.", "Nothing.", (B,)),
        ErrorCode(
            "no_coverage",
            400,
            "The postcode is assigned to no region, or the tariff has no rate for the two regions.",
            "Check the postcodes.",
            (B,),
        ),
        ErrorCode(
            "too_heavy", 400, "The weight is over the maximum of the freight tariff.", "Split the shipment.", (B,)
        ),
        ErrorCode(
            "search_value_missing",
            403,
            "The tracking query has no value.",
            "Send the parameter value.",
            (B,),
        ),
        ErrorCode(
            "invoice_missing",
            422,
            "The request is not a form with exactly one file in the field nfe.",
            "Send multipart/form-data with one file in the field nfe.",
            (B,),
        ),
        ErrorCode(
            "invalid_invoice", 422, "The file is not an NF-e; the message says why.", "Send the signed XML.", (B,)
        ),
        ErrorCode(
            "invoice_unreferenced",
            422,
            "The NF-e has no xPed, and no order of the seller names its access key.",
            "Put the orderId into xPed, or the access key into the order's invoice.key.",
            (B,),
        ),
        ErrorCode(
            "too_many_invoices",
            429,
            "The seller has sent as many new invoices in 24 hours as it may.",
            "Send the next after the seconds in Retry-After.",
            (B,),
        ),
        ErrorCode(
            "invoice_storage_full",
            409,
            "The space for the seller's invoices is full, and this one was not stored.",
            "Ask the operator of the service for more.",
            (B,),
        ),
    )
}
