"""Validation of the bodies and queries of area B. Every error names its field; unknown keys are ignored."""

from decimal import Decimal
from typing import Any, NotRequired, TypedDict

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from common.openapi import example_body
from common.serializers import BodySerializer
from common.views import PayloadWarning
from integration import words
from integration.actions.orders import InvoiceData, Item, NewOrder, Receiver
from integration.api import examples
from integration.api.fields import (
    REQUIRED,
    AmountField,
    DimensionsField,
    IssueDateField,
    OptionalTextField,
    PostcodeField,
    SideField,
    TextField,
    TextOrNumberField,
    WeightField,
    WholeNumberField,
)
from integration.api.order_warnings import warnings_about
from integration.freight import Package

_OBJECT: dict[str, Any] = {**REQUIRED, "invalid": "Deve ser um objeto."}
_OPTIONAL: dict[str, Any] = {"required": False, "allow_null": True}
_SERVICES = tuple(words.ORDER_SERVICES)
_MOST_ITEMS = 1000
_SIDES = ("width", "height", "length")


class QuoteBody(TypedDict):
    """Sides in centimetres as strings of digits, `weight` in grams, `declared_amount` in centavos."""

    origin: str
    destination: str
    width: NotRequired[str | None]
    height: NotRequired[str | None]
    length: NotRequired[str | None]
    weight: NotRequired[int | None]
    declared_amount: NotRequired[int | None]


class OrderBody(TypedDict):
    company_document: str
    orderId: str
    orderCost: Decimal
    trackingCode: NotRequired[str | None]
    service: str
    items: list[Item]
    receiver: Receiver
    invoice: NotRequired[InvoiceData | None]


@example_body(examples.FREIGHT)
class QuoteSerializer(BodySerializer):
    """Body of a quote."""

    origin = PostcodeField()
    destination = PostcodeField()
    width = SideField(**_OPTIONAL)
    height = SideField(**_OPTIONAL)
    length = SideField(**_OPTIONAL)
    weight = WeightField(**_OPTIONAL)
    declared_amount = WholeNumberField(smallest=0, **_OPTIONAL)

    @property
    def body(self) -> QuoteBody:
        body: QuoteBody = self.validated_data
        return body

    def warnings(self) -> list[PayloadWarning]:
        """A warning where a side is missing, because the cubed weight needs all three."""
        sides = [name for name in _SIDES if self.body.get(name)]
        return [PayloadWarning((name,), "incomplete_sides") for name in sides] if len(sides) < len(_SIDES) else []

    @property
    def package(self) -> Package:
        return Package(
            weight_g=self.body.get("weight"),
            width_cm=_centimetres(self.body.get("width")),
            height_cm=_centimetres(self.body.get("height")),
            length_cm=_centimetres(self.body.get("length")),
            declared_centavos=self.body.get("declared_amount") or 0,
        )


def _centimetres(side: str | None) -> int | None:
    return None if side is None else int(side)


class ItemSerializer(BodySerializer):
    default_error_messages = _OBJECT

    description = TextField(max_length=1000)
    dimensions = DimensionsField()
    quantity = WholeNumberField(smallest=1, allow_text=True)
    price = AmountField()


class AddressSerializer(BodySerializer):
    default_error_messages = _OBJECT

    state = TextField()
    city = TextField()
    zipCode = TextField()
    street = TextField()
    streetNumber = TextField()
    neighborhood = TextField()
    complement = OptionalTextField()


class ReceiverSerializer(BodySerializer):
    default_error_messages = _OBJECT

    name = TextField()
    phone = OptionalTextField()
    cellphone = OptionalTextField()
    email = OptionalTextField()
    document = OptionalTextField()
    address = AddressSerializer()


class InvoiceSerializer(BodySerializer):
    default_error_messages = _OBJECT

    series = TextOrNumberField()
    number = TextOrNumberField()
    issueDate = IssueDateField(**_OPTIONAL)
    value = AmountField(**_OPTIONAL)
    key = OptionalTextField()


@extend_schema_field({"type": "string", "enum": list(_SERVICES)})
class ServiceField(TextField):
    default_error_messages = {"invalid": f"Deve ser um destes: {', '.join(_SERVICES)}."}

    def to_internal_value(self, data: Any) -> str:
        if data not in _SERVICES:
            self.fail("invalid")
        return str(data)


@example_body(examples.ORDER)
class OrderSerializer(BodySerializer):
    """Body of an order create request."""

    company_document = TextField()
    orderId = TextField()
    orderCost = AmountField()
    trackingCode = OptionalTextField()
    service = ServiceField()
    # Not a ListField, which validates every entry before it checks their number.
    items: serializers.ListSerializer[Any] = serializers.ListSerializer(
        child=ItemSerializer(),
        min_length=1,
        max_length=_MOST_ITEMS,
        error_messages={
            **REQUIRED,
            "not_a_list": "Deve ser uma lista.",
            "min_length": "Pelo menos um item.",
            "max_length": "No máximo {max_length} itens.",
        },
    )
    receiver = ReceiverSerializer(error_messages=REQUIRED | _OBJECT)
    invoice = InvoiceSerializer(**_OPTIONAL)

    def warnings(self) -> list[PayloadWarning]:
        return warnings_about(self.payload)

    @property
    def payload(self) -> NewOrder:
        data: OrderBody = self.validated_data
        return NewOrder(
            company_document=data["company_document"],
            code=data["orderId"],
            tracking_code=data.get("trackingCode") or "",
            service=data["service"],
            cost=data["orderCost"],
            items=data["items"],
            receiver=data["receiver"],
            invoice=data.get("invoice"),
        )


@example_body({"orderId": "A-1001"})
class CancelSerializer(BodySerializer):
    """Body of a cancellation."""

    orderId = TextField()


class TrackingSerializer(BodySerializer):
    """Query string of a tracking query, except `value`, whose absence has a status of its own."""

    type = serializers.ChoiceField(
        choices=["document", "order_number"],
        help_text="What `value` is.",
        error_messages={"required": "Campo obrigatório.", "invalid_choice": "Deve ser document ou order_number."},
    )
    document = TextField(
        required=False, allow_blank=True, max_length=None, help_text="The receiver's document, as a further filter."
    )
