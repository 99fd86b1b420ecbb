"""What a request asked for at its drop-offs beside the specification's fields."""

import secrets

from common import credentials
from delivery.models import Delivery, DropoffOptions, Stop
from delivery.payload import DeliveryRequest, Options

_PINS = 10_000


def create(delivery: Delivery, payload: DeliveryRequest) -> None:
    """Write the options of a new delivery's stops, and invent the PINs. In the transaction of the request."""
    stops = Stop.objects.filter(delivery=delivery).order_by("index")
    DropoffOptions.objects.bulk_create(
        DropoffOptions(
            stop=stop,
            instructions=dropoff.options.instructions,
            contact_email=dropoff.options.email,
            needs_photo=dropoff.options.needs_photo,
            pin_ciphertext=credentials.encrypt(f"{secrets.randbelow(_PINS):04d}") if dropoff.options.has_pin else "",
        )
        for stop, dropoff in zip(stops, payload.dropoffs, strict=True)
        if dropoff.options != Options()
    )
