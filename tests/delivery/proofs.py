"""Deliveries whose requests asked for proof."""

from dataclasses import replace
from typing import Any

from delivery.lifecycle import Mode
from delivery.models import Delivery, DropoffOptions, Stop
from delivery.payload import Options
from tests.factories import DeliveryFactory, validated_payload


def asking_for(*options: Options, **values: Any) -> Delivery:
    """A delivery with a drop-off for each of these options."""
    payload = validated_payload(stops=len(options), mode=values.pop("mode", Mode.DEFAULT))
    dropoffs = [replace(place, options=each) for place, each in zip(payload.dropoffs, options, strict=True)]
    delivery: Delivery = DeliveryFactory.create(payload=replace(payload, dropoffs=dropoffs), **values)
    return delivery


def first_stop(delivery: Delivery) -> Stop:
    return Stop.objects.get(delivery=delivery, index=0)


def pin_of(delivery: Delivery) -> str:
    """The PIN of the first drop-off."""
    return DropoffOptions.objects.get(pk=first_stop(delivery)).pin


def wrong_pin_of(delivery: Delivery) -> str:
    return f"{(int(pin_of(delivery)) + 1) % 10_000:04d}"
