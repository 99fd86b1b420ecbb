"""Validates the request bodies of area A. Unknown keys are ignored."""

from typing import Any

from django.conf import settings
from rest_framework import serializers

from common.openapi import example_body
from common.serializers import BodySerializer
from common.views import Path, PayloadWarning, nearest
from delivery.api import examples
from delivery.api.fields import (
    EmailField,
    FlagField,
    LatitudeField,
    LongitudeField,
    MeasureField,
    NamedChoiceField,
    QuantityField,
    StrictTextField,
    TextField,
    ZipcodeField,
)
from delivery.bodies import ADDRESS_TEXTS
from delivery.geo import service_area
from delivery.geo.distance import Point
from delivery.lifecycle import Mode
from delivery.models import Environment, VehicleType
from delivery.models.stop import LABELS
from delivery.payload import DeliveryRequest, Options, Place
from delivery.simulation import steps

Data = dict[str, Any]

# Entries of orderPackages; `quantity` says how many pieces each entry stands for.
_MAX_PACKAGES = 200
_FEWEST_DIGITS = 8  # of a Brazilian telephone number without its area code


class ObjectSerializer(BodySerializer):
    default_error_messages = {"invalid": "This must be a JSON object."}


class ContactsSerializer(ObjectSerializer):
    name = TextField(required=True, allow_null=False, allow_blank=False)
    phoneNumber = TextField(required=True, allow_null=False, allow_blank=False)


class OptionalContactsSerializer(ObjectSerializer):
    name = TextField()
    phoneNumber = TextField()
    email = EmailField()


class ProofSerializer(ObjectSerializer):
    """What the driver has to bring from a drop-off: a photo, and the PIN that the receiver knows."""

    photo = FlagField()
    pin = FlagField()


class CoordinatesSerializer(ObjectSerializer):
    latitude = LatitudeField(required=False, allow_null=True)
    longitude = LongitudeField(required=False, allow_null=True)


class AddressSerializer(CoordinatesSerializer):
    city = TextField()
    state = TextField()
    street = TextField()
    number = TextField()
    zipcode = ZipcodeField()
    district = TextField()
    country = TextField()
    complement = TextField()


class PickupAddressSerializer(AddressSerializer):
    latitude = LatitudeField()
    longitude = LongitudeField()


class PickupSerializer(ObjectSerializer):
    contacts = ContactsSerializer()
    address = PickupAddressSerializer()

    def validate(self, attrs: Data) -> Data:
        """Add the `point`."""
        point = Point(attrs["address"]["latitude"], attrs["address"]["longitude"])
        check_served(point, "address")
        return {**attrs, "point": point}


class DropoffSerializer(ObjectSerializer):
    """It needs a latitude and a longitude, both in `coordinates` or else both in `address`."""

    externalId = TextField(trim_whitespace=False)
    contacts = OptionalContactsSerializer(required=False, allow_null=True)
    address = AddressSerializer()
    coordinates = CoordinatesSerializer(required=False, allow_null=True)
    instructions = TextField(max_length=500)
    proof = ProofSerializer(required=False, allow_null=True)

    def validate(self, attrs: Data) -> Data:
        """Add the drop-off's `point`: both coordinates of `coordinates`, or else both of `address`."""
        for name in ("coordinates", "address"):
            pair = attrs.get(name) or {}
            if pair.get("latitude") is not None and pair.get("longitude") is not None:
                point = Point(pair["latitude"], pair["longitude"])
                check_served(point, name)
                return {**attrs, "point": point}
        message = "Give latitude and longitude, here or in coordinates."
        missing = [name for name in ("latitude", "longitude") if attrs["address"].get(name) is None]
        raise serializers.ValidationError(
            {"address": {name: [serializers.ErrorDetail(message, "required")] for name in missing}}
        )


class PackageSerializer(ObjectSerializer):
    """`quantity` pieces, each of `height`, `width` and `length` in centimetres and `weight` in kilograms."""

    description = TextField()
    height = MeasureField(required=False, allow_null=True)
    width = MeasureField(required=False, allow_null=True)
    length = MeasureField(required=False, allow_null=True)
    weight = MeasureField(required=False, allow_null=True)
    quantity = QuantityField(required=False, allow_null=True)


@example_body(examples.DELIVERY_REQUEST)
class DeliveryRequestSerializer(ObjectSerializer):
    """Body of quotation-delivery and request-delivery."""

    # `context` has the token's `environment`.

    vehicleType = NamedChoiceField(choices=VehicleType.values)
    pickup = PickupSerializer()
    dropoffs: serializers.ListSerializer[Any] = serializers.ListSerializer(
        child=DropoffSerializer(), min_length=1, max_length=len(LABELS)
    )
    orderPackages: serializers.ListSerializer[Any] = serializers.ListSerializer(
        child=PackageSerializer(), required=False, allow_null=True, max_length=_MAX_PACKAGES
    )
    deliveryMode = NamedChoiceField(choices=[mode.value for mode in Mode], required=False, allow_null=True)

    @property
    def delivery_request(self) -> DeliveryRequest:
        """The validated body as the actions take it."""
        data: Data = self.validated_data
        return DeliveryRequest(
            vehicle_type=data["vehicleType"],
            mode=Mode(data.get("deliveryMode") or Mode.DEFAULT),
            packages=data.get("orderPackages") or [],
            pickup=_place(data["pickup"]),
            dropoffs=[_place(dropoff) for dropoff in data["dropoffs"]],
        )

    def warnings(self) -> list[PayloadWarning]:
        """What is accepted and probably a mistake."""
        data: Data = self.validated_data
        places: list[tuple[Path, Data]] = [
            (("pickup",), data["pickup"]),
            *((("dropoffs", index), dropoff) for index, dropoff in enumerate(data["dropoffs"])),
        ]
        return [
            *self._about_outcome(data["dropoffs"][0].get("externalId") or ""),
            *(
                PayloadWarning((*path, "contacts", "phoneNumber"), "doubtful_phone")
                for path, place in places
                if _is_doubtful((place.get("contacts") or {}).get("phoneNumber"))
            ),
            *(
                PayloadWarning(("orderPackages", index, "weight"), "missing_weight")
                for index, item in enumerate(data.get("orderPackages") or [])
                if item.get("weight") is None
            ),
        ]

    def _about_outcome(self, external_id: str) -> list[PayloadWarning]:
        """The outcome of a simulated delivery that is asked for in another spelling, and so does not happen."""
        if self.context["environment"] != Environment.SANDBOX or not steps.is_misspelt(external_id):
            return []
        path = ("dropoffs", 0, "externalId")
        known = steps.PREFIXES
        return [PayloadWarning(path, "unknown_outcome", nearest(external_id, known), known)]


@example_body({"reason": "The customer gave up"})
class CancelSerializer(ObjectSerializer):
    """Body of cancel-delivery."""

    reason = StrictTextField(required=False, allow_null=True, allow_blank=True, max_length=255)


def _is_doubtful(phone: str | None) -> bool:
    return bool(phone) and sum(character.isdigit() for character in phone or "") < _FEWEST_DIGITS


def check_served(point: Point, name: str) -> None:
    """Raise ValidationError for the field `name` if the point is outside the service area."""
    if service_area.serves(settings.SERVICE_AREA, point.latitude, point.longitude):
        return
    text = f"({point.latitude}, {point.longitude}) is outside the area that this service serves."
    if service_area.serves(settings.SERVICE_AREA, point.longitude, point.latitude):
        text = f"{text} Latitude and longitude seem to be swapped: the other way round it is inside."
    raise serializers.ValidationError({name: [serializers.ErrorDetail(text, "outside_service_area")]})


def _place(data: Data) -> Place:
    contacts, proof = data.get("contacts") or {}, data.get("proof") or {}
    return Place(
        point=data["point"],
        address={name: data["address"].get(name) or "" for name in ADDRESS_TEXTS},
        contact_name=contacts.get("name") or "",
        contact_phone=contacts.get("phoneNumber") or "",
        external_id=data.get("externalId") or "",
        options=Options(
            instructions=data.get("instructions") or "",
            email=contacts.get("email") or "",
            needs_photo=bool(proof.get("photo")),
            has_pin=bool(proof.get("pin")),
        ),
    )
