"""The endpoints of orders, their labels and events. Each validates its input, calls one action and returns a body."""

import json

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
from integration.api.filters import FeedQuery, OrderFilter
from integration.api.serializers import (
    CancelSerializer,
    LabelSerializer,
    LabelsSerializer,
    OrderSerializer,
    TrackingSerializer,
)
from integration.api.views import FILE, SellerViewSet, warning_of
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
    SearchValueMissing,
    TooHeavy,
    TooManyLabels,
    TooManySimulations,
)
from integration.invoices.models import with_labels
from integration.models import IdempotencyRecord, Order, WebhookEndpoint, WebhookEvent
from integration.papers import files

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
_INVALID_AFTER = "Use o nextCursor da resposta anterior, ou comece sem after."
_LABELS = {
    (200, "application/pdf"): Answer(FILE, "The labels."),
    (200, "text/plain"): Answer(str, "The labels."),
}


class OrderViewSet(SellerViewSet):
    """The orders of the calling key's seller."""

    lookup_field = "order_id"
    lookup_value_converter = "path"  # an orderId may hold a slash; the paths below take precedence over it
    path_parameters = {"order_id": {"description": "The orderId sent at creation."}}
    filterset_class = OrderFilter

    @extend_schema(operation_id="list-orders", responses={200: Answer(bodies.OrdersListed, "A page.")})
    def list(self, request: Request) -> Response:
        """Find orders.

        The orders of the key's seller and environment, the newest first, in pages.
        """
        page = self.page(self.orders, scope="orders")
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
        context = {"environment": key.environment, "heaviest_g": key.heaviest_g}  # type: ignore[attr-defined]  # annotated
        serializer = self.read_body(OrderSerializer(data=request.data, context=context))
        payload, at = serializer.payload, clock.now()

        def warn(reason: NoCoverage) -> None:
            path = ("volumes",) if isinstance(reason, TooHeavy) else ("service",)
            values = (("reason", reason.code), ("about", str(reason)))
            self.check_found([PayloadWarning(path, "no_freight", values=values)])

        def create(_nothing: None) -> Response:
            order = orders.create(
                seller=key.seller,
                environment=key.environment,
                payload=payload,
                by=self.actor,
                at=at,
                simulation_speed=speed,
                on_doubts=lambda doubts: self.check_found([warning_of(each, "invoice", "key") for each in doubts]),
                on_no_freight=warn,
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

    def _speed(self, request: Request) -> float | None:
        """How fast the simulated carrier is; None with a live key. Raises InvalidSandboxSpeed."""
        if self.key.environment != Environment.SANDBOX:
            return None
        try:
            return speed_header.read_speed(request)
        except speed_header.NotASpeed as error:
            raise InvalidSandboxSpeed from error

    @extend_schema(operation_id="get-order", responses={200: Answer(bodies.OrderShown, "The order.")})
    @raises(OrderNotFound)
    def retrieve(self, request: Request, order_id: str) -> Response:
        """Read everything about an order.

        The order as sent, its status log, and the invoices that were linked.
        """
        return self.shown(order_id)

    @heavy
    @extend_schema(
        operation_id="get-label",
        parameters=[LabelSerializer],
        responses=_LABELS,
    )
    @raises(OrderNotFound, OrderCancelled, OrderForgotten, TooManyLabels)
    def label(self, request: Request, order_id: str) -> HttpResponse:
        """Print the label of an order.

        One label for each of the order's `volumes`: with the tracking code, the postcode and the key of
        the invoice as Code 128. Nothing is stored.
        """
        serializer = LabelSerializer(data=request.query_params)
        serializer.is_valid()
        self.check_query(serializer.errors, known=serializer.fields)
        return files.labels(
            with_labels(Order.objects.all()).by_codes(self.key.seller, self.key.environment, [order_id]),
            **serializer.validated_data,
        )

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
    @extend_schema(operation_id="print-labels", request=LabelsSerializer, responses=_LABELS)
    @raises(OrderNotFound, OrderCancelled, OrderForgotten, TooManyLabels)
    def create(self, request: Request) -> HttpResponse:
        """Print the labels of several orders.

        One file for at most 100 orders, in their sequence, with one label for each volume. Nothing is stored.
        """
        serializer = self.read_body(LabelsSerializer(data=request.data))
        options = {name: serializer.validated_data[name] for name in ("size", "position", "format")}
        found = with_labels(Order.objects.all()).by_codes(self.key.seller, self.key.environment, serializer.codes)
        return files.labels(found, **options)


class EventViewSet(SellerViewSet):
    """What webhooks carried."""

    filterset_class = FeedQuery

    @extend_schema(operation_id="list-order-events", responses={200: Answer(bodies.OrderEventsListed, "A page.")})
    def list(self, request: Request) -> HttpResponse:
        """Read what webhooks of orders carried.

        The events of the last 30 days of the key's seller and environment, the oldest first.
        """
        key = self.key
        query = self.filterset_class(request.query_params, queryset=WebhookEvent.objects.none())
        self.check_query(query.invalid, known=query.filters)
        try:
            text = feed.page(
                endpoint=endpoints.first(WebhookEndpoint, owner=key.seller_id, environment=key.environment),
                cursor=query.form.cleaned_data["after"],
                scope=["order events", str(key.seller_id), key.environment],
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
