"""Refusals of area A that only calls of its API meet. `delivery.errors` has those of the domain."""

from delivery.errors import DeliveryError


class MalformedBody(DeliveryError):
    """A request body that is not a JSON object in UTF-8, or is nested too deeply."""

    code = "malformed_body"
    title = "The body is not a JSON object"
    example = "The body is not JSON: Expecting value: line 1 column 8 (char 7)."


class BodyTooLarge(DeliveryError):
    """A request body with more bytes than the limit."""

    code = "body_too_large"
    title = "The body is too large"
    status = 413
    example = "The body is larger than 256 KiB."


class InvalidDeliveryId(DeliveryError):
    """Cancelling with an id that is not a UUID in its canonical form."""

    code = "invalid_delivery_id"
    title = "Not a deliveryId"
    meaning = "The deliveryId is not a UUID (cancel-delivery)."
    remedy = "Send the deliveryId that request-delivery answered with."
    example = "A deliveryId is the UUID that request-delivery answered with."


class InvalidIdempotencyKey(DeliveryError):
    """The header Idempotency-Key is empty, longer than 255 characters, or not printable ASCII."""

    code = "invalid_idempotency_key"
    title = "The Idempotency-Key cannot be used"
    message = "An Idempotency-Key has 1 to 255 printable ASCII characters, such as a UUID."


class IdempotencyKeyReused(DeliveryError):
    """The Idempotency-Key was used within 24 hours for a call with another body."""

    code = "idempotency_key_reused"
    title = "The Idempotency-Key belongs to another request"
    message = (
        "A call within the last 24 hours had this Idempotency-Key and another body. Use a new key for each delivery, "
        "and the same key only to repeat a call unchanged."
    )


class CallInProgress(DeliveryError):
    """A call with the same Idempotency-Key has not ended within ten seconds."""

    code = "call_in_progress"
    title = "A call with this Idempotency-Key is in progress"
    message = "The first call with this Idempotency-Key has not ended. Repeat the call unchanged to get its answer."
    status = 409
    retryable = True
    retry_after = 5
