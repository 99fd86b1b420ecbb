"""The endpoints of orders, their labels and events. Each validates its input, calls one action and returns a body."""

import json
from collections.abc import Sequence
from typing import Any

from django.db.models import prefetch_related_objects
from django.http import HttpResponse
from drf_spectacular.utils import OpenApiExample, OpenApiParameter, extend_schema
from rest_framework.decorators import action
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request
from rest_framework.response import Response

from common import clock
from common.accounts import Environment
from common.api import pagination
from common.api.heavy import heavy
from common.api.idempotency import KeyedEndpoint
from common.api.openapi import NOT_BLANK, Answer, raises
from common.api.views import PayloadWarning
from common.simulation import speed_header
from common.webhooks import endpoints, feed
from integration import bodies
from integration.actions import orders, tracking
from integration.api import problems
from integration.api.filters import FeedQuery, OrderFilter, keys_of_orders
from integration.api.serializers import (
    CancelSerializer,
    CorrectionSerializer,
    LabelSerializer,
    LabelsSerializer,
    ManyOrders,
    OrderSerializer,
    PaperSerializer,
    PdfLabelsSerializer,
    ShownSerializer,
    TrackingSerializer,
    ZplLabelsSerializer,
)
from integration.api.views import FILE, ZPL, SellerViewSet, warning_of
from integration.bodies import utc
from integration.errors import (
    AlreadyCancelled,
    AlreadyDelivered,
    CallInProgress,
    CompanyNotFound,
    DuplicateOrder,
    ForeignCompany,
    IdempotencyKeyReused,
    InvalidDocument,
    InvalidIdempotencyKey,
    InvalidSandboxSpeed,
    NoCoverage,
    OrderCancelled,
    OrderForgotten,
    OrderNotFound,
    OrderNotPending,
    OrdersRefused,
    SearchValueMissing,
    TooHeavy,
    TooManyLabels,
    TooManySimulations,
)
from integration.invoices.actions import Doubt
from integration.invoices.models import with_details, with_labels
from integration.models import IdempotencyRecord, Order, SearchCode, Seller, WebhookEndpoint, WebhookEvent
from integration.papers import files, label

# The environment is in the name, so that the previous version of the service still finds the table's unique constraint.
_ORDERS = {
    environment: KeyedEndpoint(
        IdempotencyRecord,
        name,
        invalid_key=InvalidIdempotencyKey,
        key_reused=IdempotencyKeyReused,
        call_in_progress=CallInProgress,
    )
    for environment, name in ((Environment.LIVE, "orders"), (Environment.SANDBOX, "sandbox orders"))
}
_MOST_COMPANIES = 1000
_INVALID_AFTER = "Use o nextCursor da resposta anterior, com o mesmo orderId, ou comece sem after."
_PDF = {(200, "application/pdf"): Answer(FILE, "The labels.")}
_ZPL = {(200, ZPL): Answer(FILE, "The labels.")}
_LABELS = {**_PDF, (200, "text/plain"): Answer(str, "The labels.")}
_REFUSED = (OrderNotFound, OrderCancelled, OrderForgotten, TooManyLabels)


class OrderViewSet(SellerViewSet):
    """The orders of the calling key's seller."""

    lookup_field = "order_id"
    lookup_value_converter = "path"  # an orderId may hold a slash; the paths below take precedence over it
    path_parameters = {"order_id": {"description": "The orderId sent at creation."}}
    filterset_class = OrderFilter

    @extend_schema(operation_id="list-orders", responses={200: Answer(bodies.OrdersListed, "A page.")})
    def list(self, request: Request) -> Response:
        """Find orders.

        The orders of the key's seller and environment, the newest first, in pages. With `updatedFrom` those that have
        changed since, in the order of their changes.
        """
        page = self.list_page(self.orders, scope="orders")
        prefetch_related_objects(page.rows, "company")
        return Response(bodies.orders_listed(page.rows, page.next_cursor))

    @extend_schema(
        operation_id="create-order",
        parameters=[speed_header.SPEED],
        request=OrderSerializer,
        responses={
            201: Answer(
                bodies.OrderCreated,
                "The order was created.",
                example={"success": True, "tracking_code": "AA123456785BR"},
                links={
                    "get-order": {"operationId": "get-order", "parameters": {"orderId": "$request.body#/orderId"}},
                },
            )
        },
    )
    @raises(
        InvalidIdempotencyKey, IdempotencyKeyReused, CallInProgress, ForeignCompany, CompanyNotFound,
        InvalidDocument, DuplicateOrder, InvalidSandboxSpeed, TooManySimulations,
    )  # fmt: skip  # a list of names
    def create(self, request: Request) -> HttpResponse:
        """Create an order.

        Creates an order of one of the seller's companies. A tracking code is generated unless sent.
        """
        key, speed = self.key, self._speed(request)
        serializer = self.read_body(OrderSerializer(data=request.data, context=self._context))
        payload, at = serializer.payload, clock.now()

        def create(_nothing: None) -> Response:
            order = orders.create(
                seller=key.seller,
                environment=key.environment,
                payload=payload,
                by=self.actor,
                at=at,
                simulation_speed=speed,
                on_doubts=self._warn_of_doubts,
                on_freight=self._warn_of_no_freight,
            )
            answer = bodies.OrderCreated(success=True, tracking_code=order.tracking_code)
            self.name_warnings(answer)  # now, because the answer may be stored
            return Response(answer, status=201)

        endpoint = _ORDERS[Environment(key.environment)]
        return endpoint.once(
            request,
            scope={"seller_id": key.seller_id},
            at=at,
            prepare=lambda: None,
            act=create,
        )

    @extend_schema(
        operation_id="correct-order",
        request=CorrectionSerializer,
        responses={200: Answer(bodies.OrderCorrected, "The order after the correction.")},
    )
    @raises(OrderNotFound, OrderNotPending, OrderForgotten)
    def partial_update(self, request: Request, order_id: str) -> Response:
        """Correct an order.

        While it is `pending`. Each key that is sent replaces the one before as a whole, and the freight is computed
        anew. Status, log and webhooks stay as they are. Print labels from before again.
        """
        key, found = self.key, Order.objects.select_related("company", "seller")
        order = found.by_code(key.seller, key.environment, order_id)
        context = {**self._context, "order": orders.NewOrder.of(order)}
        serializer = self.read_body(CorrectionSerializer(data=request.data, context=context))
        at = clock.now()
        orders.correct(
            order=order,
            changes=serializer.changes,
            by=self.actor,
            at=at,
            on_doubts=self._warn_of_doubts,
            on_freight=self._warn_of_no_freight,
        )
        shown = bodies.order_shown(with_details(self.orders).get(pk=order.pk), at=at)
        return Response(bodies.OrderCorrected(success=True, data=shown["data"]))

    @property
    def _context(self) -> dict[str, Any]:
        """What serializers of orders need."""
        key = self.key
        return {"environment": key.environment, "heaviest_g": key.heaviest_g}  # type: ignore[attr-defined]  # annotated

    def _warn_of_doubts(self, doubts: Sequence[Doubt]) -> None:
        self.check_found([warning_of(each, "invoice", "key") for each in doubts])

    def _warn_of_no_freight(self, reason: orders.Freight) -> None:
        if not isinstance(reason, NoCoverage):
            return
        path = ("volumes",) if isinstance(reason, TooHeavy) else ("service",)
        values = (("reason", reason.code), ("about", str(reason)))
        self.check_found([PayloadWarning(path, "no_freight", values=values)])

    def _speed(self, request: Request) -> float | None:
        """How fast the simulated carrier is; None with a live key. Raises InvalidSandboxSpeed."""
        if self.key.environment != Environment.SANDBOX:
            return None
        try:
            return speed_header.read_speed(request)
        except speed_header.NotASpeed as error:
            raise InvalidSandboxSpeed from error

    @extend_schema(
        operation_id="get-order",
        parameters=[ShownSerializer],
        responses={200: Answer(bodies.OrderShown, "The order.")},
    )
    @raises(OrderNotFound)
    def retrieve(self, request: Request, order_id: str) -> Response:
        """Read everything about an order.

        The order as sent, its status log, and the invoices that were linked.
        """
        serializer = ShownSerializer(data=request.query_params)
        serializer.is_valid()
        self.check_query(serializer.errors, known=serializer.fields)
        return self.shown(order_id, shipping_id=serializer.validated_data.get("shippingId"))

    @heavy
    @extend_schema(operation_id="get-label-pdf", parameters=[PaperSerializer], responses=_PDF)
    @raises(*_REFUSED)
    def label_pdf(self, request: Request, order_id: str) -> HttpResponse:
        """Print the label of an order as PDF.

        One label for each of the order's `volumes`: with the tracking code, the postcode and the key of
        the invoice as Code 128. Nothing is stored.
        """
        return self._labels(order_id, **self._paper(PaperSerializer(data=request.query_params)))

    @heavy
    @extend_schema(operation_id="get-label-zpl", responses=_ZPL)
    @raises(*_REFUSED)
    def label_zpl(self, request: Request, order_id: str) -> HttpResponse:
        """Print the label of an order as ZPL.

        UTF-8 text for thermal printers with 8 dots in each millimetre: the labels of 10 by 15 cm. Nothing is stored.
        """
        return self._labels(order_id, format="zpl", zpl_as=ZPL)

    @heavy
    @extend_schema(operation_id="get-label", parameters=[LabelSerializer], responses=_LABELS, deprecated=True)
    @raises(*_REFUSED)
    def label(self, request: Request, order_id: str) -> HttpResponse:
        """Print the label of an order.

        Use `label.pdf` or `label.zpl`, which have one media type each. This call works on.
        """
        return self._labels(order_id, **self._paper(LabelSerializer(data=request.query_params)))

    def _paper(self, serializer: PaperSerializer) -> Any:
        serializer.is_valid()
        self.check_query(serializer.errors, known=serializer.fields)
        return serializer.validated_data

    def _labels(self, order_id: str, **options: Any) -> HttpResponse:
        found = with_labels(Order.objects.all()).by_code(self.key.seller, self.key.environment, order_id)
        return files.labels([found], **options)

    @extend_schema(
        operation_id="cancel-order",
        request=CancelSerializer,
        responses={
            200: Answer(bodies.Done, "Cancelled.", example={"success": True, "message": "Objeto cancelado com sucesso"})
        },
    )
    @raises(OrderNotFound, AlreadyDelivered, AlreadyCancelled)
    @action(methods=["post"], detail=False, invalid_status=400)
    def cancel(self, request: Request) -> Response:
        """Cancel an order.

        Cancels an order that is neither delivered nor cancelled.
        """
        serializer = self.read_body(CancelSerializer(data=request.data))
        code = serializer.validated_data["orderId"]
        order = self.order(code)
        orders.cancel(order=order, by=self.actor, at=clock.now())
        return Response(bodies.Done(success=True, message="Objeto cancelado com sucesso"))

    @extend_schema(
        operation_id="track-orders",
        parameters=[
            TrackingSerializer,
            OpenApiParameter(
                "value",
                {"type": "string", "minLength": 1, "pattern": NOT_BLANK},
                required=True,
                description=(
                    "The receiver's document; or a tracking code, orderId, shipping id, invoice key or invoice number."
                ),
            ),
        ],
        examples=[
            OpenApiExample("Type", "order_number", parameter_only=("type", "query")),
            OpenApiExample("Value", "A-1001", parameter_only=("value", "query")),
        ],
        responses={200: Answer(bodies.OrdersFound | bodies.NothingFound, "The orders, or that there is none.")},
    )
    @raises(SearchValueMissing)
    @action(detail=False)
    def tracking(self, request: Request) -> Response:
        """Track orders.

        At most ten orders of the seller, the newest first. Without a result `success` is false.
        """
        value = request.query_params.get("value", "").strip()
        if not value:
            raise SearchValueMissing
        serializer = TrackingSerializer(data=request.query_params)
        serializer.is_valid()
        self.check_query(serializer.errors, known=("value", *serializer.fields))
        found = tracking.find(
            self.key.seller,
            self.key.environment,
            value=value,
            by_document=serializer.validated_data["type"] == "document",
            document=serializer.validated_data.get("document", ""),
        )
        if not found:
            # With status 200 and without a code, as specified.
            return Response(bodies.NothingFound(success=False, message=OrderNotFound.message))
        return Response(bodies.orders_found(found))


class LabelViewSet(SellerViewSet):
    """Labels of several orders."""

    changes_nothing = True

    @heavy
    @extend_schema(operation_id="print-labels-pdf", request=PdfLabelsSerializer, responses=_PDF)
    @raises(*_REFUSED, OrdersRefused)
    def pdf(self, request: Request) -> HttpResponse:
        """Print the labels of several orders as PDF.

        One file for at most 100 orders, in their sequence, with one label for each volume. Nothing is stored.
        """
        return self._labels(PdfLabelsSerializer(data=request.data))

    @heavy
    @extend_schema(operation_id="print-labels-zpl", request=ZplLabelsSerializer, responses=_ZPL)
    @raises(*_REFUSED, OrdersRefused)
    def zpl(self, request: Request) -> HttpResponse:
        """Print the labels of several orders as ZPL.

        As `labels.pdf`, as UTF-8 text for thermal printers with 8 dots in each millimetre.
        """
        return self._labels(ZplLabelsSerializer(data=request.data), format="zpl", zpl_as=ZPL)

    @heavy
    @extend_schema(operation_id="print-labels", request=LabelsSerializer, responses=_LABELS, deprecated=True)
    @raises(*_REFUSED, OrdersRefused)
    def create(self, request: Request) -> HttpResponse:
        """Print the labels of several orders.

        Use `labels.pdf` or `labels.zpl`, which have one media type each. This call works on.
        """
        return self._labels(LabelsSerializer(data=request.data))

    def _labels(self, serializer: ManyOrders, **options: Any) -> HttpResponse:
        codes = self.read_body(serializer).codes
        paper = {name: value for name, value in serializer.validated_data.items() if name != "orderIds"}
        found = with_labels(Order.objects.all()).by_codes(self.key.seller, self.key.environment, codes)
        return files.labels(label.check(found), **paper, **options)


class EventViewSet(SellerViewSet):
    """What webhooks carried."""

    filterset_class = FeedQuery

    @extend_schema(operation_id="list-order-events", responses={200: Answer(bodies.OrderEventsListed, "A page.")})
    def list(self, request: Request) -> HttpResponse:
        """Read what webhooks of orders carried.

        The events of the last 30 days, or from a moment on, of the key's seller and environment, the oldest first.
        """
        key = self.key
        query = self.filterset_class(request.query_params, queryset=WebhookEvent.objects.none())
        self.check_query(query.invalid, known=query.filters)
        codes = SearchCode.objects.filter(seller=key.seller_id, environment=key.environment)
        values = query.form.cleaned_data["orderId"]
        try:
            text = feed.page(
                endpoint=endpoints.first(WebhookEndpoint, owner=key.seller_id, environment=key.environment),
                cursor=query.form.cleaned_data["after"],
                selection=feed.Selection(
                    query.form.cleaned_data["from"], keys_of_orders(codes, values) if values else None
                ),
                scope=["order events", str(key.seller_id), key.environment, *query.sent],
                limit=query.limit_of_page,
                at=clock.now(),
                written=utc,
                begin=self._begin,
            )
        except pagination.InvalidCursor as error:
            raise ValidationError({"after": [_INVALID_AFTER]}) from error
        return HttpResponse(text, content_type="application/json")

    @property
    def _begin(self) -> str:
        """The beginning of a page's text, with the warnings if there are any."""
        warnings = problems.warned(self._warnings)
        named = f'"warnings":{json.dumps(warnings, ensure_ascii=False)},' if warnings else ""
        return f'"success":true,{named}'


class AccountViewSet(SellerViewSet):
    """Whose key it is."""

    @extend_schema(operation_id="get-seller", responses={200: Answer(bodies.AccountShown, "The seller.")})
    def list(self, _request: Request) -> Response:
        """Read whose key this is.

        The seller and the environment of the key, its companies, the services that orders can name, and its limits of
        calls.
        """
        seller = Seller.objects.get(pk=self.key.seller_id)
        companies = seller.companies.order_by("document")[:_MOST_COMPANIES]
        return Response(bodies.account_shown(seller, self.key.environment, companies))
