"""Reading deliveries: the list of an account's deliveries in one environment, and everything about one."""

from django.db.models import prefetch_related_objects
from rest_framework.request import Request
from rest_framework.response import Response

from common import pagination
from delivery import detail_bodies
from delivery.api.filters import DeliveryFilter
from delivery.api.views import IntegratorView, detail, find_delivery, token_of
from delivery.errors import InvalidCursor
from delivery.models import Delivery


class DeliveriesView(IntegratorView):
    """GET /api/deliveries: the newest first, in pages."""

    def get(self, request: Request) -> Response:
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
        return Response({"data": [detail_bodies.summary(row) for row in page.rows], "nextCursor": page.next_cursor})


class DeliveryView(IntegratorView):
    """GET /api/deliveries/{deliveryId}: everything about one delivery."""

    def get(self, request: Request, delivery_id: str) -> Response:
        return detail(find_delivery(token_of(request), delivery_id, Delivery.objects.with_parts()))
