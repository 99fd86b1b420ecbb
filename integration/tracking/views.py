"""The receiver's page of an order. The token of the link is the right to see it."""

from datetime import datetime

from django.http import HttpRequest, HttpResponse
from django.template.loader import render_to_string

from common.link_pages import LinkView
from integration.models import Order
from integration.tracking.order_state import OrderState


class Page(LinkView[Order]):
    template_of_end, status_of_end = "tracking/order_ended.html", 404

    def find(self, token: str) -> Order | None:
        return Order.find_by_token(token)

    def has_ended(self, found: Order, *, at: datetime) -> bool:
        return not found.link_works(at=at)

    def get(self, request: HttpRequest) -> HttpResponse:
        return HttpResponse(render_to_string("tracking/order.html", {"state": OrderState(self.found)}))
