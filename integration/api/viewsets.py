"""The endpoints of area B. Each validates its input, calls one action and returns a body."""

from collections.abc import Callable
from typing import Any

from django.db.models import prefetch_related_objects
from django.http import HttpResponse
from rest_framework.decorators import action
from rest_framework.exceptions import UnsupportedMediaType, ValidationError
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.viewsets import ViewSet

from common import clock, pagination
from common.payload_warnings import PayloadWarning
from common.views import AlwaysJSON, BodyView, DeprecatableView, OptionsView
from integration.actions import invoices, orders, quotes
from integration.actions import tracking as trackings
from integration.api import answers, bodies, order_bodies
from integration.api.authentication import HasKey, KeyAuthentication
from integration.api.filters import OrderFilter
from integration.api.idempotency import answer_once
from integration.api.parsers import BoundedJSONParser, BoundedMultiPartParser
from integration.api.serializers import CancelSerializer, OrderSerializer, QuoteSerializer, TrackingSerializer
from integration.errors import InvoiceMissing, OrderNotFound, SearchValueMissing
from integration.models import ApiKey, Order

_INVALID_CURSOR = "Use o nextCursor de uma resposta aos mesmos filtros, ou comece sem cursor."


class SellerViewSet(OptionsView, DeprecatableView, BodyView, ViewSet):
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


class ShippingViewSet(SellerViewSet):
    """Freight by postcode."""

    @action(methods=["post"], detail=False, invalid_status=400)
    def quote(self, request: Request) -> Response:
        """POST /api/integration/shipping/quote."""
        serializer = self.read_body(QuoteSerializer(data=request.data))
        quote = quotes.quote(
            origin=serializer.body["origin"], destination=serializer.body["destination"], package=serializer.package
        )
        return Response(bodies.quote_found(quote))

    @action(methods=["post"], detail=False, invalid_status=400)
    def services(self, request: Request) -> Response:
        """POST /api/integration/shipping/services: the services that an order can be sent by, with their prices."""
        serializer = self.read_body(QuoteSerializer(data=request.data))
        prices = quotes.services(
            origin=serializer.body["origin"], destination=serializer.body["destination"], package=serializer.package
        )
        return Response(bodies.services_found(prices))


class OrderViewSet(SellerViewSet):
    """The orders of the calling key's seller."""

    lookup_field = "order_id"
    lookup_value_converter = "path"  # an orderId may hold a slash; the paths below take precedence over it

    def list(self, request: Request) -> Response:
        """GET /api/integration/orders: the newest first, in pages."""
        seller = self.key.seller
        query = OrderFilter(request.query_params, queryset=Order.objects.all().of(seller))
        self.check_query(query.invalid, known=query.filters)
        try:
            page = pagination.newest_first(
                query.qs,
                limit=query.limit_of_page,
                cursor=query.form.cleaned_data["cursor"],
                scope=["orders", str(seller.pk), *query.sent],
            )
        except pagination.InvalidCursor as error:
            raise ValidationError({"cursor": [_INVALID_CURSOR]}) from error
        prefetch_related_objects(page.rows, "company")
        return Response(order_bodies.orders_listed(page.rows, page.next_cursor))

    def create(self, request: Request) -> HttpResponse:
        """POST /api/integration/orders."""
        serializer = self.read_body(OrderSerializer(data=request.data))
        seller, payload, at = self.key.seller, serializer.payload, clock.now()

        def create() -> Response:
            order = orders.create(seller=seller, payload=payload, by=self.actor, at=at)
            return Response(bodies.order_created(order), status=201)

        return answer_once(request, seller=seller, endpoint="orders", at=at, act=create)

    def retrieve(self, request: Request, order_id: str) -> Response:
        """GET /api/integration/orders/{orderId}: everything about one order."""
        return Response(order_bodies.order_shown(trackings.get(self.key.seller, code=order_id)))

    @action(methods=["post"], detail=False, invalid_status=400)
    def cancel(self, request: Request) -> Response:
        """POST /api/integration/orders/cancel."""
        serializer = self.read_body(CancelSerializer(data=request.data))
        order = Order.objects.filter(seller=self.key.seller, code=serializer.validated_data["orderId"]).first()
        if order is None:
            raise OrderNotFound
        orders.cancel(order=order, by=self.actor, at=clock.now())
        return Response(bodies.done("Objeto cancelado com sucesso"))

    @action(detail=False)
    def tracking(self, request: Request) -> Response:
        """GET /api/integration/orders/tracking."""
        value = request.query_params.get("value", "").strip()
        if not value:
            raise SearchValueMissing
        serializer = TrackingSerializer(data=request.query_params)
        serializer.is_valid()
        self.check_query(serializer.errors, known=("value", *serializer.fields))
        found = trackings.find(
            self.key.seller,
            value=value,
            by_document=serializer.validated_data["type"] == "document",
            document=serializer.validated_data.get("document", ""),
        )
        if not found:
            # With status 200 and without a code, as specified.
            return Response({"success": False, "message": OrderNotFound.message})
        return Response(bodies.orders_found(found))


class InvoiceViewSet(SellerViewSet):
    """Invoices (NF-e) of orders."""

    @action(methods=["post"], detail=False, parser_classes=[BoundedMultiPartParser])
    def marketplace(self, request: Request) -> Response:
        """POST /api/integration/invoices/marketplace."""
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
