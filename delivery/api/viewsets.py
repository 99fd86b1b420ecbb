"""The endpoints of area A. Each validates its input, calls one action and returns a body."""

import json

from django.db.models import prefetch_related_objects
from django.http import HttpResponse
from django.utils import timezone
from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.viewsets import ViewSet

from common import clock, pagination
from delivery import bodies
from delivery.actions import deliveries, quotes
from delivery.api import sandbox
from delivery.api.errors import InvalidDeliveryId
from delivery.api.filters import DeliveryFilter, FeedQuery
from delivery.api.idempotency import answer_once
from delivery.api.serializers import CancelSerializer, DeliveryRequestSerializer
from delivery.api.views import IntegratorView, detail, find_delivery, read_delivery, token_of
from delivery.errors import InvalidCursor
from delivery.models import Delivery, WebhookEndpoint, WebhookEvent, parse_id
from delivery.payload import DeliveryRequest
from delivery.pricing import Quote
from delivery.webhooks import feed


class ImmediateDeliveryViewSet(IntegratorView, ViewSet):
    """The specification's five endpoints: quote, request, cancel, query and locate a delivery."""

    @action(methods=["post"], detail=False, url_path="quotation-delivery")
    def quote(self, request: Request) -> Response:
        """POST /api/quotation-delivery."""
        token, payload, at = token_of(request), self._delivery_request(request), clock.now()
        quote, is_linked = quotes.quote(integrator=token.integrator, payload=payload)
        headers = {
            "Quote-Id": quotes.issue(quote, token=token, payload=payload, at=at),
            "Quote-Expires": timezone.localtime(at + quotes.LIFETIME).isoformat(timespec="seconds"),
            "Pickup-Linked": "true" if is_linked else "false",
        }
        return Response({"shippingValue": float(quote.value)}, headers=headers)

    @action(methods=["post"], detail=False, url_path="request-delivery")
    def request_delivery(self, request: Request) -> HttpResponse:
        """POST /api/request-delivery."""
        token, payload, at = token_of(request), self._delivery_request(request), clock.now()
        speed, quote_id = sandbox.read_speed(request, token), request.headers.get("Quote-Id")

        def price() -> Quote:
            return quotes.quote_for_request(token=token, payload=payload, quote_id=quote_id, at=at)

        def create(quote: Quote) -> Response:
            delivery = deliveries.request(
                token=token, payload=payload, quote=quote, by=f"token {token.hint}", at=at, simulation_speed=speed
            )
            return Response(bodies.creation(delivery), status=201)

        return answer_once(request, token=token, endpoint="request-delivery", at=at, prepare=price, act=create)

    @action(methods=["post"], detail=False, url_path="cancel-delivery/<str:delivery_id>")
    def cancel(self, request: Request, delivery_id: str) -> Response:
        """POST /api/cancel-delivery/{deliveryId}."""
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
        return Response(bodies.info(delivery))

    @action(detail=False, url_path="info-delivery/<str:delivery_id>")
    def info(self, request: Request, delivery_id: str) -> Response:
        """GET /api/info-delivery/{deliveryId}."""
        return Response(bodies.info(read_delivery(token_of(request), delivery_id)))

    @action(detail=False, url_path="location-delivery/<str:delivery_id>")
    def location(self, request: Request, delivery_id: str) -> Response:
        """GET /api/location-delivery/{deliveryId}."""
        delivery = read_delivery(token_of(request), delivery_id)
        return Response(bodies.location(delivery, at=clock.now()))

    def _delivery_request(self, request: Request) -> DeliveryRequest:
        context = {"environment": token_of(request).environment}
        return self.read_body(DeliveryRequestSerializer(data=request.data, context=context)).delivery_request


class DeliveryViewSet(IntegratorView, ViewSet):
    """Find deliveries of the calling token's account and environment, and read everything about one."""

    lookup_field = "delivery_id"
    lookup_value_converter = "str"

    def list(self, request: Request) -> Response:
        """GET /api/deliveries: the newest first, in pages."""
        token = token_of(request)
        query = DeliveryFilter(request.query_params, queryset=Delivery.objects.of(token))
        self.check_query(query.invalid, known=query.filters)
        try:
            page = pagination.newest_first(
                query.qs,
                limit=query.limit_of_page,
                cursor=query.form.cleaned_data["cursor"],
                scope=["deliveries", str(token.integrator_id), token.environment, *query.sent],
            )
        except pagination.InvalidCursor as error:
            raise InvalidCursor(
                "Take nextCursor of an answer to the same filters, or begin without a cursor."
            ) from error
        prefetch_related_objects(page.rows, "stops")
        return Response({"data": [bodies.summary(row) for row in page.rows], "nextCursor": page.next_cursor})

    def retrieve(self, request: Request, delivery_id: str) -> Response:
        """GET /api/deliveries/{deliveryId}: everything about one delivery."""
        return detail(find_delivery(token_of(request), delivery_id, Delivery.objects.with_parts()))


class EventViewSet(IntegratorView, ViewSet):
    """What webhooks carried."""

    def list(self, request: Request) -> HttpResponse:
        """GET /api/events: the webhook events of the account and environment, the oldest first."""
        token = token_of(request)
        query = FeedQuery(request.query_params, queryset=WebhookEvent.objects.none())
        self.check_query(query.invalid, known=query.filters)
        scope = ["events", str(token.integrator_id), token.environment]
        after = _position(query.form.cleaned_data["after"], scope)
        endpoint = WebhookEndpoint.of(token.integrator_id, token.environment)
        events = feed.read(endpoint=endpoint, after=after, limit=query.limit_of_page, at=clock.now())
        last = events[-1].feed_position if events else after
        cursor = json.dumps(pagination.cursor_at(last, scope=scope))
        items = ",".join(_item(event) for event in events)
        return HttpResponse(f'{{"data":[{items}],"nextCursor":{cursor}}}', content_type="application/json")


def _position(cursor: str, scope: list[str]) -> int:
    """The position after which a page begins; without a cursor the beginning of the feed."""
    if not cursor:
        return 0
    try:
        position: int = pagination.read_cursor(cursor, scope=scope)
    except pagination.InvalidCursor as error:
        raise InvalidCursor("Take nextCursor of the answer before, or begin without 'after'.") from error
    return position


def _item(event: WebhookEvent) -> str:
    """An event as JSON. The body is inserted as it is stored, so that it has the bytes that the webhook carries."""
    facts = {
        "id": str(event.pk),
        "sequence": event.sequence,
        "createdAt": bodies.moment(event.created_at),
        "sentAt": bodies.moment_or_none(event.sent_at),
        "state": event.state,
    }
    return f'{json.dumps(facts)[:-1]}, "body": {event.body}}}'
