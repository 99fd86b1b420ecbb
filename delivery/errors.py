"""Domain errors of area A and of drivers' phones, each with a stable `code`. `api.problems` makes bodies from them.

`status` is the HTTP status, from the specification's table where it names one. Each docstring says when the error
occurs.
"""

from common.errors import DomainError


class DeliveryError(DomainError):
    """Base of area A's domain errors. `str(error)` is the detail, in English."""


class TokenEnded(DeliveryError):
    """Rotating a token that is revoked or expired."""

    code = "token_ended"
    title = "The token is revoked or expired"


class TooManyTokens(DeliveryError):
    """Issuing or rotating a token when the account and environment have as many valid tokens as the limit allows."""

    code = "too_many_tokens"
    title = "The account has as many valid tokens as it may have"


class AccountSuspended(DeliveryError):
    """Calling the API with a token of a suspended account, or issuing or changing credentials of one."""

    code = "account_suspended"
    title = "The account is suspended"
    status = 401


class PriceUnavailable(DeliveryError):
    """Quoting or requesting without an active tariff for the vehicle, or over the tariff's distance or weight."""

    code = "price_unavailable"
    title = "No price for this delivery"
    status = 400


class QuoteExpired(DeliveryError):
    """Requesting with a Quote-Id after its ten minutes."""

    code = "quote_expired"
    title = "The quote has expired"


class QuoteMismatch(DeliveryError):
    """Requesting with a Quote-Id of another trip, account or environment, or with text that is no Quote-Id."""

    code = "quote_mismatch"
    title = "The quote is for something else"


class PickupNotLinked(DeliveryError):
    """Requesting from a place outside the radius of every active pickup point of the account."""

    code = "pickup_not_linked"
    title = "Pickup point not linked to this account"
    status = 404


class DeliveryNotFound(DeliveryError):
    """An id that is unknown, or of another account or environment. All three are answered alike."""

    code = "delivery_not_found"
    title = "Delivery not found"
    status = 404


class InvalidCursor(DeliveryError):
    """Continuing a list with a cursor that was changed, or is of another account, environment, list or filter."""

    code = "invalid_cursor"
    title = "The cursor does not continue this list"


class MoveRefused(DeliveryError):
    """A trigger for which `lifecycle.TABLE` has no row with the route's status."""

    code = "move_refused"
    title = "The delivery's lifecycle does not allow this now"


class AlreadyFinished(DeliveryError):
    """Cancelling a delivery that was delivered, returned or expired."""

    code = "already_finished"
    title = "Delivery already finished"


class StopNotOpen(DeliveryError):
    """Delivering or failing a stop that is delivered or failed already."""

    code = "stop_not_open"
    title = "The point is closed already"


class StopNotFound(DeliveryError):
    """Naming a label that the route does not have: A, or one after its last stop."""

    code = "stop_not_found"
    title = "The route has no such point"


class ReasonMissing(DeliveryError):
    """Failing a stop without a reason."""

    code = "reason_missing"
    title = "A failed point needs a reason"


class InvalidReason(DeliveryError):
    """A reason that is longer than its column, contains NUL, or is empty where one is required."""

    code = "invalid_reason"
    title = "The reason cannot be stored"


class RouteTaken(DeliveryError):
    """Accepting a route that a driver holds."""

    code = "route_taken"
    title = "Another driver has accepted this route"


class OfferExpired(DeliveryError):
    """Accepting at or after the deadline of the offer, expired by the periodic task or not."""

    code = "offer_expired"
    title = "The offer has expired"


class NoEligibleDriver(DeliveryError):
    """Accepting without naming a driver when no driver is eligible; another one may be later."""

    code = "no_eligible_driver"
    title = "No driver may accept this route now"
    retryable = True


class DriverNotFound(DeliveryError):
    """Accepting for a driver id that does not exist."""

    code = "driver_not_found"
    title = "Driver not found"


class DriverNotEligible(DeliveryError):
    """Accepting for a driver who is off duty, too far away, or of another vehicle type or environment."""

    code = "driver_not_eligible"
    title = "This driver may not accept this route"


class DriverHasOpenRoute(DeliveryError):
    """Accepting for a driver who holds another route that is not closed."""

    code = "driver_has_open_route"
    title = "The driver holds another open route"


class InvalidPosition(DeliveryError):
    """Text that is not two coordinates, or coordinates outside -90..90 and -180..180 degrees."""

    code = "invalid_position"
    title = "The coordinates are invalid"


class NoDriverAssigned(DeliveryError):
    """Recording a position for a delivery whose route no driver holds."""

    code = "no_driver_assigned"
    title = "No driver holds this route"


class InvalidSandboxSpeed(DeliveryError):
    """Requesting a sandbox delivery with a `Sandbox-Speed` header that is not a number from 1 to 120."""

    code = "invalid_sandbox_speed"
    title = "The Sandbox-Speed header is invalid"


class EndpointCannotSend(DeliveryError):
    """Sending a test event, or replaying events, that the endpoint's state or the hourly limit does not allow."""

    code = "endpoint_cannot_send"
    title = "Nothing can be sent to this endpoint now"


class SecretRotatedLately(DeliveryError):
    """Rotating a signing secret while the one before it still signs too."""

    code = "secret_rotated_lately"
    title = "The secret before this one still signs"


class InvalidToken(DeliveryError):
    """An API call without a Bearer token, or with one that is unknown, revoked or expired."""

    code = "invalid_token"
    title = "Token missing or invalid"
    status = 401


class TooManySimulations(DeliveryError):
    """Requesting a delivery of the sandbox while the simulated drivers of the account move as many as they may."""

    code = "too_many_simulations"
    title = "Too many simulated deliveries"
    status = 429
    retryable = True
    retry_after = 60


class RateLimited(DeliveryError):
    """An API call over the limit of its token. `retry_after`: seconds until one is accepted."""

    code = "rate_limited"
    title = "Too many calls"
    status = 429
    retryable = True

    def __init__(self, retry_after: int) -> None:
        super().__init__("This token is over its limit of calls. Try again in %(seconds)s s.", seconds=retry_after)
        self.retry_after = retry_after


class LogInLinkUnusable(DeliveryError):
    """Logging in with a link that is unknown, was used, or has expired, or whose driver no longer works for us."""

    code = "log_in_link_unusable"
    title = "The link cannot be used"
    status = 410


class LogInLinkUnknown(LogInLinkUnusable):
    """Logging in with a link that nobody issued."""


class NotOnDuty(DeliveryError):
    """Reporting positions while off duty and without a route."""

    code = "not_on_duty"
    title = "The driver is off duty"
    status = 409


class OtherPhoneReports(DeliveryError):
    """Reporting positions from a phone while another one of the driver does."""

    code = "other_phone_reports"
    title = "Another phone reports the driver's positions"
    status = 409


class NotYourRoute(DeliveryError):
    """A move of a route that the driver does not hold."""

    code = "not_your_route"
    title = "The route is not the driver's"


class RouteStillOpen(DeliveryError):
    """Going off duty, or changing what the route was given for, while holding one."""

    code = "route_still_open"
    title = "The driver holds a route"
    status = 409


class InvalidReport(DeliveryError):
    """A report whose form the service does not understand."""

    code = "invalid_report"
    title = "The report is not valid"
    status = 422


class PhotoTooLarge(DeliveryError):
    """Sending a photo over the limit of bytes."""

    code = "photo_too_large"
    title = "The photo is too large"
    status = 413


class InvalidPhoto(DeliveryError):
    """Sending something that is no photo, or one that costs too much to read."""

    code = "invalid_photo"
    title = "The photo cannot be used"


class PhotosBusy(DeliveryError):
    """Sending a photo while the service reads others, or while its disk has no space for one."""

    code = "photos_busy"
    title = "No photo can be taken in now"
    status = 503
    retryable = True


class TooManyPhotos(DeliveryError):
    """Sending more photos of a stop than are kept."""

    code = "too_many_photos"
    title = "The point has enough photos"


class PhotoTooLate(DeliveryError):
    """Sending a photo long after the end of the route."""

    code = "photo_too_late"
    title = "The route ended long ago"


class PhotoRequired(DeliveryError):
    """Delivering a stop without the photo that its request asked for."""

    code = "photo_required"
    title = "A photo is required"


class PinRequired(DeliveryError):
    """Delivering a stop without the PIN that its request asked for."""

    code = "pin_required"
    title = "The receiver's PIN is required"


class WrongPin(DeliveryError):
    """Delivering a stop with a PIN that is not the receiver's."""

    code = "wrong_pin"
    title = "The PIN is wrong"


class PinLocked(DeliveryError):
    """Delivering a stop after too many wrong PINs."""

    code = "pin_locked"
    title = "Too many wrong PINs"


class PhotoNotFound(DeliveryError):
    """An address of a photo that has expired or was changed, or whose photo was deleted. All are answered alike."""

    code = "photo_not_found"
    title = "Photo not found"
    status = 404
