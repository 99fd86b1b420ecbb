"""The endpoints of area A. Each validates its input, calls one action and returns a body."""

from datetime import datetime
from typing import Annotated, Any
from uuid import UUID

from django.db.models import prefetch_related_objects
from django.http import HttpResponse
from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework.decorators import action
from rest_framework.permissions import AllowAny
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.viewsets import ViewSet

from common import clock
from common.api import pagination
from common.api.idempotency import KeyedEndpoint
from common.api.json_body import Json
from common.api.openapi import Answer, answer_header, raises, request_header
from common.api.views import PayloadWarning
from common.simulation.speed_header import SPEED
from common.webhooks import feed
from delivery import bodies
from delivery.actions import deliveries, proofs, quotes, stops
from delivery.api import examples
from delivery.api.filters import DeliveryFilter, FeedQuery
from delivery.api.serializers import (
    CancelSerializer,
    DeliveryRequestSerializer,
    DropoffChangeSerializer,
    InstructSerializer,
)
from delivery.api.views import (
    FEE,
    IntegratorView,
    detail,
    detail_after_change,
    find_delivery,
    info_answer,
    note_look,
    read_delivery,
    read_speed,
    token_of,
)
from delivery.bodies import Creation, DeliveryDetail, DeliveryPage, EventPage, Info, Location, QuoteAnswer
from delivery.errors import (
    AddressNotLocated,
    AlreadyFinished,
    CallInProgress,
    Closed,
    DeliveryNotFound,
    ExternalIdInUse,
    GeocoderUnavailable,
    IdempotencyKeyReused,
    InvalidCursor,
    InvalidDeliveryId,
    InvalidIdempotencyKey,
    InvalidSandboxSpeed,
    NothingToDecide,
    OutsideServiceArea,
    PhotoNotFound,
    PickupNotLinked,
    PriceUnavailable,
    QuoteExpired,
    QuoteMismatch,
    RouteIsImmutable,
    StopHasEnded,
    StopNotFound,
    StopOfPathNotFound,
    TooManyChanges,
    TooManySimulations,
)
from delivery.lifecycle import Mode, OnFailure
from delivery.models import (
    Delivery,
    IdempotencyRecord,
    Integrator,
    ProofPhoto,
    Token,
    WebhookEndpoint,
    WebhookEvent,
    parse_id,
)
from delivery.models.stop import LABELS
from delivery.payload import DeliveryRequest
from delivery.places import addresses
from delivery.pricing import Quote

_REQUEST_DELIVERY = KeyedEndpoint(
    IdempotencyRecord,
    "request-delivery",
    invalid_key=InvalidIdempotencyKey,
    key_reused=IdempotencyKeyReused,
    call_in_progress=CallInProgress,
)

_ESTIMATE = answer_header(
    "Rota-Estimate",
    "When the driver is expected at A and at each drop-off, a dictionary of dates (RFC 9651): `pickup`, `b`, `c`, `d`. "
    "Computed for the nearest free driver setting out now, who waits at each place until it is ready. With "
    "deliveryMode REVERSE `b`, `c`, `d` and then `dropoff`, for A.",
    {"type": "string", "examples": ["pickup=@1795200000, b=@1795200900"]},
)


_LOCATED = answer_header(
    "Rota-Located",
    "How exactly each drop-off without coordinates was located, a dictionary (RFC 9651) of `rooftop`, `street` or "
    "`postcode` by `b`, `c` and `d`. Absent if all drop-offs have coordinates.",
    {"type": "string", "examples": ["b=rooftop, c=street"]},
)


def _estimate(quote: Quote, payload: DeliveryRequest, at: datetime) -> dict[str, str]:
    """The header with the estimate of a delivery that is requested now."""
    at_a = "dropoff" if payload.mode is Mode.REVERSE else "pickup"
    names = (at_a if label == "A" else label.lower() for label in payload.labels)
    moments = zip(names, quote.moments(payload.ready, at=at), strict=True)
    return {"Rota-Estimate": ", ".join(f"{key}=@{int(moment.timestamp())}" for key, moment in moments)}


def _links(*operations: str, delivery_id: str = "$response.body#/deliveryId") -> dict[str, Any]:
    """Links to operations that take the deliveryId of an answer."""
    return {
        operation: {"operationId": operation, "parameters": {"deliveryId": delivery_id}} for operation in operations
    }


@extend_schema(tags=["Immediate delivery"])
class ImmediateDeliveryViewSet(IntegratorView, ViewSet):
    """The specification's five endpoints: quote, request, cancel, query and locate a delivery."""

    @extend_schema(
        operation_id="quotation-delivery",
        request=DeliveryRequestSerializer,
        parameters=[
            answer_header("Quote-Id", "Send it with request-delivery to have this price."),
            answer_header(
                "Quote-Expires", "Until when the Quote-Id is valid.", {"type": "string", "format": "date-time"}
            ),
            answer_header(
                "Pickup-Linked",
                "`false` if request-delivery would be refused for its pickup.",
                {"type": "string", "enum": ["true", "false"]},
            ),
            _ESTIMATE,
            _LOCATED,
        ],
        responses={200: Answer(QuoteAnswer, "The price.", example={"shippingValue": 9.9})},
    )
    @raises(OutsideServiceArea, Closed, PriceUnavailable, "swapped_coordinates", AddressNotLocated, GeocoderUnavailable)
    @action(methods=["post"], detail=False, url_path="quotation-delivery", changes_nothing=True)
    def quote(self, request: Request) -> Response:
        """Quote a delivery.

        The price of the delivery that request-delivery would create. Creates nothing.
        """
        token, at = token_of(request), clock.now()
        payload, located = self._located(self._read_request(request, is_quoted=True), token, at)
        quote, is_linked = quotes.quote(token=token, payload=payload, at=at)
        if not is_linked:
            self.check_found([PayloadWarning(("pickup", "address"), PickupNotLinked.code)])
        headers = {
            "Quote-Id": quotes.issue(quote, token=token, payload=payload, at=at),
            "Quote-Expires": timezone.localtime(at + quotes.LIFETIME).isoformat(timespec="seconds"),
            "Pickup-Linked": "true" if is_linked else "false",
            **_estimate(quote, payload, at),
            **located,
        }
        return Response({"shippingValue": float(quote.value)}, headers=headers)

    @extend_schema(
        operation_id="request-delivery",
        request=DeliveryRequestSerializer,
        parameters=[
            request_header(
                "Quote-Id",
                "The `Quote-Id` of a quote for the same trip, less than ten minutes old: its price is kept.",
            ),
            SPEED,
            _ESTIMATE,
            _LOCATED,
        ],
        responses={
            201: Answer(
                Creation,
                "The delivery.",
                example=examples.CREATION,
                links=_links("info-delivery", "location-delivery", "cancel-delivery", "get-delivery"),
            )
        },
    )
    @raises(
        InvalidIdempotencyKey,
        IdempotencyKeyReused,
        CallInProgress,
        "swapped_coordinates",
        AddressNotLocated,
        GeocoderUnavailable,
        OutsideServiceArea,
        Closed,
        PriceUnavailable,
        PickupNotLinked,
        ExternalIdInUse,
        QuoteExpired,
        QuoteMismatch,
        InvalidSandboxSpeed,
        TooManySimulations,
    )
    @action(methods=["post"], detail=False, url_path="request-delivery")
    def request_delivery(self, request: Request) -> HttpResponse:
        """Request a delivery.

        Creates a delivery and offers its whole route to drivers: at once, or shortly before `pickupReadyAt`. Send an
        Idempotency-Key: then a repeated call cannot create a second one.
        """
        token, serializer, at = token_of(request), self._read_request(request, is_quoted=False), clock.now()
        speed, quote_id = read_speed(request, token), request.headers.get("Quote-Id")

        def price() -> tuple[DeliveryRequest, Quote, dict[str, str]]:
            payload, located = self._located(serializer, token, at)
            quote = quotes.quote_for_request(token=token, payload=payload, quote_id=quote_id, at=at)
            return payload, quote, {**_estimate(quote, payload, at), **located}

        def create(priced: tuple[DeliveryRequest, Quote, dict[str, str]]) -> Response:
            payload, quote, headers = priced

            def warn_of_repeated(earlier: dict[str, UUID]) -> None:
                self.check_found(
                    [
                        PayloadWarning(
                            ("dropoffs", index, "externalId"),
                            "repeated_external_id",
                            values=(("delivery", str(earlier[dropoff.external_id])),),
                        )
                        for index, dropoff in enumerate(payload.dropoffs)
                        if dropoff.external_id in earlier
                    ]
                )

            delivery = deliveries.request(
                token=token,
                payload=payload,
                quote=quote,
                by=f"token {token.hint}",
                at=at,
                simulation_speed=speed,
                on_repeated=warn_of_repeated,
            )
            return Response(bodies.creation(delivery), status=201, headers=headers)

        return _REQUEST_DELIVERY.once(
            request,
            scope={"integrator_id": token.integrator_id, "environment": token.environment},
            at=at,
            prepare=price,
            act=create,
        )

    @extend_schema(
        operation_id="cancel-delivery",
        request=CancelSerializer,
        responses={200: Answer(Info, "The delivery, its open orders FAILED.")},
    )
    @raises(DeliveryNotFound, InvalidDeliveryId, AlreadyFinished)
    @action(methods=["post"], detail=False, url_path="cancel-delivery/<str:delivery_id>")
    def cancel(self, request: Request, delivery_id: str) -> Response:
        """Cancel a delivery.

        Fails the open orders. After pickup the driver returns to A with the goods, and a fee may be due. Cancelling
        again changes nothing and is answered alike.
        """
        if parse_id(delivery_id) is None:
            raise InvalidDeliveryId("A deliveryId is the UUID that request-delivery answered with.")
        serializer = self.read_body(CancelSerializer(data=request.data))
        token = token_of(request)
        delivery = deliveries.cancel(
            # The action reads the rest under its lock.
            delivery=find_delivery(token, delivery_id, Delivery.objects.only("pk")),
            reason=serializer.validated_data.get("reason") or "",
            by=f"token {token.hint}",
            at=clock.now(),
            by_integrator=True,
        )
        return info_answer(delivery)

    @extend_schema(
        operation_id="info-delivery",
        parameters=[FEE],
        responses={200: Answer(Info, "The delivery.", example=examples.INFO)},
    )
    @raises(DeliveryNotFound)
    @action(detail=False, url_path="info-delivery/<str:delivery_id>")
    def info(self, request: Request, delivery_id: str) -> Response:
        """Read a delivery.

        Price, driver and the status of each order.
        """
        delivery = read_delivery(token_of(request), delivery_id)
        note_look(delivery)
        return info_answer(delivery)

    @extend_schema(
        operation_id="location-delivery",
        responses={200: Answer(Location, "The position, or why there is none.", example=examples.LOCATION)},
    )
    @raises(DeliveryNotFound)
    @action(detail=False, url_path="location-delivery/<str:delivery_id>")
    def location(self, request: Request, delivery_id: str) -> Response:
        """Locate the driver.

        The latest position of the driver, from acceptance until the route is closed.
        """
        delivery = read_delivery(token_of(request), delivery_id)
        note_look(delivery)
        return Response(bodies.location(delivery, at=clock.now()))

    def _read_request(self, request: Request, *, is_quoted: bool) -> DeliveryRequestSerializer:
        context = {"environment": token_of(request).environment, "is_quoted": is_quoted}
        return self.read_body(DeliveryRequestSerializer(data=request.data, context=context))

    def _located(
        self, serializer: DeliveryRequestSerializer, token: Token, at: datetime
    ) -> tuple[DeliveryRequest, dict[str, str]]:
        """The request with the places of drop-offs without coordinates, and the header that says how exact they are."""
        serializer.check_windows(at)  # before somebody else's server is asked
        self.check_found(serializer.warnings_at(at))
        found = addresses.locate(addresses=serializer.to_locate, account=token.integrator_id, at=at)
        payload = serializer.delivery_request({index: place.point for index, place in found.items()})
        named = ", ".join(f"{LABELS[index].lower()}={place.precision}" for index, place in found.items())
        return payload, {"Rota-Located": named} if named else {}


@extend_schema(tags=["Find and read"])
class DeliveryViewSet(IntegratorView, ViewSet):
    """Find deliveries of the calling token's account and environment, and read everything about one."""

    lookup_field = "delivery_id"
    lookup_value_converter = "str"
    filterset_class = DeliveryFilter

    @extend_schema(
        operation_id="list-deliveries",
        responses={
            200: Answer(
                DeliveryPage,
                "A page.",
                links=_links("get-delivery", delivery_id="$response.body#/data/0/deliveryId"),
            )
        },
    )
    @raises(InvalidCursor)
    def list(self, request: Request) -> Response:
        """Find deliveries.

        The deliveries of the token's account and environment, the newest first, in pages. With `updatedFrom` those that
        have changed since, in the order of their changes.
        """
        page = self.list_page(Delivery.objects.of(token_of(request)), scope="deliveries")
        prefetch_related_objects(page.rows, "stops")
        return Response({"data": [bodies.summary(row) for row in page.rows], "nextCursor": page.next_cursor})

    @extend_schema(
        operation_id="get-delivery", parameters=[FEE], responses={200: Answer(DeliveryDetail, "The delivery.")}
    )
    @raises(DeliveryNotFound)
    def retrieve(self, request: Request, delivery_id: str) -> Response:
        """Read everything about a delivery.

        Both statuses, every moment, failure reasons, cancellation, price, history and its webhooks.
        """
        return detail(find_delivery(token_of(request), delivery_id, Delivery.objects.with_parts()))

    @extend_schema(
        operation_id="change-dropoff",
        tags=["Immediate delivery"],
        request=DropoffChangeSerializer,
        parameters=[FEE],
        responses={200: Answer(DeliveryDetail, "The delivery after the change.")},
    )
    @raises(DeliveryNotFound, StopOfPathNotFound, RouteIsImmutable, StopHasEnded, TooManyChanges)
    @action(methods=["patch"], detail=True, url_path="dropoffs/<str:point>")
    def change_dropoff(self, request: Request, delivery_id: str, point: str) -> Response:
        """Change the contact or the instructions of a drop-off.

        Until the driver has been there. Address, order and price stay as they are.
        """
        token = token_of(request)
        delivery = _with_point(token, delivery_id, point)
        if others := sorted(set(map(str, request.data)) - {"contacts", "instructions"}):
            # Half of a surrogate pair cannot be sent, and NUL cannot be stored.
            names = ", ".join(others)[:_LONGEST_NAMES].replace("\0", " ").encode(errors="replace").decode()
            raise RouteIsImmutable("Only contacts and instructions can be changed, not %(names)s.", names=names)
        serializer = self.read_body(DropoffChangeSerializer(data=request.data))
        changed = stops.change(
            delivery=delivery, point=point, values=serializer.columns, by=f"token {token.hint}", at=clock.now()
        )
        return detail_after_change(changed)

    @extend_schema(
        operation_id="instruct-dropoff",
        tags=["Immediate delivery"],
        request=InstructSerializer,
        parameters=[FEE],
        responses={200: Answer(DeliveryDetail, "The delivery after the answer.")},
    )
    @raises(DeliveryNotFound, StopOfPathNotFound, NothingToDecide, TooManyChanges)
    @action(methods=["post"], detail=True, url_path="dropoffs/<str:point>/instruct")
    def instruct(self, request: Request, delivery_id: str, point: str) -> Response:
        """Say what follows a first failure.

        Of a drop-off with `onFailure` RETRY, until it is tried again: RETRY as before, LEAVE at the door, or RETURN to
        A without a second attempt.
        """
        token = token_of(request)
        delivery = _with_point(token, delivery_id, point)
        data = self.read_body(InstructSerializer(data=request.data)).validated_data
        instructed = stops.instruct(
            delivery=delivery,
            point=point,
            answer=OnFailure(data["action"]) if data.get("action") else None,
            instructions=data.get("instructions") or None,
            by=f"token {token.hint}",
            at=clock.now(),
        )
        return detail_after_change(instructed)


_LONGEST_NAMES = 200


def _with_point(token: Token, delivery_id: str, point: str) -> Delivery:
    """The delivery, which has this drop-off. Raises DeliveryNotFound or StopOfPathNotFound."""
    delivery = find_delivery(token, delivery_id, Delivery.objects.with_parts())
    try:
        deliveries.stop_at(delivery, point)
    except StopNotFound as error:
        raise StopOfPathNotFound(error.message, **error.values) from error
    return delivery


@extend_schema(tags=["Find and read"])
class EventViewSet(IntegratorView, ViewSet):
    """What webhooks carried."""

    filterset_class = FeedQuery

    @extend_schema(operation_id="list-events", responses={200: Answer(EventPage, "A page.")})
    @raises(InvalidCursor)
    def list(self, request: Request) -> HttpResponse:
        """Read what webhooks carried.

        The events of the last 30 days, or from a moment on, the oldest first. For reconciliation after an outage.
        """
        token = token_of(request)
        query = self.filterset_class(request.query_params, queryset=WebhookEvent.objects.none())
        self.check_query(query.invalid, known=query.filters)
        scope = ["events", str(token.integrator_id), token.environment, *query.sent]
        selection = feed.Selection(query.form.cleaned_data["from"], query.form.cleaned_data["deliveryId"] or None)
        endpoint, *_further = WebhookEndpoint.of(token.integrator_id, token.environment)
        try:
            text = feed.page(
                endpoint=endpoint,
                cursor=query.form.cleaned_data["after"],
                selection=selection,
                scope=scope,
                limit=query.limit_of_page,
                at=clock.now(),
                written=bodies.moment,
            )
        except pagination.InvalidCursor as error:
            raise InvalidCursor(
                "Take nextCursor of the answer before, with the same deliveryId, or begin without 'after'."
            ) from error
        return HttpResponse(text, content_type="application/json")


_MOST_PICKUP_POINTS = 1000


@extend_schema(tags=["Find and read"])
class AccountViewSet(IntegratorView, ViewSet):
    """Whose token it is."""

    @extend_schema(operation_id="get-account", responses={200: Answer(bodies.AccountShown, "The account.")})
    def list(self, request: Request) -> Response:
        """Read whose token this is.

        The account and the environment of the token, the account's pickup points, and its limits of calls.
        """
        token = token_of(request)
        account = Integrator.objects.get(pk=token.integrator_id)
        points = account.pickup_points.order_by("name", "pk")[:_MOST_PICKUP_POINTS]
        return Response(bodies.account_shown(account, token.environment, points))


class PhotoView(IntegratorView):
    """Without a token, because browsers show the photo: the address is the permission."""

    authentication_classes = []
    permission_classes = [AllowAny]

    @extend_schema(
        operation_id="get-photo",
        tags=["Find and read"],
        responses={(200, "image/jpeg"): Answer(Annotated[str, Json(format="binary")], "The photo.")},
    )
    @raises(PhotoNotFound)
    def get(self, _request: Request, signed: str) -> HttpResponse:
        """Read a photo.

        A photo that the driver took. The address is in `orders[].proof.photos[].url` of get-delivery. It needs no
        token, and works for an hour.
        """
        photo = ProofPhoto.find(signed)
        content = proofs.read(photo) if photo else None
        if content is None:
            raise PhotoNotFound("The address is not one of a photo, is older than an hour, or the photo was deleted.")
        headers = {"Content-Disposition": 'inline; filename="photo.jpg"'}
        return HttpResponse(content, content_type="image/jpeg", headers=headers)
