"""Validates the request bodies of area A. Unknown keys are ignored."""

from typing import Any

from rest_framework import serializers

from delivery.api.fields import (
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
from delivery.distance import Point
from delivery.lifecycle import Mode
from delivery.models import VehicleType
from delivery.models.stop import LABELS
from delivery.payload import DeliveryRequest, Place

Data = dict[str, Any]

# Entries of orderPackages; `quantity` says how many pieces each entry stands for.
_MAX_PACKAGES = 200


class ContactsSerializer(serializers.Serializer[Any]):
    name = TextField(required=True, allow_null=False, allow_blank=False)
    phoneNumber = TextField(required=True, allow_null=False, allow_blank=False)  # noqa: N815  # the specification's name


class OptionalContactsSerializer(serializers.Serializer[Any]):
    name = TextField()
    phoneNumber = TextField()  # noqa: N815  # the specification's name


class CoordinatesSerializer(serializers.Serializer[Any]):
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


class PickupSerializer(serializers.Serializer[Any]):
    contacts = ContactsSerializer()
    address = PickupAddressSerializer()


class DropoffSerializer(serializers.Serializer[Any]):
    externalId = TextField(trim_whitespace=False)  # noqa: N815  # the specification's name
    contacts = OptionalContactsSerializer(required=False, allow_null=True)
    address = AddressSerializer()
    coordinates = CoordinatesSerializer(required=False, allow_null=True)

    def validate(self, attrs: Data) -> Data:
        """Add the drop-off's `point`: both coordinates of `coordinates`, or else both of `address`."""
        for pair in (attrs.get("coordinates") or {}, attrs["address"]):
            if pair.get("latitude") is not None and pair.get("longitude") is not None:
                return {**attrs, "point": Point(pair["latitude"], pair["longitude"])}
        message = "Give latitude and longitude, here or in coordinates."
        missing = [name for name in ("latitude", "longitude") if attrs["address"].get(name) is None]
        raise serializers.ValidationError(
            {"address": {name: [serializers.ErrorDetail(message, "required")] for name in missing}}
        )


class PackageSerializer(serializers.Serializer[Any]):
    """`quantity` pieces, each of `height`, `width` and `length` in centimetres and `weight` in kilograms."""

    description = TextField()
    height = MeasureField(required=False, allow_null=True)
    width = MeasureField(required=False, allow_null=True)
    length = MeasureField(required=False, allow_null=True)
    weight = MeasureField(required=False, allow_null=True)
    quantity = QuantityField(required=False, allow_null=True)


class DeliveryRequestSerializer(serializers.Serializer[Any]):
    """Body of quotation-delivery and request-delivery."""

    vehicleType = NamedChoiceField(choices=VehicleType.values)  # noqa: N815  # the specification's name
    pickup = PickupSerializer()
    dropoffs: serializers.ListSerializer[Any] = serializers.ListSerializer(
        child=DropoffSerializer(), min_length=1, max_length=len(LABELS)
    )
    orderPackages: serializers.ListSerializer[Any] = serializers.ListSerializer(  # noqa: N815  # likewise
        child=PackageSerializer(), required=False, allow_null=True, max_length=_MAX_PACKAGES
    )
    deliveryMode = NamedChoiceField(  # noqa: N815  # likewise
        choices=[mode.value for mode in Mode], required=False, allow_null=True
    )

    @property
    def delivery_request(self) -> DeliveryRequest:
        """The validated body as the actions take it."""
        data: Data = self.validated_data
        pickup = data["pickup"]["address"]
        return DeliveryRequest(
            vehicle_type=data["vehicleType"],
            mode=Mode(data.get("deliveryMode") or Mode.DEFAULT),
            packages=data.get("orderPackages") or [],
            pickup=_place(data["pickup"], Point(pickup["latitude"], pickup["longitude"])),
            dropoffs=[_place(dropoff, dropoff["point"]) for dropoff in data["dropoffs"]],
        )


class CancelSerializer(serializers.Serializer[Any]):
    """Body of cancel-delivery."""

    reason = StrictTextField(required=False, allow_null=True, allow_blank=True, max_length=255)


def _place(data: Data, point: Point) -> Place:
    contacts = data.get("contacts") or {}
    return Place(
        point=point,
        address={name: data["address"].get(name) or "" for name in ADDRESS_TEXTS},
        contact_name=contacts.get("name") or "",
        contact_phone=contacts.get("phoneNumber") or "",
        external_id=data.get("externalId") or "",
    )
