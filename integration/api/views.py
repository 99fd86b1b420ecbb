"""The five endpoints of area B."""

from collections.abc import Callable
from typing import Any

from django.http import HttpResponse
from rest_framework.exceptions import UnsupportedMediaType
from rest_framework.request import Request
from rest_framework.response import Response

from common import clock
from common.body_view import BodyView
from common.deprecation import DeprecatableView
from common.negotiation import AlwaysJSON
from common.options import OptionsView
from common.payload_warnings import PayloadWarning
from integration.actions import invoices, orders, quotes, tracking
from integration.api import answers, bodies
from integration.api.authentication import HasKey, KeyAuthentication
from integration.api.idempotency import answer_once
from integration.api.parsers import BoundedJSONParser, BoundedMultiPartParser
from integration.api.serializers import CancelSerializer, OrderSerializer, QuoteSerializer, TrackingSerializer
from integration.errors import InvoiceMissing, OrderNotFound, SearchValueMissing
from integration.models import ApiKey, Order


class SellerView(OptionsView, DeprecatableView, BodyView):
    """Base of the endpoints: authentication by API key, JSON bodies, and errors in the shape of area B."""

    authentication_classes = [KeyAuthentication]
    permission_classes = [HasKey]
    parser_classes = [BoundedJSONParser]
    content_negotiation_class = AlwaysJSON
    invalid_status = 422  # the specification's status for an invalid payload; some endpoints have 400

    def get_exception_handler(self) -> Callable[[Exception, dict[str, Any]], Response | None]:
        return answers.exception_handler

    @property
    def key(self) -> ApiKey:
        assert isinstance(self.request.auth, ApiKey)  # noqa: S101  # nosec B101  # HasKey has checked it
        return self.request.auth

    @property
    def actor(self) -> str:
        """The caller's name for status logs."""
        return f"key {self.key.hint}"


class QuoteView(SellerView):
    """POST /api/integration/shipping/quote."""

    invalid_status = 400

    def post(self, request: Request) -> Response:
        serializer = self.read_body(QuoteSerializer(data=request.data))
        quote = quotes.quote(
            origin=serializer.body["origin"], destination=serializer.body["destination"], package=serializer.package
        )
        return Response(bodies.quote_found(quote))


class OrderView(SellerView):
    """POST /api/integration/orders."""

    def post(self, request: Request) -> HttpResponse:
        serializer = self.read_body(OrderSerializer(data=request.data))
        seller, payload, at = self.key.seller, serializer.payload, clock.now()

        def create() -> Response:
            order = orders.create(seller=seller, payload=payload, by=self.actor, at=at)
            return Response(bodies.order_created(order), status=201)

        return answer_once(request, seller=seller, endpoint="orders", at=at, act=create)


class CancelView(SellerView):
    """POST /api/integration/orders/cancel."""

    invalid_status = 400

    def post(self, request: Request) -> Response:
        serializer = self.read_body(CancelSerializer(data=request.data))
        order = Order.objects.filter(seller=self.key.seller, code=serializer.validated_data["orderId"]).first()
        if order is None:
            raise OrderNotFound
        orders.cancel(order=order, by=self.actor, at=clock.now())
        return Response(bodies.done("Objeto cancelado com sucesso"))


class TrackingView(SellerView):
    """GET /api/integration/orders/tracking."""

    def get(self, request: Request) -> Response:
        value = request.query_params.get("value", "").strip()
        if not value:
            raise SearchValueMissing
        serializer = TrackingSerializer(data=request.query_params)
        serializer.is_valid()
        self.check_query(serializer.errors, known=("value", *serializer.fields))
        found = tracking.find(
            self.key.seller,
            value=value,
            by_document=serializer.validated_data["type"] == "document",
            document=serializer.validated_data.get("document", ""),
        )
        if not found:
            # With status 200 and without a code, as specified.
            return Response({"success": False, "message": OrderNotFound.message})
        return Response(bodies.orders_found(found))


class InvoiceView(SellerView):
    """POST /api/integration/invoices/marketplace."""

    parser_classes = [BoundedMultiPartParser]

    def post(self, request: Request) -> Response:
        try:
            files = request.FILES.getlist("nfe")
        except UnsupportedMediaType as error:
            raise InvoiceMissing from error
        if len(files) != 1:
            raise InvoiceMissing
        raw = files[0].read()
        stored = invoices.receive(seller=self.key.seller, raw=raw, by=self.actor, at=clock.now())
        self.check_body({}, [] if stored.raw == raw else [PayloadWarning(("nfe",), "other_invoice_stored")])
        return Response(bodies.done("Nota fiscal salva com sucesso"))
