"""Validates the request bodies of area A. Unknown keys are ignored."""

from collections.abc import Iterator, Mapping
from datetime import datetime
from functools import cached_property
from typing import Any

from django.conf import settings
from django.utils import timezone
from rest_framework import serializers

from common.api.openapi import NOT_BLANK, example_body, sent
from common.api.serializers import BodySerializer, FlagField
from common.api.views import InvalidBody, Path, PayloadWarning, nearest
from common.brazil import phones, states
from common.fields import composed
from common.simulation import pace
from delivery import simulation_steps as steps
from delivery import windows
from delivery.api import examples
from delivery.api.fields import (
    EmailField,
    LatitudeField,
    LongitudeField,
    MeasureField,
    MomentField,
    NamedChoiceField,
    QuantityField,
    StrictTextField,
    TextField,
    ZipcodeField,
)
from delivery.bodies import ADDRESS_TEXTS
from delivery.geo import service_area
from delivery.geo.distance import Point, metres
from delivery.lifecycle import Mode, OnFailure
from delivery.models import Environment, VehicleType
from delivery.models.stop import LABELS, LONGEST_INSTRUCTIONS
from delivery.payload import DeliveryRequest, Options, Place
from delivery.places import addresses
from delivery.windows import Code, Fault, Window

Data = dict[str, Any]

# Entries of orderPackages; `quantity` says how many pieces each entry stands for.
_MAX_PACKAGES = 200
_SAME_PLACE_M = 10  # coordinates that are this near to each other differ by their rounding


_NOT_A_LIST: dict[str, Any] = {
    "not_a_list": "This must be a JSON list.",
    "min_length": "One entry at least.",
    "max_length": "{max_length} entries at most.",
}


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
        check_not_swapped(point, "address")
        return {**attrs, "point": point}


class DropoffSerializer(ObjectSerializer):
    """It needs a latitude and a longitude, both in `coordinates` or else both in `address`.

    Where the operator has set a geocoder or imported addresses both may be absent: the address is located then, see
    `Rota-Located`.
    """

    externalId = TextField(trim_whitespace=False)
    contacts = OptionalContactsSerializer(required=False, allow_null=True)
    address = AddressSerializer()
    coordinates = CoordinatesSerializer(required=False, allow_null=True)
    instructions = TextField(max_length=LONGEST_INSTRUCTIONS)
    proof = ProofSerializer(required=False, allow_null=True)
    onFailure = NamedChoiceField(choices=[policy.value for policy in OnFailure], required=False, allow_null=True)
    readyAt = MomentField()
    deadlineAt = MomentField()

    def validate(self, attrs: Data) -> Data:
        """Add the drop-off's `point`: both coordinates of `coordinates`, or else both of `address`.

        It is None if none is sent and the address can be looked up.
        """
        for name in ("coordinates", "address"):
            if point := _point(attrs.get(name) or {}):
                check_not_swapped(point, name)
                return {**attrs, "point": point}
        message = (
            "Give latitude and longitude, here or in coordinates. No addresses are known here: the operator of this "
            "service can set GEOCODER_URL, or import some with 'manage.py addresses import'."
        )
        if addresses.can_locate():
            if _can_be_located(attrs):
                return {**attrs, "point": None}
            message = "Give latitude and longitude, here or in coordinates, or an address and none of the two."
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


# Of a body of mode REVERSE, as `_not_in_reverse`.
_NO_PROOF = {"properties": {name: {"not": {"const": True}} for name in ("photo", "pin")}}
_IN_REVERSE = {
    "properties": {
        "dropoffs": {
            "items": {"properties": {"onFailure": {"enum": [OnFailure.RETURN.value, None]}, "proof": _NO_PROOF}}
        }
    }
}


@example_body(examples.DELIVERY_REQUEST)
class DeliveryRequestSerializer(ObjectSerializer):
    """Body of quotation-delivery and request-delivery."""

    conditions = {"if": sent("deliveryMode", {"const": Mode.REVERSE}), "then": _IN_REVERSE}

    # `context` has the token's `environment`, and whether the body `is_quoted` only.
    synonyms = {
        "quoteid": "header Quote-Id",
        "idempotencykey": "header Idempotency-Key",
        "sandboxspeed": "header Sandbox-Speed",
    }

    vehicleType = NamedChoiceField(choices=VehicleType.values)
    pickup = PickupSerializer()
    dropoffs: serializers.ListSerializer[Any] = serializers.ListSerializer(
        child=DropoffSerializer(), min_length=1, max_length=len(LABELS), error_messages=_NOT_A_LIST
    )
    orderPackages: serializers.ListSerializer[Any] = serializers.ListSerializer(
        child=PackageSerializer(), required=False, allow_null=True, max_length=_MAX_PACKAGES, error_messages=_NOT_A_LIST
    )
    deliveryMode = NamedChoiceField(choices=[mode.value for mode in Mode], required=False, allow_null=True)
    pickupReadyAt = MomentField()
    pickupDeadlineAt = MomentField()

    def validate(self, attrs: Data) -> Data:
        """Refuse what a drop-off of mode REVERSE, at which the driver collects, cannot ask for."""
        if attrs.get("deliveryMode") == Mode.REVERSE:
            errors: Any = {
                index: found for index, dropoff in enumerate(attrs["dropoffs"]) if (found := _not_in_reverse(dropoff))
            }
            if errors:
                raise serializers.ValidationError({"dropoffs": errors})
        return attrs

    @property
    def to_locate(self) -> dict[int, dict[str, str]]:
        """The addresses of the drop-offs without coordinates, by index."""
        dropoffs = enumerate(self.validated_data["dropoffs"])
        return {index: _address(dropoff) for index, dropoff in dropoffs if dropoff["point"] is None}

    def delivery_request(self, located: Mapping[int, Point]) -> DeliveryRequest:
        """The validated body as the actions take it, with the points of the addresses `to_locate`."""
        data: Data = self.validated_data
        pickup, *dropoffs = self.windows
        return DeliveryRequest(
            vehicle_type=data["vehicleType"],
            mode=Mode(data.get("deliveryMode") or Mode.DEFAULT),
            packages=data.get("orderPackages") or [],
            pickup=_place(data["pickup"], pickup),
            dropoffs=[
                _place(dropoff, window, located.get(index))
                for index, (dropoff, window) in enumerate(zip(data["dropoffs"], dropoffs, strict=True))
            ],
        )

    @cached_property
    def windows(self) -> list[Window]:
        """Those of A and of the drop-offs."""
        data: Data = self.validated_data
        pickup = Window(data.get("pickupReadyAt"), data.get("pickupDeadlineAt"))
        return [pickup, *(Window(each.get("readyAt"), each.get("deadlineAt")) for each in data["dropoffs"])]

    def check_windows(self, at: datetime) -> None:
        """Raise InvalidBody for windows that are refused at `at`."""
        pickup, *dropoffs = self.windows
        is_reverse = self.validated_data.get("deliveryMode") == Mode.REVERSE
        errors: Any = {}
        for fault in windows.faults(pickup, dropoffs, is_reverse=is_reverse, at=at):
            detail = [serializers.ErrorDetail(self._about_fault(fault, at), fault.code.value)]
            if fault.dropoff is None:
                errors["pickupDeadlineAt" if fault.is_deadline else "pickupReadyAt"] = detail
            else:
                of_dropoff = errors.setdefault("dropoffs", {}).setdefault(fault.dropoff, {})
                of_dropoff["deadlineAt" if fault.is_deadline else "readyAt"] = detail
        if errors:
            raise InvalidBody(errors, [])

    def _about_fault(self, fault: Fault, at: datetime) -> str:
        """What is wrong with a window, and what time it is: a deadline that has passed may be local time with a Z."""
        if fault.code is Code.TOO_FAR_AHEAD:
            return fault.text
        window = self.windows[0 if fault.dropoff is None else fault.dropoff + 1]
        moment = window.deadline_at if fault.is_deadline else window.ready_at
        has_passed = moment is not None and moment < at
        utc = " 'Z' is UTC: a local time has its offset, such as -03:00." if has_passed else ""
        return f"{fault.text} It is {timezone.localtime(at).isoformat(timespec='seconds')} now.{utc}"

    def warnings_at(self, at: datetime) -> list[PayloadWarning]:
        """The moments that have passed at `at`."""
        indexes = windows.in_the_past(self.windows, at=at)
        values = (("now", timezone.localtime(at).isoformat(timespec="seconds")),) if indexes else ()
        return [
            PayloadWarning(
                ("dropoffs", index - 1, "readyAt") if index else ("pickupReadyAt",), "window_in_the_past", values=values
            )
            for index in indexes
        ]

    def warnings(self) -> list[PayloadWarning]:
        """What is accepted and probably a mistake."""
        data: Data = self.validated_data
        places: list[tuple[Path, Data]] = [
            (("pickup",), data["pickup"]),
            *((("dropoffs", index), dropoff) for index, dropoff in enumerate(data["dropoffs"])),
        ]
        return [
            *self._about_outcome(data["dropoffs"][0].get("externalId") or ""),
            *_about_duplicates([composed(dropoff.get("externalId") or "") for dropoff in data["dropoffs"]]),
            *([] if self.context["is_quoted"] else _about_missing(data["dropoffs"])),
            *(warning for path, place in places for warning in _about_place(path, place)),
            *(
                warning
                for index, item in enumerate(data.get("orderPackages") or [])
                for warning in _about_package(index, item)
            ),
        ]

    def _about_outcome(self, external_id: str) -> list[PayloadWarning]:
        """The outcome of a simulated delivery that is asked for in another spelling, and so does not happen."""
        if self.context["environment"] != Environment.SANDBOX or not pace.is_misspelt(external_id, steps.PREFIXES):
            return []
        path = ("dropoffs", 0, "externalId")
        known = steps.PREFIXES
        return [PayloadWarning(path, "unknown_outcome", nearest(external_id, known), known)]


@example_body({"contacts": {"phoneNumber": "+55 11 97777-0002"}, "instructions": "Ring at the neighbour's"})
class DropoffChangeSerializer(ObjectSerializer):
    """What can be changed of a drop-off; each key is optional, and stays as it is where it is not sent.

    Empty text and null remove a text; `contacts` null changes none.
    """

    conditions = {"minProperties": 1, "additionalProperties": False}  # the view refuses other keys

    contacts = OptionalContactsSerializer(required=False, allow_null=True)
    instructions = TextField(max_length=LONGEST_INSTRUCTIONS)

    def validate(self, attrs: Data) -> Data:
        if not attrs.keys() & {"contacts", "instructions"}:
            raise serializers.ValidationError("Send contacts or instructions.", "required")
        return attrs

    @property
    def columns(self) -> dict[str, str]:
        """The values by the names of the columns."""
        data: Data = self.validated_data
        contacts = data.get("contacts") or {}
        sent = {column: contacts[key] for key, column in _COLUMNS.items() if key in contacts}
        if "instructions" in data:
            sent["instructions"] = data["instructions"]
        return {column: value or "" for column, value in sent.items()}


_COLUMNS = {"name": "contact_name", "phoneNumber": "contact_phone", "email": "contact_email"}


@example_body({"action": "LEAVE", "instructions": "Behind the gate"})
class InstructSerializer(ObjectSerializer):
    """Body of instruct: one of the two keys at least."""

    conditions = {
        "if": {"not": sent("action", {"type": "string"})},
        "then": sent("instructions", {"type": "string", "pattern": NOT_BLANK}),
    }

    action = NamedChoiceField(choices=[policy.value for policy in OnFailure], required=False, allow_null=True)
    instructions = TextField(max_length=LONGEST_INSTRUCTIONS)

    def validate(self, attrs: Data) -> Data:
        if not (attrs.get("action") or attrs.get("instructions")):
            raise serializers.ValidationError("Send an action, instructions, or both.", "required")
        return attrs


@example_body({"reason": "The customer gave up"})
class CancelSerializer(ObjectSerializer):
    """Body of cancel-delivery."""

    reason = StrictTextField(required=False, allow_null=True, allow_blank=True, max_length=255)


def _not_in_reverse(dropoff: Data) -> dict[str, list[Any]]:
    """The errors of a drop-off at which the driver collects."""
    asked = {
        "onFailure": dropoff.get("onFailure") not in (None, OnFailure.RETURN),
        "proof": any((dropoff.get("proof") or {}).values()),
    }
    text = "A drop-off at which the driver collects (deliveryMode REVERSE) has none."
    return {name: [serializers.ErrorDetail(text, "not_in_reverse")] for name, is_asked in asked.items() if is_asked}


def _about_duplicates(external_ids: list[str]) -> Iterator[PayloadWarning]:
    """The drop-offs whose externalId one before them has."""
    for index, external_id in enumerate(external_ids):
        if external_id and external_id in external_ids[:index]:
            yield PayloadWarning(("dropoffs", index, "externalId"), "duplicate_external_id")


def _about_missing(dropoffs: list[Data]) -> Iterator[PayloadWarning]:
    """What a drop-off is told by later, to the caller and to the driver. A quote needs neither."""
    for index, dropoff in enumerate(dropoffs):
        if not (dropoff.get("externalId") or "").strip():
            yield PayloadWarning(("dropoffs", index, "externalId"), "missing_external_id")
        contacts = dropoff.get("contacts") or {}
        if not (contacts.get("name") or contacts.get("phoneNumber")):
            yield PayloadWarning(("dropoffs", index, "contacts"), "missing_contact")


def _about_package(index: int, item: Data) -> Iterator[PayloadWarning]:
    """A weight that is missing, and sides that are metres."""
    if item.get("weight") is None:
        yield PayloadWarning(("orderPackages", index, "weight"), "missing_weight")
    for name in ("height", "width", "length"):
        if (side := item.get(name)) is not None and side < 1:
            yield PayloadWarning(("orderPackages", index, name), "doubtful_measure")


def _about_place(path: Path, place: Data) -> Iterator[PayloadWarning]:
    """What is doubtful about the contact, the address and the coordinates of A or of a drop-off."""
    address = place["address"]
    if (phone := (place.get("contacts") or {}).get("phoneNumber")) and phones.is_doubtful(phone):
        yield PayloadWarning((*path, "contacts", "phoneNumber"), "doubtful_phone")
    for name in ("street", "number"):
        if not address.get(name):
            yield PayloadWarning((*path, "address", name), f"missing_{name}")
    of_coordinates, of_address = _point(place.get("coordinates") or {}), _point(address)
    yield from _about_state(path, address, of_coordinates, of_address)
    if of_coordinates and of_address and metres(of_coordinates, of_address) > _SAME_PLACE_M:
        yield PayloadWarning((*path, "coordinates"), "different_coordinates")


def _about_state(
    path: Path, address: Data, of_coordinates: Point | None, of_address: Point | None
) -> Iterator[PayloadWarning]:
    """The postcode, and the coordinates that count, where they are of another state than the address names.

    An address without a state, or with one that is not Brazil's, has that of its postcode.
    """
    region = states.region_of(address.get("zipcode") or "")
    state = states.state_named(address.get("state") or "")
    if region is not None and state and region.state != state:
        yield PayloadWarning((*path, "address", "zipcode"), "postcode_of_another_state")
    state, point = state or (region.state if region else ""), of_coordinates or of_address
    if state and point and not states.may_lie_in(state, point.latitude, point.longitude):
        yield PayloadWarning((*path, "coordinates" if of_coordinates else "address"), "postcode_of_another_state")


def _point(pair: Data) -> Point | None:
    """The place of an object with both coordinates; None if one of them is missing."""
    latitude, longitude = pair.get("latitude"), pair.get("longitude")
    return None if latitude is None or longitude is None else Point(latitude, longitude)


def check_not_swapped(point: Point, name: str) -> None:
    """Raise ValidationError for the field `name` if only the other way round the point is inside the service area."""
    if service_area.is_swapped(settings.SERVICE_AREA, point.latitude, point.longitude):
        text = (
            f"({point.latitude}, {point.longitude}) is outside the area that this service serves. Latitude and "
            "longitude seem to be swapped: the other way round it is inside."
        )
        raise serializers.ValidationError({name: [serializers.ErrorDetail(text, "swapped_coordinates")]})


def _can_be_located(dropoff: Data) -> bool:
    """Whether there is an address, and neither of the two coordinates."""
    pairs = (dropoff["address"], dropoff.get("coordinates") or {})
    sent = any(pair.get(name) is not None for pair in pairs for name in ("latitude", "longitude"))
    return not sent and any(dropoff["address"].get(name) for name in ("street", "district", "city", "zipcode"))


def _address(place: Data) -> dict[str, str]:
    return {name: place["address"].get(name) or "" for name in ADDRESS_TEXTS}


def _place(data: Data, window: Window, located: Point | None = None) -> Place:
    contacts, proof = data.get("contacts") or {}, data.get("proof") or {}
    return Place(
        point=located or data["point"],
        address=_address(data),
        contact_name=contacts.get("name") or "",
        contact_phone=contacts.get("phoneNumber") or "",
        external_id=data.get("externalId") or "",
        window=window,
        options=Options(
            instructions=data.get("instructions") or "",
            email=contacts.get("email") or "",
            needs_photo=bool(proof.get("photo")),
            has_pin=bool(proof.get("pin")),
            on_failure=OnFailure(data["onFailure"]) if data.get("onFailure") else None,
        ),
    )
