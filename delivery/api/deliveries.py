"""Reading deliveries: GET /api/deliveries/{deliveryId}."""

from rest_framework.request import Request
from rest_framework.response import Response

from delivery import detail_bodies
from delivery.api.views import IntegratorView, find_delivery, token_of
from delivery.models import Delivery


class DeliveryView(IntegratorView):
    """GET /api/deliveries/{deliveryId}: everything about one delivery."""

    def get(self, request: Request, delivery_id: str) -> Response:
        return Response(
            detail_bodies.detail(find_delivery(token_of(request), delivery_id, Delivery.objects.with_parts()))
        )
