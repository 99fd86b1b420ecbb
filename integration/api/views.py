"""The five endpoints of area B. Each reads, makes one call, answers."""

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

from django.utils import timezone
from rest_framework.request import Request
from rest_framework.response import Response

from common.negotiation import AlwaysJSON
from common.options import OptionsView
from integration import nfe
from integration.actions import invoices, orders, quotes, tracking
from integration.api import answers
from integration.api.authentication import HasKey, KeyAuthentication
from integration.api.parsers import BoundedJSONParser, BoundedMultiPartParser
from integration.api.serializers import CancelSerializer, OrderSerializer, QuoteSerializer, TrackingSerializer
from integration.errors import BodyTooLarge, InvoiceMissing, OrderNotFound, SearchValueMissing
from integration.models import ApiKey, Order, StatusLog

Body = dict[str, Any]


class SellerView(OptionsView):
    """What the endpoints share: the calling key, and the status of an invalid payload by the specification."""

    authentication_classes = [KeyAuthentication]
    permission_classes = [HasKey]
    parser_classes = [BoundedJSONParser]
    content_negotiation_class = AlwaysJSON
    invalid_status = 422

    def get_exception_handler(self) -> Callable[[Exception, dict[str, Any]], Response | None]:
        return answers.handle

    @property
    def key(self) -> ApiKey:
        assert isinstance(self.request.auth, ApiKey)  # noqa: S101  # nosec B101  # HasKey has seen to it
        return self.request.auth

    @property
    def actor(self) -> str:
        return f"key {self.key.hint}"


class QuoteView(SellerView):
    """POST /api/integration/shipping/quote."""

    invalid_status = 400

    def post(self, request: Request) -> Response:
        serializer = QuoteSerializer(data=request.data)
        serializer.is_valid(raise_exception=True)
        data: Body = serializer.validated_data
        quote = quotes.quote(origin=data["origin"], destination=data["destination"], package=serializer.package)
        return _success(
            data={
                "from": str(quote.origin),
                "to": str(quote.destination),
                "amount": quote.price.amount,
                "deadline": quote.price.deadline,
            }
        )


class OrderView(SellerView):
    """POST /api/integration/orders."""

    def post(self, request: Request) -> Response:
        serializer = OrderSerializer(data=request.data)
        serializer.is_valid(raise_exception=True)
        order = orders.create(seller=self.key.seller, asked=serializer.asked, by=self.actor, at=timezone.now())
        return Response({"success": True, "tracking_code": order.tracking_code}, status=201)


class CancelView(SellerView):
    """POST /api/integration/orders/cancel."""

    invalid_status = 400

    def post(self, request: Request) -> Response:
        serializer = CancelSerializer(data=request.data)
        serializer.is_valid(raise_exception=True)
        order = Order.objects.filter(seller=self.key.seller, code=serializer.validated_data["orderId"]).first()
        if order is None:
            raise OrderNotFound
        orders.cancel(order=order, by=self.actor, at=timezone.now())
        return _success(message="Objeto cancelado com sucesso")


class TrackingView(SellerView):
    """GET /api/integration/orders/tracking."""

    def get(self, request: Request) -> Response:
        value = request.query_params.get("value", "").strip()
        if not value:
            raise SearchValueMissing
        serializer = TrackingSerializer(data=request.query_params)
        serializer.is_valid(raise_exception=True)
        by_document = serializer.validated_data["type"] == "document"
        document = serializer.validated_data.get("document", "")
        found = tracking.find(self.key.seller, value=value, by_document=by_document, document=document)
        if not found:
            return Response({"success": False, "message": "Objeto não encontrado"})
        return _success(data=[_record(order) for order in found])


class InvoiceView(SellerView):
    """POST /api/integration/invoices/marketplace."""

    parser_classes = [BoundedMultiPartParser]

    def post(self, request: Request) -> Response:
        if not (request.content_type or "").lower().startswith("multipart/form-data"):
            raise InvoiceMissing
        files = request.FILES.getlist("nfe")
        if len(files) != 1:
            raise InvoiceMissing
        if (files[0].size or 0) > nfe.MAX_BYTES:
            raise BodyTooLarge("O arquivo é maior que 2 MiB")
        invoices.receive(seller=self.key.seller, raw=files[0].read(), by=self.actor, at=timezone.now())
        return _success(message="Nota fiscal salva com sucesso")


def _success(**values: Any) -> Response:
    return Response({"success": True, **values})


def _record(order: Order) -> Body:
    return {"tracking_code": order.tracking_code, "status_log": [_entry(entry) for entry in order.status_log.all()]}


def _entry(entry: StatusLog) -> Body:
    return {
        "order_id": entry.order_id,
        "status": entry.status,
        "company_id": entry.company_id,
        "via_api": entry.via_api,
        "created_at": _utc(entry.created_at),
        "updated_at": _utc(entry.updated_at),
    }


def _utc(moment: datetime) -> str:
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
