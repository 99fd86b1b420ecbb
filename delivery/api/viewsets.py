"""The specification's five endpoints of area A. Each validates its input, calls one action and returns a body."""

from django.utils import timezone
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.viewsets import ViewSet

from delivery import bodies
from delivery.actions import deliveries, quotes
from delivery.api import sandbox
from delivery.api.serializers import CancelSerializer, DeliveryRequestSerializer
from delivery.api.views import IntegratorView, find_delivery, token_of
from delivery.errors import InvalidDeliveryId
from delivery.models import Delivery, parse_id


class DeliveryViewSet(IntegratorView, ViewSet):
    """Quote, request, cancel, query and locate deliveries of the calling token's integrator and environment."""

    def quote(self, request: Request) -> Response:
        """POST /api/quotation-delivery."""
        quote = quotes.quote(integrator=token_of(request).integrator, payload=_read_request(request))
        return Response({"shippingValue": float(quote.value)})

    def request_delivery(self, request: Request) -> Response:
        """POST /api/request-delivery."""
        token = token_of(request)
        delivery = deliveries.request(
            token=token,
            payload=_read_request(request),
            by=f"token {token.hint}",
            at=timezone.now(),
            simulation_speed=sandbox.read_speed(request, token),
        )
        return Response(bodies.creation(delivery), status=201)

    def cancel(self, request: Request, delivery_id: str) -> Response:
        """POST /api/cancel-delivery/{deliveryId}."""
        if parse_id(delivery_id) is None:
            raise InvalidDeliveryId("A deliveryId is the UUID that request-delivery answered with.")
        serializer = CancelSerializer(data=request.data)
        serializer.is_valid(raise_exception=True)
        token = token_of(request)
        delivery = deliveries.cancel(
            # The action reads the rest under its lock.
            delivery=find_delivery(token, delivery_id, Delivery.objects.only("pk")),
            reason=serializer.validated_data.get("reason") or "",
            by=f"token {token.hint}",
            at=timezone.now(),
            by_integrator=True,
        )
        return Response(bodies.info(delivery))

    def info(self, request: Request, delivery_id: str) -> Response:
        """GET /api/info-delivery/{deliveryId}."""
        return Response(bodies.info(find_delivery(token_of(request), delivery_id, Delivery.objects.with_parts())))

    def location(self, request: Request, delivery_id: str) -> Response:
        """GET /api/location-delivery/{deliveryId}."""
        delivery = find_delivery(token_of(request), delivery_id, Delivery.objects.with_parts())
        return Response(bodies.location(delivery, at=timezone.now()))


def _read_request(request: Request) -> quotes.DeliveryRequest:
    serializer = DeliveryRequestSerializer(data=request.data)
    serializer.is_valid(raise_exception=True)
    return serializer.delivery_request
