"""Validation of bodies, and of queries but those of lists. Every error names its field; unknown keys are ignored."""

from dataclasses import replace
from decimal import Decimal
from typing import Any

from django.conf import settings
from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from common.api.openapi import NOT_BLANK, example_body, sent
from common.api.serializers import BodySerializer
from common.api.views import PayloadWarning
from integration import payload_warnings, words
from integration.actions.orders import Details, NewOrder
from integration.api.fields import (
    OPTIONAL,
    REQUIRED,
    AmountField,
    ChoiceField,
    DimensionsField,
    IdentifierField,
    IssueDateField,
    MomentField,
    OptionalIdentifierField,
    OptionalTextField,
    TextField,
    WholeNumberField,
)
from integration.lifecycle import Reason
from integration.models.manifest import MOST_ORDERS
from integration.models.order import LONGEST_PLACE, LONGEST_REASON, MOST_VOLUMES
from integration.papers.files import FORMATS
from integration.papers.label_pdf import PER_A4, Size

_OBJECT: dict[str, Any] = {**REQUIRED, "invalid": "Deve ser um objeto."}
_SERVICES = tuple(words.ORDER_SERVICES)
_MOST_ITEMS = 1000

_ORDER: dict[str, Any] = {
    "company_document": "48.372.915/0001-54",
    "orderId": "A-1001",
    "orderCost": 150.5,
    "service": "base",
    "items": [{"description": "Cafeteira", "dimensions": "10x20x30,1.5", "quantity": 1, "price": 150.5}],
    "receiver": {
        "name": "Maria",
        "cellphone": "11977770001",
        "address": {
            "state": "SP", "city": "São Paulo", "zipCode": "01304001", "street": "Rua Augusta", "streetNumber": "900",
            "neighborhood": "Consolação",
        },
    },
}  # fmt: skip  # an order


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

    series = OptionalIdentifierField()
    number = OptionalIdentifierField()
    issueDate = IssueDateField(**OPTIONAL)
    value = AmountField(**OPTIONAL)
    key = OptionalTextField()


@extend_schema_field({"type": "string", "enum": list(_SERVICES)})
class ServiceField(TextField):
    """One of the specification's services. An operator's name of one, from SERVICE_ALIASES, is replaced by it."""

    default_error_messages = {"invalid": "Deve ser um destes: {names}."}

    def to_internal_value(self, data: Any) -> str:
        named = settings.SERVICE_ALIASES.get(data, data) if isinstance(data, str) else data
        if named not in _SERVICES:
            self.fail("invalid", names=", ".join((*_SERVICES, *settings.SERVICE_ALIASES)))
        return str(named)


def _items(**options: Any) -> serializers.ListSerializer[Any]:
    # Not a ListField, which validates every entry before it checks their number.
    return serializers.ListSerializer(
        child=ItemSerializer(),
        min_length=1,
        max_length=_MOST_ITEMS,
        error_messages={
            **REQUIRED,
            "not_a_list": "Deve ser uma lista.",
            "min_length": "Pelo menos um item.",
            "max_length": "No máximo {max_length} itens.",
        },
        **options,
    )


def _volumes(help_text: str) -> WholeNumberField:
    return WholeNumberField(smallest=1, largest=MOST_VOLUMES, help_text=help_text, **OPTIONAL)


@example_body(_ORDER)
class OrderSerializer(BodySerializer):
    """Body of an order create request."""

    # `context` has the key's `environment` and `heaviest_g`.
    synonyms = {
        **dict.fromkeys(("nfe", "nf", "notafiscal"), "invoice"),
        "idempotencykey": "cabeçalho Idempotency-Key",
        "sandboxspeed": "cabeçalho Sandbox-Speed",
    }

    company_document = TextField()
    orderId = IdentifierField()
    orderCost = AmountField()
    trackingCode = OptionalIdentifierField()
    service = ServiceField()
    items: serializers.ListSerializer[Any] = _items()
    receiver = ReceiverSerializer()
    invoice = InvoiceSerializer(**OPTIONAL)
    volumes = _volumes("In how many boxes the order leaves; 1 if absent.")

    def warnings(self) -> list[PayloadWarning]:
        return payload_warnings.of(self.payload, **self.context)

    @property
    def payload(self) -> NewOrder:
        data = self.validated_data
        return NewOrder(
            company_document=data["company_document"],
            code=data["orderId"],
            tracking_code=data.get("trackingCode") or "",
            service=data["service"],
            cost=data["orderCost"],
            items=data["items"],
            receiver=data["receiver"],
            invoice=data.get("invoice"),
            volumes=data.get("volumes") or 1,
        )


_CORRECTED = {
    "receiver": "receiver",
    "items": "items",
    "volumes": "volumes",
    "orderCost": "cost",
    "service": "service",
    "invoice": "invoice",
}


@example_body({"receiver": {**_ORDER["receiver"], "address": {**_ORDER["receiver"]["address"], "streetNumber": "902"}}})
class CorrectionSerializer(BodySerializer):
    """What can be corrected of an order. Each key is optional, and its value replaces the one before as a whole.

    Null removes `invoice`, and as `volumes` it is 1.
    """

    conditions = {"if": {"not": {"anyOf": [sent(key) for key in _CORRECTED]}}, "then": sent("receiver")}

    # `context` has that of OrderSerializer and the `order`, a NewOrder.
    synonyms = dict.fromkeys(("orderid", "trackingcode", "companydocument"), "")  # which do not change

    receiver = ReceiverSerializer(required=False)
    items: serializers.ListSerializer[Any] = _items(required=False)
    volumes = _volumes("In how many boxes the order leaves.")
    orderCost = AmountField(required=False)
    service = ServiceField(required=False)
    invoice = InvoiceSerializer(**OPTIONAL)

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        if not attrs:
            raise serializers.ValidationError({"body": [f"Envie pelo menos um destes: {', '.join(_CORRECTED)}."]})
        return attrs

    def warnings(self) -> list[PayloadWarning]:
        """Those of an order with what is corrected, about that."""
        context = {name: value for name, value in self.context.items() if name != "order"}
        found = payload_warnings.of(replace(self.context["order"], **self.changes), **context)
        return [each for each in found if each.path[0] in self.validated_data]

    @property
    def changes(self) -> dict[str, Any]:
        """The values by names of NewOrder's fields."""
        sent = {name: self.validated_data[key] for key, name in _CORRECTED.items() if key in self.validated_data}
        return {**sent, **({"volumes": sent["volumes"] or 1} if "volumes" in sent else {})}


@extend_schema_field({"type": ["string", "null"], "enum": [*(reason.value for reason in Reason), None]})
class ReasonField(OptionalTextField):
    """The code of a reason. Another text than one of `Reason` is refused with the details that it belongs to."""


@example_body({"code": "ABSENT", "place": "Salvador/BA"})
class ReportSerializer(BodySerializer):
    """What is reported of a change of status. Every key may be absent, and so may the body."""

    conditions = {
        "if": sent("code", {"const": Reason.OTHER}),
        "then": sent("reason", {"type": "string", "pattern": NOT_BLANK}),
    }

    code = ReasonField(max_length=len(max(Reason, key=len)))
    reason = OptionalTextField(max_length=LONGEST_REASON, help_text="In words. OTHER needs it.")
    place = OptionalTextField(max_length=LONGEST_PLACE)
    occurredAt = MomentField(help_text="When it happened, at most 30 days ago and not before the entry before it.")

    @property
    def details(self) -> Details:
        return self.details_of(self.validated_data)

    @staticmethod
    def details_of(data: dict[str, Any]) -> Details:
        return Details(
            reason_code=data.get("code") or "",
            reason=data.get("reason") or "",
            place=data.get("place") or "",
            happened_at=data.get("occurredAt"),
        )


class ShownSerializer(BodySerializer):
    """Query string of the detail."""

    shippingId = WholeNumberField(
        smallest=1,
        largest=10**18 - 1,  # of as many digits as a text may have
        allow_text=True,
        required=False,
        help_text=(
            "That of the order, where several had the orderId: those that were cancelled before they were collected."
        ),
    )


@example_body({"orderId": "A-1001"})
class CancelSerializer(BodySerializer):
    """Body of a cancellation."""

    orderId = IdentifierField()


class ManyOrders(BodySerializer):
    """The orders of a call, by their codes."""

    orderIds = serializers.ListField(
        child=IdentifierField(),
        min_length=1,
        max_length=MOST_ORDERS,
        error_messages={
            **REQUIRED,
            "not_a_list": "Deve ser uma lista.",
            "min_length": "Pelo menos um orderId.",
            "max_length": "No máximo {max_length} pedidos.",
        },
    )

    @property
    def codes(self) -> list[str]:
        """As they were sent, so that the place of each is that in the body."""
        codes: list[str] = self.validated_data["orderIds"]
        return codes


@extend_schema_field({"type": "integer", "minimum": 1, "maximum": PER_A4})
class PositionField(ChoiceField):
    """Also as text, which a query string has, and as 3.0, which JSON Schema counts among the integers."""

    def to_internal_value(self, data: Any) -> Any:
        if isinstance(data, (float, Decimal)):
            data = next((choice for choice in self.choices if choice == data), data)
        return super().to_internal_value(data)


class PaperSerializer(BodySerializer):
    """How labels are printed as PDF: in the query string for one order, in the body for several."""

    size = ChoiceField(
        choices=[size.value for size in Size], default=Size.CM_10X15.value, help_text="The paper of the PDF."
    )
    position = PositionField(
        choices=list(range(1, PER_A4 + 1)),
        default=1,
        help_text="Of `a4`: the place of the first label on the first sheet, as one reads.",
    )


class LabelSerializer(PaperSerializer):
    """How labels are printed by the deprecated calls, which answer with two media types."""

    conditions = {
        "if": sent("format", {"const": "zpl"}),
        "then": {"properties": {"size": {"const": Size.CM_10X15.value}}},
    }

    format = ChoiceField(
        choices=FORMATS,
        default="pdf",
        help_text="`zpl`: text for thermal printers with 8 dots in each millimetre, of 10 by 15 cm.",
    )

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        if attrs["format"] == "zpl" and attrs["size"] != Size.CM_10X15:
            raise serializers.ValidationError({"size": ["Etiquetas em ZPL têm 10x15."]})
        return attrs


@example_body({"orderIds": ["A-1001"], "size": "a4", "position": 1})
class PdfLabelsSerializer(PaperSerializer, ManyOrders):
    """Body of a request for the labels of several orders as PDF."""


@example_body({"orderIds": ["A-1001"]})
class ZplLabelsSerializer(ManyOrders):
    """Body of a request for the labels of several orders as ZPL."""


@example_body({"orderIds": ["A-1001"], "size": "a4", "position": 1})
class LabelsSerializer(LabelSerializer, ManyOrders):
    """Body of a request for the labels of several orders."""


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
