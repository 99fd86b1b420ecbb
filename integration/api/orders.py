"""Reading orders: the list of a seller's orders, and everything about one."""

from django.db.models import prefetch_related_objects
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request
from rest_framework.response import Response

from common import pagination
from integration.actions import tracking
from integration.api import order_bodies
from integration.api.filters import OrderFilter
from integration.api.views import OrderView, SellerView
from integration.models import Order

_INVALID_CURSOR = "Use o nextCursor de uma resposta aos mesmos filtros, ou comece sem cursor."


class OrdersView(OrderView):
    """GET /api/integration/orders: the newest first, in pages. POST creates an order."""

    def get(self, request: Request) -> Response:
        seller = self.key.seller
        query = OrderFilter(request.query_params, queryset=Order.objects.all().of(seller))
        self.check_query(query.invalid, known=query.filters)
        try:
            page = pagination.newest_first(
                query.qs,
                limit=query.limit_of_page,
                cursor=query.form.cleaned_data["cursor"],
                scope=["orders", str(seller.pk), *query.sent],
            )
        except pagination.InvalidCursor as error:
            raise ValidationError({"cursor": [_INVALID_CURSOR]}) from error
        prefetch_related_objects(page.rows, "company")
        return Response(order_bodies.orders_listed(page.rows, page.next_cursor))


class OrderDetailView(SellerView):
    """GET /api/integration/orders/{orderId}: everything about one order."""

    def get(self, request: Request, order_id: str) -> Response:
        return Response(order_bodies.order_shown(tracking.get(self.key.seller, code=order_id)))
