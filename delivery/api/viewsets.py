"""The five endpoints of area A. Each validates its input, calls one action and returns a body."""

from collections.abc import Callable
from typing import Any

from django.utils import timezone
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.viewsets import ViewSet

from common.negotiation import AlwaysJSON
from common.options import OptionsView
from delivery import bodies
from delivery.actions import deliveries, quotes
from delivery.api import problems
from delivery.api.authentication import BearerAuthentication, HasToken
from delivery.api.parsers import BoundedJSONParser
from delivery.api.serializers import CancelSerializer, DeliveryRequestSerializer
from delivery.errors import DeliveryNotFound, InvalidDeliveryId
from delivery.models import Delivery, Token, parse_id
from delivery.models.delivery import DeliveryQuerySet


class DeliveryViewSet(OptionsView, ViewSet):
    """Quote, request, cancel, query and locate deliveries of the calling token's integrator and environment."""

    authentication_classes = [BearerAuthentication]
    permission_classes = [HasToken]
    parser_classes = [BoundedJSONParser]
    content_negotiation_class = AlwaysJSON

    def get_exception_handler(self) -> Callable[[Exception, dict[str, Any]], Response | None]:
        return problems.handle

    def quote(self, request: Request) -> Response:
        """POST /api/quotation-delivery."""
        quote = quotes.quote(integrator=_token(request).integrator, payload=_read_request(request))
        return Response({"shippingValue": float(quote.value)})

    def request_delivery(self, request: Request) -> Response:
        """POST /api/request-delivery."""
        token = _token(request)
        delivery = deliveries.request(
            token=token, payload=_read_request(request), by=f"token {token.hint}", at=timezone.now()
        )
        return Response(bodies.creation(delivery), status=201)

    def cancel(self, request: Request, delivery_id: str) -> Response:
        """POST /api/cancel-delivery/{deliveryId}."""
        if parse_id(delivery_id) is None:
            raise InvalidDeliveryId("A deliveryId is the UUID that request-delivery answered with.")
        serializer = CancelSerializer(data=request.data)
        serializer.is_valid(raise_exception=True)
        token = _token(request)
        delivery = deliveries.cancel(
            delivery=_find(token, delivery_id, Delivery.objects.only("pk")),  # the action reads the rest under its lock
            reason=serializer.validated_data.get("reason") or "",
            by=f"token {token.hint}",
            at=timezone.now(),
        )
        return Response(bodies.info(delivery))

    def info(self, request: Request, delivery_id: str) -> Response:
        """GET /api/info-delivery/{deliveryId}."""
        return Response(bodies.info(_find(_token(request), delivery_id, Delivery.objects.with_parts())))

    def location(self, request: Request, delivery_id: str) -> Response:
        """GET /api/location-delivery/{deliveryId}."""
        delivery = _find(_token(request), delivery_id, Delivery.objects.with_parts())
        return Response(bodies.location(delivery, at=timezone.now()))


def _token(request: Request) -> Token:
    assert isinstance(request.auth, Token)  # noqa: S101  # nosec B101  # HasToken requires it
    return request.auth


def _read_request(request: Request) -> quotes.DeliveryRequest:
    serializer = DeliveryRequestSerializer(data=request.data)
    serializer.is_valid(raise_exception=True)
    return serializer.delivery_request


def _find(token: Token, delivery_id: str, queryset: DeliveryQuerySet) -> Delivery:
    """The delivery of `queryset` with this id in the token's account and environment.

    Raises DeliveryNotFound alike for an unknown id and for another account's, so that ids cannot be probed.
    """
    key = parse_id(delivery_id)
    delivery = queryset.of(token).filter(pk=key).first() if key else None
    if delivery is None:
        raise DeliveryNotFound("No delivery of this account and environment has this deliveryId.")
    return delivery
