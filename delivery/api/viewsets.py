"""The specification's five endpoints of area A. Each validates its input, calls one action and returns a body."""

from django.http import HttpResponse
from django.utils import timezone
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.viewsets import ViewSet

from common import clock
from delivery import bodies
from delivery.actions import deliveries, quote_ids, quotes
from delivery.api import sandbox
from delivery.api.errors import InvalidDeliveryId
from delivery.api.idempotency import answer_once
from delivery.api.serializers import CancelSerializer, DeliveryRequestSerializer
from delivery.api.views import IntegratorView, find_delivery, read_delivery, token_of
from delivery.models import Delivery, parse_id
from delivery.payload import DeliveryRequest
from delivery.pricing import Quote


class DeliveryViewSet(IntegratorView, ViewSet):
    """Quote, request, cancel, query and locate deliveries of the calling token's integrator and environment."""

    def quote(self, request: Request) -> Response:
        """POST /api/quotation-delivery."""
        token, payload, at = token_of(request), self._delivery_request(request), clock.now()
        quote, is_linked = quotes.quote(integrator=token.integrator, payload=payload)
        headers = {
            "Quote-Id": quote_ids.issue(quote, token=token, payload=payload, at=at),
            "Quote-Expires": timezone.localtime(at + quote_ids.LIFETIME).isoformat(timespec="seconds"),
            "Pickup-Linked": "true" if is_linked else "false",
        }
        return Response({"shippingValue": float(quote.value)}, headers=headers)

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

    def info(self, request: Request, delivery_id: str) -> Response:
        """GET /api/info-delivery/{deliveryId}."""
        return Response(bodies.info(read_delivery(token_of(request), delivery_id)))

    def location(self, request: Request, delivery_id: str) -> Response:
        """GET /api/location-delivery/{deliveryId}."""
        delivery = read_delivery(token_of(request), delivery_id)
        return Response(bodies.location(delivery, at=clock.now()))

    def _delivery_request(self, request: Request) -> DeliveryRequest:
        context = {"environment": token_of(request).environment}
        return self.read_body(DeliveryRequestSerializer(data=request.data, context=context)).delivery_request
