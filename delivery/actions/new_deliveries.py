"""The rows of a new delivery."""

from datetime import datetime

from django.conf import settings

from delivery import lifecycle
from delivery.models import Delivery, Stop, Token
from delivery.payload import DeliveryRequest, Place
from delivery.pricing import Quote


def build(token: Token, payload: DeliveryRequest, quote: Quote, at: datetime) -> Delivery:
    """An unsaved delivery with its unsaved stops."""
    state = lifecycle.new(orders=len(payload.dropoffs), mode=payload.mode)
    delivery = Delivery(
        integrator=token.integrator,
        environment=token.environment,
        token=token,
        vehicle_type=payload.vehicle_type,
        mode=state.mode.value,
        status=state.delivery.value,
        route_status=state.route.value,
        packages=payload.packages,
        shipping_value=quote.value,
        distance_km=quote.distance_km,
        cancel_percent_accepted=quote.cancel_percent_accepted,
        cancel_percent_collected=quote.cancel_percent_collected,
        created_at=at,
        offer_expires_at=at + settings.OFFER_TTL,
        last_sequence=1,
        **_place_fields(payload.pickup),
    )
    delivery.ordered_stops = [
        Stop(
            delivery=delivery,
            index=index,
            status=state.orders[index].value,
            external_id=dropoff.external_id,
            **_place_fields(dropoff),
        )
        for index, dropoff in enumerate(payload.dropoffs)
    ]
    return delivery


def _place_fields(place: Place) -> dict[str, object]:
    return {
        "latitude": place.point.latitude,
        "longitude": place.point.longitude,
        "contact_name": place.contact_name,
        "contact_phone": place.contact_phone,
        "address": place.address,
    }
