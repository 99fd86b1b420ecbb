"""The endpoints of invoices (NF-e)."""

from typing import Annotated, Any, Literal, TypedDict

import django_filters
from django import forms
from django.contrib.postgres.expressions import ArraySubquery
from django.db.models import OuterRef
from drf_spectacular.utils import extend_schema
from rest_framework.decorators import action
from rest_framework.exceptions import UnsupportedMediaType
from rest_framework.request import Request
from rest_framework.response import Response

from common import clock
from common.api.heavy import heavy_if_large
from common.api.json_body import one_of
from common.api.openapi import Answer, example_body, raises
from common.api.pagination import ListFilter, ManyField, ManyFilter
from common.api.serializers import BodySerializer
from integration.api.fields import IdentifierField, OptionalTextField
from integration.api.filters import PortugueseForm
from integration.api.parsers import BoundedMultiPartParser
from integration.api.views import SellerViewSet, warning_of
from integration.bodies import MayWarn, number, utc
from integration.errors import (
    InvalidInvoice,
    InvoiceMissing,
    InvoiceNotFound,
    InvoiceStorageFull,
    InvoiceUnreferenced,
    OrderNotFound,
    TooManyInvoices,
    VoidInvoice,
)
from integration.invoices import actions as invoices
from integration.invoices import nfe
from integration.invoices.models import Invoice, InvoiceLink, InvoiceQuerySet, InvoiceStatus

# The orderIds of the orders that an invoice is linked to.
_ORDER_CODES = {
    "order_codes": ArraySubquery(
        InvoiceLink.objects.filter(invoice=OuterRef("pk")).order_by("order_id").values("order__code")
    )
}


_MOST_KEYS = 80  # with encoded commas they fit into the longest URL, which 100 do not


class _KeysField(ManyField):
    """Access keys, as they are stored."""

    pattern = r"^(([Nn][Ff]|[Dd][Cc])[Ee]\s?)?([0-9A-Za-z]\s?){44}$"

    def clean(self, value: Any) -> list[str]:
        keys = list(map(invoices.compact_key, super().clean(value)))
        if not all(map(nfe.ACCESS_KEY.fullmatch, keys)):
            raise forms.ValidationError(self.error_messages["invalid_access_key"], code="invalid_access_key")
        return keys


class KeysFilter(ManyFilter):
    field_class = _KeysField


class InvoiceFilter(ListFilter):
    key = KeysFilter(method="of_keys", most=_MOST_KEYS, help_text="The access keys of invoices.")
    linked = django_filters.TypedChoiceFilter(
        field_name="is_linked",
        help_text="Whether the invoice is linked to an order.",
        choices=[("true", "true"), ("false", "false")],
        coerce=lambda text: text == "true",
        error_messages={"invalid_choice": "Deve ser true ou false."},
    )
    newest = "-received_at"

    class Meta:
        model = Invoice
        fields: list[str] = []
        form = PortugueseForm

    def of_keys(self, found: InvoiceQuerySet, _name: str, values: list[str]) -> InvoiceQuerySet:
        return found.filter(access_key__in=values) if values else found


@example_body({"orderId": "A-1001"})
class LinkSerializer(BodySerializer):
    """Body of a call that links an order to an invoice."""

    orderId = IdentifierField()


@example_body({"orderId": "A-1001", "reason": "A nota é de outro pedido"})
class UnlinkSerializer(BodySerializer):
    """Body of a call that removes an order from an invoice."""

    orderId = IdentifierField()
    reason = OptionalTextField(help_text="In words, for the history of the invoice.")


class InvoiceSummary(TypedDict):
    """`model`: `55`, `65` of an NFC-e, `99` of a DC-e. `value` in BRL. What the file does not state is empty or null.

    `status`: `void` if it was denied or cancelled, `unconfirmed` without the tax office's authorisation.
    `orders`: the orderIds of the orders that are linked. `createdAt`: when the invoice was received.
    """

    key: str
    model: str
    series: str
    number: str
    issuedAt: str | None
    issuer: str
    value: float | None
    status: Annotated[str, one_of(InvoiceStatus.values)]
    linked: bool
    orders: list[str]
    createdAt: str


class InvoiceShown(MayWarn, TypedDict):
    success: Literal[True]
    data: InvoiceSummary


class InvoicesListed(MayWarn, TypedDict):
    success: Literal[True]
    data: list[InvoiceSummary]
    nextCursor: str | None


class InvoiceStored(MayWarn, TypedDict):
    success: Literal[True]
    message: str


def invoice_shown(invoice: Any) -> InvoiceShown:
    """An invoice annotated with `order_codes`."""
    return {"success": True, "data": _invoice_summary(invoice)}


def invoices_listed(invoices: list[Any], next_cursor: str | None) -> InvoicesListed:
    """Invoices annotated with `order_codes`."""
    return {"success": True, "data": [_invoice_summary(invoice) for invoice in invoices], "nextCursor": next_cursor}


def _invoice_summary(invoice: Any) -> InvoiceSummary:
    return {
        "key": invoice.access_key,
        "model": nfe.model_of(invoice.access_key),
        "series": invoice.series,
        "number": invoice.number,
        "issuedAt": utc(invoice.issued_at) if invoice.issued_at else None,
        "issuer": invoice.issuer_document,
        "value": number(invoice.value),
        "status": invoice.status.value,
        "linked": invoice.is_linked,
        "orders": invoice.order_codes,
        "createdAt": utc(invoice.received_at),
    }


class InvoiceViewSet(SellerViewSet):
    """Invoices (NF-e) of orders."""

    lookup_field = "access_key"
    path_parameters = {"access_key": {"description": "The access key of the invoice."}}
    filterset_class = InvoiceFilter

    @extend_schema(operation_id="list-invoices", responses={200: Answer(InvoicesListed, "A page.")})
    def list(self, request: Request) -> Response:
        """Find invoices.

        The invoices that the key's seller has sent, the newest first, in pages.
        """
        page = self.list_page(self._invoices, scope="invoices", without=["raw"], annotations=_ORDER_CODES)
        return Response(invoices_listed(page.rows, page.next_cursor))

    @extend_schema(
        operation_id="link-invoice",
        request=LinkSerializer,
        responses={200: Answer(InvoiceShown, "The invoice with its orders.")},
    )
    @raises(InvoiceNotFound, OrderNotFound, VoidInvoice)
    @action(methods=["post"], detail=True)
    def link(self, request: Request, access_key: str) -> Response:
        """Link an order to an invoice.

        One that the invoice does not name. Linking it again changes nothing.
        """
        serializer = self.read_body(LinkSerializer(data=request.data))
        found = self._found(access_key)
        order = self.order(serializer.validated_data["orderId"])
        invoices.link_by_hand(invoice=found, order=order, by=self.actor, at=clock.now())
        return self._answer(access_key)

    @extend_schema(
        operation_id="unlink-invoice",
        request=UnlinkSerializer,
        responses={200: Answer(InvoiceShown, "The invoice with its other orders.")},
    )
    @raises(InvoiceNotFound, OrderNotFound)
    @action(methods=["post"], detail=True)
    def unlink(self, request: Request, access_key: str) -> Response:
        """Remove an order from an invoice.

        The invoice stays, and uploading it again does not link the order again. Who removed it, when and why is kept.
        """
        serializer = self.read_body(UnlinkSerializer(data=request.data))
        found = self._found(access_key)
        order = self.order(serializer.validated_data["orderId"])
        text = serializer.validated_data.get("reason") or ""
        invoices.unlink_by_hand(invoice=found, order=order, text=text, by=self.actor, at=clock.now())
        return self._answer(access_key)

    @property
    def _invoices(self) -> InvoiceQuerySet:
        return Invoice.objects.of(self.key.seller_id, self.key.environment)

    def _found(self, access_key: str) -> Invoice:
        found = self._invoices.filter(access_key=invoices.compact_key(access_key)).defer("raw").first()
        if found is None:
            raise InvoiceNotFound
        return found

    def _answer(self, access_key: str) -> Response:
        """The invoice as it is now."""
        found = self._invoices.filter(access_key=invoices.compact_key(access_key)).defer("raw")
        return Response(invoice_shown(found.annotate(**_ORDER_CODES).get()))

    @heavy_if_large
    @extend_schema(
        operation_id="upload-invoice",
        request={
            "multipart/form-data": {
                "type": "object",
                "properties": {"nfe": {"type": "string", "format": "binary", "description": "The XML."}},
                "required": ["nfe"],
            }
        },
        responses={
            200: Answer(
                InvoiceStored,
                "Stored.",
                example={"success": True, "message": "Nota fiscal salva com sucesso"},
            )
        },
    )
    @raises(InvoiceMissing, InvalidInvoice, InvoiceUnreferenced, TooManyInvoices, InvoiceStorageFull)
    @action(methods=["post"], detail=False, parser_classes=[BoundedMultiPartParser])
    def marketplace(self, request: Request) -> Response:
        """Upload an invoice (NF-e).

        Stores the XML and links the orders that it names. Of a stored access key, what is new in the file counts: an
        authorisation, a cancellation, a further order. The file of a cancellation makes its invoice void.

        Send files over 200 KiB one after the other: while one of the key is worked on, another is 429
        `heavy_call_running`. Smaller ones may be sent at the same time.
        """
        try:
            files = request.FILES.getlist("nfe")
        except UnsupportedMediaType as error:
            raise InvoiceMissing from error
        if len(files) != 1:
            raise InvoiceMissing
        raw = files[0].read()

        def check(doubts: list[invoices.Doubt]) -> None:
            self.check_body({}, [warning_of(each, "nfe") for each in doubts])

        invoices.receive(
            seller=self.key.seller,
            environment=self.key.environment,
            raw=raw,
            by=self.actor,
            at=clock.now(),
            on_doubts=check,
        )
        return Response(InvoiceStored(success=True, message="Nota fiscal salva com sucesso"))
