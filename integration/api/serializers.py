"""Validation of bodies, and of queries but those of lists. Every error names its field; unknown keys are ignored."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from decimal import Decimal
from typing import Any

from django.conf import settings
from django.core.exceptions import ValidationError
from django.core.validators import validate_email
from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from common.accounts import Environment
from common.api.openapi import NOT_BLANK, example_body, sent
from common.api.serializers import BodySerializer
from common.api.views import PayloadWarning, nearest
from common.brazil import phones
from common.simulation import pace
from integration import postcodes, words
from integration import simulation_steps as steps
from integration.actions.orders import Address, Details, Item, NewOrder, Receiver
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
from integration.errors import NoCoverage
from integration.freight import calculation as freight
from integration.invoices import nfe
from integration.lifecycle import Reason
from integration.models import compact_document, is_document
from integration.models.manifest import MOST_ORDERS
from integration.models.order import LONGEST_PLACE, LONGEST_REASON, MOST_VOLUMES
from integration.papers.files import FORMATS
from integration.papers.label_pdf import PER_A4, Size

_OBJECT: dict[str, Any] = {**REQUIRED, "invalid": "Deve ser um objeto."}
_SERVICES = tuple(words.ORDER_SERVICES)
_MOST_ITEMS = 1000
_FAR_APART = 50  # times: reais and centavos are, with a discount or the freight in one of them
_CENTAVO = Decimal("0.01")
_LONGEST_NAMED = 100  # of an access key that is none, in a warning
_RECEIVER = ("receiver",)
_ADDRESS = (*_RECEIVER, "address")
# What looks like a CPF or CNPJ. Other documents, such as passports, have no check digits that are known here.
_CPF_OR_CNPJ = re.compile(r"[0-9]{11}|[0-9A-Z]{12}[0-9]{2}")

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
        return _warnings(self.payload, self.context)

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
        corrected = replace(self.context["order"], **self.changes)
        return [each for each in _warnings(corrected, self.context) if each.path[0] in self.validated_data]

    @property
    def changes(self) -> dict[str, Any]:
        """The values by names of NewOrder's fields."""
        sent = {name: self.validated_data[key] for key, name in _CORRECTED.items() if key in self.validated_data}
        return {**sent, **({"volumes": sent["volumes"] or 1} if "volumes" in sent else {})}


def _warnings(order: NewOrder, context: Mapping[str, Any]) -> list[PayloadWarning]:
    """What the specification accepts and is probably a mistake."""
    heaviest = Decimal(context["heaviest_g"]) / 1000
    found = [*_of_cost(order), *_of_receiver(order.receiver), *_of_address(order.receiver["address"])]
    for index, item in enumerate(order.items):
        found += _of_item(index, item, heaviest_kg=heaviest)
    found += _of_access_key(order.invoice_key)
    if context["environment"] == Environment.SANDBOX and pace.is_misspelt(order.code, steps.PREFIXES):
        known = steps.PREFIXES
        found.append(PayloadWarning(("orderId",), "unknown_outcome", nearest(order.code, known), known))
    return found


def _of_access_key(key: str) -> Iterator[PayloadWarning]:
    path = ("invoice", "key")
    if key and not nfe.is_access_key(key):
        yield PayloadWarning(path, "invalid_access_key", values=(("about", key[:_LONGEST_NAMED]),))
    elif key and nfe.model_of(key) not in nfe.MODELS:
        yield PayloadWarning(path, "other_model", values=(("about", nfe.model_of(key)),))


def _of_cost(order: NewOrder) -> Iterator[PayloadWarning]:
    """A cost in centavos beside items in reais or the reverse, or else another cost than the invoice's."""
    total = sum((item["price"] * item["quantity"] for item in order.items), Decimal(0))
    value = (order.invoice or {}).get("value")
    about = ""
    if order.cost and total and max(order.cost, total) >= _FAR_APART * min(order.cost, total):
        about = f"Difere muito da soma dos itens, {total:.2f}"
    elif value is not None and abs(value - order.cost) >= _CENTAVO:
        about = f"Difere de invoice.value, {value:.2f}"
    if about:
        yield PayloadWarning(("orderCost",), "order_cost_differs", values=(("about", about),))


def _of_receiver(receiver: Receiver) -> Iterator[PayloadWarning]:
    for name, phone in (("phone", receiver.get("phone")), ("cellphone", receiver.get("cellphone"))):
        if phone and phones.is_doubtful(phone):
            yield PayloadWarning((*_RECEIVER, name), "doubtful_phone")
    document = compact_document(receiver.get("document") or "")
    if _CPF_OR_CNPJ.fullmatch(document) and not is_document(document):
        yield PayloadWarning((*_RECEIVER, "document"), "invalid_document")
    if email := receiver.get("email"):
        try:
            validate_email(email)
        except ValidationError:
            yield PayloadWarning((*_RECEIVER, "email"), "invalid_email")


def _of_address(address: Address) -> Iterator[PayloadWarning]:
    state = address["state"].upper()
    if state not in freight.STATES:
        yield PayloadWarning((*_ADDRESS, "state"), "unknown_state")
    try:
        region = postcodes.region(address["zipCode"])
    except NoCoverage:
        yield PayloadWarning((*_ADDRESS, "zipCode"), "unassigned_postcode")
        return
    if state in freight.STATES and region.state != state:
        yield PayloadWarning((*_ADDRESS, "zipCode"), "postcode_of_another_state")


def _of_item(index: int, item: Item, *, heaviest_kg: Decimal) -> Iterator[PayloadWarning]:
    sides, weight = item["dimensions"].split(",")
    if "0" in (side.lstrip("0") or "0" for side in sides.split("x")):
        yield PayloadWarning(("items", index, "dimensions"), "side_is_zero")
    if not 0 < Decimal(weight) <= heaviest_kg:
        yield PayloadWarning(("items", index, "dimensions"), "weight_out_of_range")


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
