"""Domain errors of area A, each with its stable code. `api.problems` turns them into bodies, in one place.

`status` is the HTTP status of the specification's table; `retryable` tells whether the same request may succeed
later without a change.
"""

from typing import ClassVar

from common.errors import DomainError


class DeliveryError(DomainError):
    """A refusal that its reader can act on. `str(error)` is the detail, in English.

    `message` and `values` make it up, `%(name)s` in the one for each of the other, so that pages can say it in the
    reader's language.
    """

    title: ClassVar[str]
    status: ClassVar[int] = 422
    retryable: ClassVar[bool] = False

    def __init__(self, message: str = "", **values: object) -> None:
        super().__init__(message % values if values else message)
        self.message, self.values = message, values


class TokenEnded(DeliveryError):
    code = "token_ended"
    title = "The token is revoked or expired"


class TooManyTokens(DeliveryError):
    code = "too_many_tokens"
    title = "The account has as many valid tokens as it may have"


class AccountSuspended(DeliveryError):
    """Its tokens are refused and nothing new is issued to it until the suspension is lifted."""

    code = "account_suspended"
    title = "The account is suspended"
    status = 401


class PriceUnavailable(DeliveryError):
    code = "price_unavailable"
    title = "No price for this delivery"
    status = 400


class PickupNotLinked(DeliveryError):
    code = "pickup_not_linked"
    title = "Pickup point not linked to this account"
    status = 404


class DeliveryNotFound(DeliveryError):
    code = "delivery_not_found"
    title = "Delivery not found"
    status = 404


class MoveRefused(DeliveryError):
    code = "move_refused"
    title = "The delivery's lifecycle does not allow this now"


class AlreadyFinished(DeliveryError):
    code = "already_finished"
    title = "Delivery already finished"


class StopNotOpen(DeliveryError):
    code = "stop_not_open"
    title = "The point is closed already"


class StopNotFound(DeliveryError):
    code = "stop_not_found"
    title = "The route has no such point"


class ReasonMissing(DeliveryError):
    code = "reason_missing"
    title = "A failed point needs a reason"


class InvalidReason(DeliveryError):
    code = "invalid_reason"
    title = "Not a reason that can be kept"


class RouteTaken(DeliveryError):
    code = "route_taken"
    title = "Another driver has accepted this route"


class OfferExpired(DeliveryError):
    code = "offer_expired"
    title = "The offer has expired"


class NoEligibleDriver(DeliveryError):
    code = "no_eligible_driver"
    title = "No driver may accept this route now"
    retryable = True


class DriverNotFound(DeliveryError):
    code = "driver_not_found"
    title = "Driver not found"


class DriverNotEligible(DeliveryError):
    code = "driver_not_eligible"
    title = "This driver may not accept this route"


class DriverHasOpenRoute(DeliveryError):
    code = "driver_has_open_route"
    title = "The driver holds another open route"


class InvalidPosition(DeliveryError):
    code = "invalid_position"
    title = "Not a position"


class NoDriverAssigned(DeliveryError):
    code = "no_driver_assigned"
    title = "No driver holds this route"


class InvalidWebhookUrl(DeliveryError):
    code = "invalid_webhook_url"
    title = "This address cannot receive webhooks"


class WebhookHostUnresolved(InvalidWebhookUrl):
    code = "webhook_host_unresolved"
    title = "The host name of this address cannot be resolved"
    retryable = True


class LookUpsBusy(InvalidWebhookUrl):
    code = "look_ups_busy"
    title = "Too many host names are being looked up"
    status = 503
    retryable = True


class EndpointCannotSend(DeliveryError):
    code = "endpoint_cannot_send"
    title = "Nothing can be sent to this endpoint now"


class SecretRotatedLately(DeliveryError):
    code = "secret_rotated_lately"
    title = "The secret before this one still signs"


class InvalidToken(DeliveryError):
    code = "invalid_token"
    title = "Token missing or invalid"
    status = 401


class MalformedBody(DeliveryError):
    code = "malformed_body"
    title = "The body is not a JSON object"


class BodyTooLarge(DeliveryError):
    code = "body_too_large"
    title = "The body is too large"
    status = 413


class InvalidDeliveryId(DeliveryError):
    code = "invalid_delivery_id"
    title = "Not a deliveryId"
