"""Quote-Ids: signed texts that hold a price and the trip it is for, so that quoting writes nothing."""

import hashlib
import json
from datetime import datetime, timedelta
from decimal import Decimal

from django.core.signing import BadSignature, Signer

from delivery.errors import QuoteExpired, QuoteMismatch
from delivery.models import Token
from delivery.payload import DeliveryRequest
from delivery.pricing import Quote

LIFETIME = timedelta(minutes=10)
_LONGEST = 1000  # characters; an id has about 250
_MEASURES = ("height", "width", "length", "weight", "quantity")
_signer = Signer(salt="delivery.quote")


def issue(quote: Quote, *, token: Token, payload: DeliveryRequest, at: datetime) -> str:
    """The id of a quote made now. It is valid for LIFETIME, for the account and environment of the token."""
    figures = (quote.value, quote.distance_km, quote.cancel_percent_accepted, quote.cancel_percent_collected)
    return _signer.sign_object([*_subject(token, payload), (at + LIFETIME).timestamp(), *map(str, figures)])


def redeem(quote_id: str, *, token: Token, payload: DeliveryRequest, at: datetime) -> Quote:
    """The quote that was issued under this id. Raises QuoteExpired or QuoteMismatch."""
    try:
        account, trip, expires, *figures = _signer.unsign_object(quote_id[:_LONGEST])
    except BadSignature as error:
        raise QuoteMismatch("The header Quote-Id is not one that quotation-delivery has answered with.") from error
    own_account, own_trip = _subject(token, payload)
    if account != own_account:
        raise QuoteMismatch("The Quote-Id was issued to another account, or in the other environment.")
    if trip != own_trip:
        raise QuoteMismatch(
            "The Quote-Id is for other points, packages, vehicleType or deliveryMode than this request. Quote it first."
        )
    if at.timestamp() >= expires:
        raise QuoteExpired("A quote is valid for 10 minutes. Quote again, and request with the new Quote-Id.")
    return Quote(*map(Decimal, figures))


def _subject(token: Token, payload: DeliveryRequest) -> tuple[str, str]:
    """What a quote is for: the account with its environment, and a digest of the trip."""
    points = [payload.pickup.point, *(dropoff.point for dropoff in payload.dropoffs)]
    trip = [
        payload.vehicle_type,
        payload.mode,
        [(point.latitude, point.longitude) for point in points],
        [[item.get(measure) for measure in _MEASURES] for item in payload.packages],
    ]
    digest = hashlib.sha256(json.dumps(trip).encode()).hexdigest()[:32]
    return f"{token.integrator_id.hex}/{token.environment}", digest
