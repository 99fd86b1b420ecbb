"""The endpoints of area B. Each validates its input, calls one action and returns a body."""

from django.contrib.postgres.expressions import ArraySubquery
from django.db.models import OuterRef, prefetch_related_objects
from django.http import HttpResponse
from drf_spectacular.utils import OpenApiExample, OpenApiParameter, extend_schema
from rest_framework.decorators import action
from rest_framework.exceptions import UnsupportedMediaType, ValidationError
from rest_framework.request import Request
from rest_framework.response import Response

from common import clock
from common.accounts import Environment
from common.api import pagination
from common.api.heavy import heavy, heavy_if_large, heavy_with
from common.api.idempotency import KeyedEndpoint
from common.api.openapi import NOT_BLANK, Answer, raises
from common.api.views import PayloadWarning
from common.simulation import speed_header
from common.webhooks import endpoints, feed
from common.webhooks.address_guard import InvalidWebhookUrl, LookUpsBusy, WebhookHostUnresolved
from integration import bodies
from integration.actions import orders, tracking
from integration.api import bodies as answers
from integration.api import problems
from integration.api.authentication import CarrierKeyAuthentication, HasCarrierKey
from integration.api.filters import FeedQuery, InvoiceFilter, ManifestFilter, OrderFilter
from integration.api.parsers import BoundedMultiPartParser
from integration.api.serializers import (
    AdditionSerializer,
    CancelSerializer,
    EventsSerializer,
    LabelSerializer,
    LabelsSerializer,
    LinkSerializer,
    ManifestFormatSerializer,
    ManifestSerializer,
    OrderSerializer,
    QuoteSerializer,
    RemovalSerializer,
    ReportSerializer,
    TrackingSerializer,
    UnlinkSerializer,
    WebhookSerializer,
)
from integration.api.views import FILE, IntegrationViewSet, SellerViewSet, warning_of
from integration.bodies import utc
from integration.carriers import actions as carriers
from integration.carriers import movements
from integration.carriers.movements import Movement
from integration.errors import (
    AlreadyCancelled,
    AlreadyDelivered,
    AmbiguousTrackingCode,
    CallInProgress,
    CompanyNotFound,
    DuplicateOrder,
    EventIdReused,
    ForeignCompany,
    IdempotencyKeyReused,
    InOpenManifest,
    InvalidDocument,
    InvalidIdempotencyKey,
    InvalidInvoice,
    InvalidSandboxSpeed,
    InvalidStatusReport,
    InvoiceMissing,
    InvoiceNotFound,
    InvoiceStorageFull,
    InvoiceUnreferenced,
    ManifestClosed,
    ManifestEmpty,
    ManifestFull,
    ManifestNotFound,
    MoveRefused,
    NoCoverage,
    OrderCancelled,
    OrderForgotten,
    OrderNotFound,
    OrderNotPending,
    SandboxOnly,
    SearchValueMissing,
    TooHeavy,
    TooManyInvoices,
    TooManyLabels,
    TooManySimulations,
    UnknownTrackingCode,
    VoidInvoice,
)
from integration.freight import quotes
from integration.invoices import actions as invoices
from integration.invoices.models import Invoice, InvoiceLink, InvoiceQuerySet, with_labels
from integration.lifecycle import Status
from integration.manifests import actions as manifests
from integration.models import (
    CarrierKey,
    IdempotencyRecord,
    Manifest,
    ManifestEntry,
    Order,
    WebhookEndpoint,
    WebhookEvent,
)
from integration.models.manifest import ManifestQuerySet
from integration.papers import files
from integration.sandbox import by_hand

_TARGETS = [status.value for status in Status if status is not Status.PENDING]  # which no order returns to
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
# What an event can be answered with, beside `move_refused`. The call itself is answered with 200.
_EVENT_ERRORS = (UnknownTrackingCode, AmbiguousTrackingCode, EventIdReused, InvalidStatusReport)


# The orderIds of the orders that an invoice is linked to.
_ORDER_CODES = {
    "order_codes": ArraySubquery(
        InvoiceLink.objects.filter(invoice=OuterRef("pk")).order_by("order_id").values("order__code")
    )
}


class ShippingViewSet(SellerViewSet):
    """Freight by postcode."""

    errors = (NoCoverage, TooHeavy)

    @extend_schema(
        operation_id="shipping-quote",
        request=QuoteSerializer,
        responses={200: Answer(answers.QuoteFound, "Price in centavos, deadline in business days.")},
    )
    @action(methods=["post"], detail=False, invalid_status=400, changes_nothing=True)
    def quote(self, request: Request) -> Response:
        """Quote freight.

        Price and deadline of one shipment between two postcodes.
        """
        serializer = self.read_body(QuoteSerializer(data=request.data))
        return self.answer(answers.quote_found(quotes.quote(**serializer.shipment)))

    @extend_schema(
        operation_id="shipping-services",
        request=QuoteSerializer,
        responses={200: Answer(answers.ServicesFound, "The services.")},
    )
    @action(methods=["post"], detail=False, invalid_status=400, changes_nothing=True)
    def services(self, request: Request) -> Response:
        """Quote freight by every service.

        Price and deadline of each service that has a rate for the trip.
        """
        serializer = self.read_body(QuoteSerializer(data=request.data))
        return self.answer(answers.services_found(quotes.services(**serializer.shipment)))


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
            return self.answer(bodies.OrderCreated(success=True, tracking_code=order.tracking_code), status=201)

        endpoint = _ORDERS[Environment(key.environment)]
        return endpoint.once(
            request,
            scope={"seller_id": key.seller_id},
            at=at,
            prepare=lambda: None,
            act=create,
            refuse=problems.refused,
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


class SandboxOrderViewSet(SellerViewSet):
    """With a live key the answer is 404. After a move the simulated carrier makes none by itself."""

    lookup_field = "order_id"
    lookup_value_converter = "path"  # as in the paths of orders
    path_parameters = {
        "order_id": {"description": "The orderId sent at creation."},
        "status": {"description": "The status to move to.", "schema": {"type": "string", "enum": _TARGETS}},
    }

    @extend_schema(
        operation_id="sandbox-move-order",
        tags=["Sandbox"],
        request=ReportSerializer,
        responses={200: Answer(bodies.OrderShown, "The order after the move.")},
    )
    @raises(SandboxOnly, OrderNotFound, MoveRefused, AlreadyDelivered, AlreadyCancelled, InvalidStatusReport)
    @action(methods=["post"], detail=True, url_path="<str:status>")
    def move(self, request: Request, order_id: str, status: str) -> Response:
        """Move a test order to a status.

        `delivery_failed` and `returned` have a reason; without one in the body it is ABSENT.
        """
        if self.key.environment != Environment.SANDBOX:
            raise SandboxOnly
        order = self.order(order_id)
        if status not in _TARGETS:
            raise ValidationError({"status": [f"Deve ser um destes: {', '.join(_TARGETS)}."]})
        report = self.read_body(ReportSerializer(data=request.data)).report
        by_hand.perform(order=order, to=Status(status), report=report, by=self.actor, at=clock.now())
        return self.shown(order_id)


class SandboxWebhookViewSet(SellerViewSet):
    """The webhook of test keys, so that it can be tried without a browser. With a live key the answer is 404."""

    @extend_schema(
        operation_id="sandbox-order-webhook",
        tags=["Sandbox"],
        request=WebhookSerializer,
        responses={200: Answer(answers.WebhookSet, "The URL, and the signing secret the first time.")},
    )
    @raises(SandboxOnly, InvalidWebhookUrl, WebhookHostUnresolved, LookUpsBusy)
    @action(methods=["put"], detail=False)
    def webhook(self, request: Request) -> Response:
        """Set the webhook URL of the sandbox's orders.

        Of the first endpoint, with the rules of the panel: https on a public host, port 443 or 8443. An installation
        for trying things out also takes http://127.0.0.1. `signingSecret` is null once it was shown.
        """
        key = self.key
        if key.environment != Environment.SANDBOX:
            raise SandboxOnly
        url = self.read_body(WebhookSerializer(data=request.data)).validated_data["url"]
        endpoint = endpoints.first(WebhookEndpoint, owner=key.seller_id, environment=key.environment)
        stored, secret = endpoints.set_up(endpoint=endpoint, url=url, by=self.actor, at=clock.now())
        answer: answers.WebhookSet = {"success": True, "data": {"url": stored.url, "signingSecret": secret}}
        return Response(answer)


class InvoiceViewSet(SellerViewSet):
    """Invoices (NF-e) of orders."""

    lookup_field = "access_key"
    path_parameters = {"access_key": {"description": "The access key of the invoice."}}
    filterset_class = InvoiceFilter

    @extend_schema(operation_id="list-invoices", responses={200: Answer(answers.InvoicesListed, "A page.")})
    def list(self, request: Request) -> Response:
        """Find invoices.

        The invoices that the key's seller has sent, the newest first, in pages.
        """
        page = self.page(
            self._invoices, scope="invoices", order="-received_at", without=["raw"], annotations=_ORDER_CODES
        )
        return Response(answers.invoices_listed(page.rows, page.next_cursor))

    @extend_schema(
        operation_id="link-invoice",
        request=LinkSerializer,
        responses={200: Answer(answers.InvoiceShown, "The invoice with its orders.")},
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
        responses={200: Answer(answers.InvoiceShown, "The invoice with its other orders.")},
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
        return Response(answers.invoice_shown(found.annotate(**_ORDER_CODES).get()))

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
                answers.InvoiceStored,
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
        return self.answer(answers.InvoiceStored(success=True, message="Nota fiscal salva com sucesso"))


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


class ManifestViewSet(SellerViewSet):
    """Manifests: what is handed over together."""

    lookup_field = "manifest_id"
    lookup_value_converter = "int"
    path_parameters = {
        "manifest_id": {
            "description": "The id of the manifest.",
            "schema": {"type": "integer", "format": "int64", "minimum": 1},
        }
    }
    filterset_class = ManifestFilter

    @extend_schema(operation_id="list-manifests", responses={200: Answer(answers.ManifestsListed, "A page.")})
    def list(self, request: Request) -> Response:
        """Find manifests.

        The manifests of the key's seller and environment, the newest first, in pages.
        """
        entries = ManifestEntry.objects.filter(manifest=OuterRef("pk")).order_by("pk")
        codes = {"order_codes": ArraySubquery(entries.values("order__code"))}
        page = self.page(self._manifests, scope="manifests", annotations=codes)
        return Response(answers.manifests_listed(page.rows, page.next_cursor))

    @extend_schema(
        operation_id="create-manifest",
        request=ManifestSerializer,
        responses={
            201: Answer(
                answers.ManifestShown,
                "The manifest was opened.",
                links={
                    name: {"operationId": name, "parameters": {"manifestId": "$response.body#/data/manifestId"}}
                    for name in ("get-manifest", "close-manifest")
                },
            )
        },
    )
    @raises(OrderNotFound, OrderCancelled, InOpenManifest, OrderNotPending)
    def create(self, request: Request) -> Response:
        """Open a manifest.

        With orders that wait for collection, at most 100. An order stands in one open manifest only. One that is
        cancelled leaves it.
        """
        serializer = self.read_body(ManifestSerializer(data=request.data))
        chosen = Order.objects.by_codes(self.key.seller, self.key.environment, serializer.codes)
        made = manifests.create(
            seller=self.key.seller, environment=self.key.environment, orders=chosen, by=self.actor, at=clock.now()
        )
        return self._answer(made, status=201)

    @heavy_with("format=pdf")
    @extend_schema(
        operation_id="get-manifest",
        parameters=[ManifestFormatSerializer],
        responses={
            200: Answer(answers.ManifestShown, "The manifest."),
            (200, "application/pdf"): Answer(FILE, "The manifest."),
        },
    )
    @raises(ManifestNotFound)
    def retrieve(self, request: Request, manifest_id: int) -> HttpResponse:
        """Read a manifest.

        Its orders and their totals, as JSON or as PDF with lines for signatures.
        """
        serializer = ManifestFormatSerializer(data=request.query_params)
        serializer.is_valid()
        self.check_query(serializer.errors, known=serializer.fields)
        found = self._found(manifest_id)
        if serializer.validated_data["format"] == "pdf":
            return files.manifest(found)
        return self._answer(found)

    @extend_schema(
        operation_id="close-manifest",
        request=None,
        responses={200: Answer(answers.ManifestShown, "The manifest is closed.")},
    )
    @raises(ManifestNotFound, ManifestEmpty)
    @action(methods=["post"], detail=True)
    def close(self, request: Request, manifest_id: int) -> Response:
        """Close a manifest.

        Its orders that wait for collection become collected. Those that a carrier has moved meanwhile keep their
        status. Closing a closed one changes nothing.
        """
        _body = request.data  # none is needed; one that is not an object is refused, as by the other calls
        found = self._found(manifest_id)
        manifests.close(manifest=found, by=self.actor, at=clock.now(), via_api=True)
        return self._answer(found)

    @extend_schema(
        operation_id="add-to-manifest",
        request=AdditionSerializer,
        responses={200: Answer(answers.ManifestShown, "The manifest with these orders.")},
    )
    @raises(
        ManifestNotFound, OrderNotFound, ManifestClosed, ManifestFull, OrderCancelled, InOpenManifest, OrderNotPending
    )
    @action(methods=["post"], detail=True, url_path="orders")
    def add(self, request: Request, manifest_id: int) -> Response:
        """Add orders to an open manifest.

        Orders that wait for collection; a manifest has at most 100.
        """
        serializer = self.read_body(AdditionSerializer(data=request.data))
        found = self._found(manifest_id)
        chosen = Order.objects.by_codes(self.key.seller, self.key.environment, serializer.codes)
        manifests.add(manifest=found, orders=chosen, by=self.actor)
        return self._answer(found)

    @extend_schema(
        operation_id="remove-from-manifest",
        request=RemovalSerializer,
        responses={200: Answer(answers.ManifestShown, "The manifest without these orders.")},
    )
    @raises(ManifestNotFound, OrderNotFound, ManifestClosed)
    @action(methods=["post"], detail=True)
    def remove(self, request: Request, manifest_id: int) -> Response:
        """Remove orders from an open manifest.

        Orders that do not stand in it stay as they are.
        """
        serializer = self.read_body(RemovalSerializer(data=request.data))
        found = self._found(manifest_id)
        chosen = Order.objects.by_codes(self.key.seller, self.key.environment, serializer.codes)
        manifests.remove(manifest=found, orders=chosen, by=self.actor)
        return self._answer(found)

    @extend_schema(
        operation_id="delete-manifest",
        responses={
            200: Answer(bodies.Done, "Deleted.", example={"success": True, "message": "Romaneio excluído com sucesso"})
        },
    )
    @raises(ManifestNotFound, ManifestClosed)
    def destroy(self, request: Request, manifest_id: int) -> Response:
        """Delete an open manifest.

        Its orders can be put into another one.
        """
        manifests.delete(manifest=self._found(manifest_id), by=self.actor)
        return Response(bodies.Done(success=True, message="Romaneio excluído com sucesso"))

    @property
    def _manifests(self) -> ManifestQuerySet:
        return Manifest.objects.of(self.key.seller_id, self.key.environment)

    def _found(self, key: int) -> Manifest:
        found = self._manifests.with_orders().filter(pk=key).first()
        if found is None:
            raise ManifestNotFound
        return found

    def _answer(self, manifest: Manifest, *, status: int = 200) -> Response:
        """The manifest as it is now."""
        return Response(answers.manifest_shown(self._found(manifest.pk)), status=status)


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
                begin='"success":true,',
            )
        except pagination.InvalidCursor as error:
            raise ValidationError({"after": [_INVALID_AFTER]}) from error
        return HttpResponse(text, content_type="application/json")


@extend_schema(tags=["Carriers"])
class CarrierEventViewSet(IntegrationViewSet):
    """What carriers report of the orders that are assigned to them."""

    authentication_classes = [CarrierKeyAuthentication]
    permission_classes = [HasCarrierKey]

    @extend_schema(
        operation_id="report-events",
        request=EventsSerializer,
        responses={
            200: Answer(
                answers.EventsAnswered,
                "An answer to each event. " + " ".join(f"`{error.code}`: {error.meaning}" for error in _EVENT_ERRORS),
                example={
                    "success": True,
                    "data": [
                        {"eventId": "ev-1", "success": True, "code": "moved", "message": "Registrado: delivery_failed"}
                    ],
                },
            )
        },
    )
    def create(self, request: Request) -> Response:
        """Report events of parcels.

        At most 100, which take effect in their sequence, each by itself: one that is refused changes nothing of the
        others. An event that was recorded changes nothing when it is sent again. Only live orders that are assigned
        to the carrier are found.
        """
        assert isinstance(request.auth, CarrierKey)  # noqa: S101  # nosec B101  # HasCarrierKey has checked it
        carrier = request.auth.carrier
        events = self.read_body(EventsSerializer(data=request.data)).read
        outcomes = iter(
            movements.record(
                [event for event in events if isinstance(event, Movement)],
                orders=carriers.orders_of(carrier),
                source=carrier.source,
                by=carrier.actor,
                at=clock.now(),
            )
        )
        data = [
            answers.event_answer(next(outcomes))
            if isinstance(event, Movement)
            else answers.invalid_event(event.event_id, problems.in_words(event.errors))
            for event in events
        ]
        return Response(answers.EventsAnswered(success=True, data=data))
