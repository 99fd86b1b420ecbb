"""The services that an order can be sent by, with their prices."""

from rest_framework.request import Request
from rest_framework.response import Response

from integration.actions import quotes
from integration.api import bodies
from integration.api.serializers import QuoteSerializer
from integration.api.views import SellerView


class ServicesView(SellerView):
    """POST /api/integration/shipping/services."""

    invalid_status = 400

    def post(self, request: Request) -> Response:
        serializer = self.read_body(QuoteSerializer(data=request.data))
        prices = quotes.services(
            origin=serializer.body["origin"], destination=serializer.body["destination"], package=serializer.package
        )
        return Response(bodies.services_found(prices))
