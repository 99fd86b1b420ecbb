"""Domain errors of area A and of drivers' phones, each with a stable `code`. `api.problems` makes bodies from them.

`status` is the HTTP status, from the specification's table where it names one. The docstring or `meaning` says when
the error occurs.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime
from uuid import UUID

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
    example = "The account is suspended. Ask whoever runs this service to lift the suspension."


class PriceUnavailable(DeliveryError):
    code = "price_unavailable"
    title = "No price for this delivery"
    status = 400
    meaning = (
        "No active tariff serves the vehicle, or distance, weight, longest side or volume is over the tariff's "
        "maximum. 'detail' names both figures."
    )
    remedy = "Ask for the other vehicleType, or split the delivery."
    example = "The route is 72.41 km long; this tariff serves up to 60.00 km."


class OutsideServiceArea(DeliveryError):
    code = "outside_service_area"
    title = "Outside the service area"
    status = 400
    meaning = "The pickup, a drop-off or a position lies outside the area that this service serves. 'detail' names it."
    remedy = "Check the coordinates. Nothing is delivered there."
    example = "This is outside the area that this service serves: dropoffs[0] (-34.6037, -58.3816)."


class Closed(DeliveryError):
    """A pickup outside the hours of service."""

    code = "closed"
    title = "Closed at this hour"
    status = 400
    retryable = True
    meaning = (
        "Nothing is picked up there at this hour. 'opensAt' is the next moment at which something is, null if that is "
        "not within 60 days."
    )
    remedy = "Show your customer 'opensAt', and request the delivery then."

    @property
    def opens_at(self) -> datetime | None:
        """When it opens, in the time zone of the pickup; None if that is not within 60 days."""
        opens = self.values.get("opens")
        return opens if isinstance(opens, datetime) else None


class QuoteExpired(DeliveryError):
    code = "quote_expired"
    title = "The quote has expired"
    meaning = "The Quote-Id is older than ten minutes."
    remedy = "Quote again and send the new Quote-Id."
    example = "A quote is valid for 10 minutes. Quote again, and request with the new Quote-Id."


class QuoteMismatch(DeliveryError):
    code = "quote_mismatch"
    title = "The quote is for something else"
    meaning = "The Quote-Id is for another trip, account or environment, or is not one that a quote was answered with."
    remedy = "Quote exactly what you request, and send that Quote-Id."
    example = (
        "The Quote-Id is for other points, windows, packages, vehicleType or deliveryMode than this request. Quote it "
        "first."
    )


class AddressNotLocated(DeliveryError):
    """`candidates`: texts with latitude and longitude of the places that were found, by the index of the drop-off."""

    code = "address_not_located"
    title = "An address was not located"
    meaning = (
        "A drop-off without coordinates has an address that is unknown, fits places that are apart, or is only a city. "
        "'errors' names it, with up to three 'candidates'."
    )
    remedy = "Correct the address, or send coordinates: those of a candidate, if it is the right one."

    def __init__(self, candidates: Mapping[int, Sequence[tuple[str, tuple[float, float]]]]) -> None:
        super().__init__()
        self.candidates = candidates


class GeocoderUnavailable(DeliveryError):
    code = "geocoder_unavailable"
    title = "Addresses cannot be located now"
    status = 503
    retryable = True
    retry_after = 10
    message = (
        "What locates addresses does not answer. Nothing was changed. Try again after the seconds in Retry-After, or "
        "send coordinates for each drop-off."
    )
    meaning = "A drop-off has no coordinates, and what locates addresses does not answer."
    remedy = "Try again after the seconds in Retry-After, or send coordinates for each drop-off."


class WrongAddressFile(DeliveryError):
    """Importing a file of addresses that cannot be read, or is of another form."""

    code = "wrong_address_file"
    title = "The file of addresses cannot be imported"


class PickupNotLinked(DeliveryError):
    code = "pickup_not_linked"
    title = "Pickup point not linked to this account"
    status = 404
    meaning = (
        "pickup.address is not within the radius of an active pickup point of the account. 'detail' names the nearest."
    )
    remedy = "Compare the coordinates with the pickup points in the panel, where members of the account add new ones."
    example = (
        "pickup.address lies 312 m from the nearest active pickup point, 'Loja Paulista', which accepts at most 150 "
        "m. The panel lists all of them on the account's page."
    )


class ExternalIdInUse(DeliveryError):
    """Requesting an externalId again, for an account that refuses that. `delivery_id`: which delivery has it."""

    code = "external_id_in_use"
    title = "The externalId belongs to another delivery"
    status = 409
    message = "Delivery %(delivery)s has an order with the externalId '%(external_id)s' already."
    meaning = (
        "The account refuses repeated externalIds, and an order of the last 24 hours that has not failed has this one. "
        "'deliveryId' names its delivery."
    )
    remedy = "Read that delivery. To send the order once more, use another externalId, or cancel that delivery first."

    def __init__(self, external_id: str, delivery_id: UUID) -> None:
        super().__init__(delivery=delivery_id, external_id=external_id)
        self.delivery_id = delivery_id


class FormSentAlready(DeliveryError):
    """Sending a form of the panel again with other content after it has requested a delivery."""

    code = "form_sent_already"
    title = "The form has requested a delivery"
    message = "This form has requested a delivery already. Send it again to request another one."


class FormInProgress(DeliveryError):
    """Sending a form of the panel while the same one is being worked on."""

    code = "form_in_progress"
    title = "The form is being worked on"
    message = "This form is being worked on. Look at the list of deliveries before you send it again."


class FeeChanged(DeliveryError):
    """Cancelling at a fee that is not the one of now, because the route has moved on meanwhile."""

    code = "fee_changed"
    title = "The fee is another one"
    message = "The route has moved on meanwhile, and the fee is another one."


class TooManyPickupPoints(DeliveryError):
    """Adding a pickup point to an account that has as many as it may have."""

    code = "too_many_pickup_points"
    title = "The account has as many pickup points as it may have"


class PointChanged(DeliveryError):
    """Approving a pickup point that has been moved, removed or approved meanwhile."""

    code = "point_changed"
    title = "The pickup point has changed"
    message = "The pickup point has changed meanwhile. Look at it again."


class DeliveryNotFound(DeliveryError):
    """An id that is unknown, or of another account or environment. All three are answered alike."""

    code = "delivery_not_found"
    title = "Delivery not found"
    status = 404
    meaning = "This account and environment have no delivery with this deliveryId."
    remedy = (
        "Check the id and whether the token is of the same environment, live or sandbox. "
        "GET /api/deliveries?externalId= finds a delivery by your own number."
    )
    message = (
        "No delivery of this account and environment has this deliveryId, the UUID that request-delivery answered with."
    )


class InvalidCursor(DeliveryError):
    """Continuing a list with a cursor that was changed, or is of another account, environment, list or filter."""

    code = "invalid_cursor"
    title = "The cursor does not continue this list"
    example = "Take nextCursor of an answer to the same filters, or begin without a cursor."


class MoveRefused(DeliveryError):
    """A trigger for which `lifecycle.TABLE` has no row with the route's status."""

    code = "move_refused"
    title = "The delivery's lifecycle does not allow this now"
    example = "Only an offer of the sandbox expires before its deadline."


class AlreadyFinished(DeliveryError):
    code = "already_finished"
    title = "Delivery already finished"
    meaning = "The delivery has ended, so nothing is left to cancel."
    remedy = "Read how it ended."
    example = "The delivery has ended; there is nothing left to cancel."


class StopNotOpen(DeliveryError):
    code = "stop_not_open"
    title = "The point is closed already"
    meaning = "The drop-off was delivered or failed already (sandbox)."
    remedy = "Go on with another one."
    example = "This point is closed already; name a point that is still open."


class AttemptRecorded(DeliveryError):
    """Recording a visit as the first failed one of a stop, when the first one is recorded already."""

    code = "attempt_recorded"
    title = "The first attempt is recorded already"
    message = "The first attempt at this point is recorded already. To record a second one, open the point again."


class TooManyChanges(DeliveryError):
    """Changing a stop once more that has been changed as often as it may be, or sending its link to another address."""

    code = "too_many_changes"
    title = "The drop-off has been changed too often"
    status = 409
    meaning = (
        "The drop-off has been changed 50 times, or its contact 4 times and the receiver's link would be sent to a new "
        "email."
    )
    remedy = "Call the driver, as long as the route is under way."
    example = "This point has been changed as often as it may be."


class NothingToDecide(DeliveryError):
    """Answering a failure at a stop that is not tried again: none was recorded, or the stop has ended."""

    code = "nothing_to_decide"
    title = "There is nothing to decide at this point"
    status = 409
    meaning = "No second attempt is open at the drop-off: it has not failed with onFailure RETRY, or it has ended."
    remedy = "Read orders[].status and orders[].attempts."
    example = "No second attempt is open at this point."


class RouteIsImmutable(DeliveryError):
    """Changing anything of a stop but its contact and its instructions."""

    code = "route_is_immutable"
    title = "The route cannot be changed"
    status = 409
    meaning = "Only contacts and instructions of a drop-off can be changed; address, order and price are fixed."
    remedy = "Cancel the delivery and request another one."
    example = "Only contacts and instructions can be changed, not address."


class StopHasEnded(DeliveryError):
    """Changing a stop at which the driver has been, or whose delivery has ended."""

    code = "stop_has_ended"
    title = "The drop-off has ended"
    status = 409
    meaning = "The driver has been at the drop-off already, or the delivery has ended."
    remedy = "Call the driver, as long as the route is under way."
    example = "The driver has been at this point already, or the delivery has ended."


class LeavingNotAllowed(DeliveryError):
    """Leaving goods at the door of a stop whose policy is not LEAVE."""

    code = "leaving_not_allowed"
    title = "The order may not be left at the door"
    meaning = "The drop-off's onFailure is not LEAVE, so the order needs a person who receives it (sandbox)."
    remedy = "Request the drop-off with onFailure LEAVE, or answer a failure with the action LEAVE."
    example = "This order may not be left at the door. It needs somebody who receives it."


class StopNotFound(DeliveryError):
    """Naming a label that the route does not have: A, or one after its last stop."""

    code = "stop_not_found"
    title = "The route has no such drop-off"
    meaning = "The route has no drop-off with this letter. In the sandbox 422, elsewhere 404."
    remedy = "Use B, C or D, as far as orders[].point has them."
    example = "This route's drop-offs are B, C."


class StopOfPathNotFound(StopNotFound):
    """A path of a drop-off that the route does not have."""

    status = 404


class ReasonMissing(DeliveryError):
    """Failing a stop without a reason."""

    code = "reason_missing"
    title = "A failed point needs a reason"
    meaning = "The failure's code is OTHER, which needs a text (sandbox)."
    remedy = "Send a reason, or another code."
    example = "Say why the point failed; people read it in the delivery's history."
    fields = ("reason",)


class InvalidFailureCode(DeliveryError):
    """A failure with a code that is none of `FailureCode`."""

    code = "invalid_failure_code"
    title = "There is no such reason for a failure"


class InvalidReason(DeliveryError):
    """A reason that is longer than its column, contains NUL, or is empty where one is required."""

    code = "invalid_reason"
    title = "The reason cannot be stored"


class RouteTaken(DeliveryError):
    code = "route_taken"
    title = "Another driver has accepted this route"
    meaning = "The delivery was accepted already (sandbox)."
    remedy = "Go on with the next move."
    example = "A driver has accepted this route already; one acceptance covers all of it."


class OfferExpired(DeliveryError):
    """Accepting at or after the deadline of the offer, expired by the periodic task or not."""

    code = "offer_expired"
    title = "The offer has expired"
    meaning = "The offer has expired (sandbox)."
    remedy = "Request a new delivery."
    example = "The offer has expired; the account has to request the delivery again."


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
    code = "no_driver_assigned"
    title = "No driver holds this route"
    meaning = "No driver holds the route, so no position can be set (sandbox)."
    remedy = "Accept it first."
    example = "No driver holds this route, so no position can be recorded."


class SandboxOnly(DeliveryError):
    """Calling with a live token what only test tokens may."""

    code = "sandbox_only"
    title = "Only in the sandbox"
    status = 404
    example = "Only test tokens may set the webhook URL by a call. Set the live one in the panel."


class InvalidSandboxSpeed(DeliveryError):
    code = "invalid_sandbox_speed"
    title = "The Sandbox-Speed header is invalid"
    example = "The header Sandbox-Speed is a number from 1 to 120."


class InvalidToken(DeliveryError):
    """An API call without a Bearer token, or with one that is unknown, revoked or expired."""

    code = "invalid_token"
    title = "Token missing or invalid"
    status = 401
    example = "This token was revoked. Use another one, or issue one in the panel."


class TooManySimulations(DeliveryError):
    code = "too_many_simulations"
    title = "Too many simulated deliveries"
    status = 429
    retryable = True
    retry_after = 60
    example = (
        "Simulated drivers move 2000 deliveries of this account, which is all that they do at once. Request this one "
        "when others have ended."
    )


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
    """Sending positions while off duty and without a route."""

    code = "not_on_duty"
    title = "The driver is off duty"
    status = 409


class OtherPhoneSends(DeliveryError):
    """Sending positions from a phone while another one of the driver does."""

    code = "other_phone_sends"
    title = "Another phone sends the driver's positions"
    status = 409


class NotYourRoute(DeliveryError):
    """A move of a route that the driver does not hold."""

    code = "not_your_route"
    title = "The route is not the driver's"


class GoodsInDriversHand(DeliveryError):
    """Sending a collection on a route that the driver does not hold any more: the goods have to come back."""

    code = "goods_in_hand"
    title = "The goods have to come back"


class RouteStillOpen(DeliveryError):
    """Going off duty, or changing what the route was given for, while holding one."""

    code = "route_still_open"
    title = "The driver holds a route"
    status = 409


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
    code = "pin_required"
    title = "The receiver's PIN is required"
    meaning = "The request asked for a PIN, and the body has none (sandbox)."
    remedy = "Send the pin that the delivery shows."
    example = "Ask the receiver for the PIN of four digits."


class WrongPin(DeliveryError):
    code = "wrong_pin"
    title = "The PIN is wrong"
    meaning = "The PIN is not the one of this drop-off (sandbox). After five wrong ones none is taken."
    remedy = "Send the pin that the delivery shows."
    example = "This is not the receiver's PIN. Only your dispatcher can deliver this one now."


class PinLocked(DeliveryError):
    code = "pin_locked"
    title = "Too many wrong PINs"
    meaning = "There were five wrong PINs, so a driver cannot deliver this drop-off (sandbox)."
    remedy = "Deliver it without receivedBy and pin, as a dispatcher does."
    example = "There were five wrong PINs. Only your dispatcher can deliver this one now."


class PhotoNotFound(DeliveryError):
    """An address of a photo that has expired or was changed, or whose photo was deleted. All are answered alike."""

    code = "photo_not_found"
    title = "Photo not found"
    status = 404
    meaning = "The address of the photo was changed or is older than an hour, or the photo was deleted."
    remedy = "Read the delivery again, which has a new address."
    example = "The address is not one of a photo, is older than an hour, or the photo was deleted."


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
    """The Idempotency-Key was used within 24 hours for a delivery that was made from another body."""

    code = "idempotency_key_reused"
    title = "The Idempotency-Key belongs to another request"
    message = (
        "A call with this Idempotency-Key and another body has made a delivery within the last 24 hours. Use a new key "
        "for each delivery, and the same key only to repeat its call unchanged."
    )


class CallInProgress(DeliveryError):
    """A call with the same Idempotency-Key has not ended within ten seconds."""

    code = "call_in_progress"
    title = "A call with this Idempotency-Key is in progress"
    message = "The first call with this Idempotency-Key has not ended. Repeat the call unchanged to get its answer."
    status = 409
    retryable = True
    retry_after = 5


class ConnectionNotFound(DeliveryError):
    """Posting to an address that no connected shop has, perhaps not any more."""

    code = "connection_not_found"
    title = "No such connection"
    status = 404
    message = "No shop is connected at this address. The panel shows the address of each on the page 'Connect a shop'."


class InvalidSignature(DeliveryError):
    """Posting an order without the platform's signature, or with a wrong one. Nothing is written."""

    code = "invalid_signature"
    title = "The signature is missing or wrong"
    status = 401
    example = "The header X-WC-Webhook-Signature is not the signature of this body with the secret of the connection."


class UnknownOrderForm(DeliveryError):
    """Posting, with the right signature, what is not an order of the platform."""

    code = "unknown_form"
    title = "Not an order of the platform"
    message = "This is not an order as %(platform)s posts it. Missing: %(missing)s."
    example = "This is not an order as WooCommerce posts it. Missing: line_items."


class TooManyConnections(DeliveryError):
    """Connecting a shop to an account that has as many as it may have."""

    code = "too_many_connections"
    title = "The account has as many connected shops as it may have"


class InvalidSecret(DeliveryError):
    """Connecting a shop with an empty secret, or one that is too long."""

    code = "invalid_secret"
    title = "Not a secret of a platform"


class DraftEnded(DeliveryError):
    """Changing or requesting an order of a shop that is requested or dropped."""

    code = "draft_ended"
    title = "The order is not open"
    message = "This order is not open any more: somebody has requested or dropped it."


class DraftIncomplete(DeliveryError):
    """Requesting an order of a shop of which something is missing, or whose price is not known yet."""

    code = "draft_incomplete"
    title = "The order cannot be requested yet"
    message = "Something of this order is missing, or its price is not known yet."


class DraftChanged(DeliveryError):
    """Changing or requesting an order of a shop that has changed since it was read or shown."""

    code = "draft_changed"
    title = "The order has changed"
    message = "This order has changed meanwhile. Look at it again."


class DraftPriceChanged(DeliveryError):
    """Requesting an order of a shop at a price that is not the one of now."""

    code = "draft_price_changed"
    title = "The price is another one"
    message = "The price has changed from %(before)s to %(now)s. Request it again at this price."
