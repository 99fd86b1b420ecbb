"""The receiver's page of an order. The token of the link is the right to see it, and to end e-mails about the order."""

from datetime import datetime

from django.http import HttpRequest, HttpResponse
from django.template.loader import render_to_string
from django.utils import timezone
from django.utils.decorators import method_decorator
from django.views.decorators.csrf import csrf_exempt

from common import clock
from common.pages.link_pages import LinkView
from integration import lifecycle
from integration.models import Order
from integration.receivers import mails as receiver_mails
from integration.receivers.order_state import OrderState


# As the page of a stop: no cookie is read, so that nobody else's page could make a browser add to its request.
@method_decorator(csrf_exempt, name="dispatch")
class Page(LinkView[Order]):
    """POST ends the e-mails about the order: by the button of the page, or by that of a mail program (RFC 8058)."""

    http_method_names = ["get", "head", "post"]
    template_of_end, status_of_end = "tracking/order_ended.html", 404

    def find(self, token: str) -> Order | None:
        return Order.find_by_token(token)

    def has_ended(self, found: Order, *, at: datetime) -> bool:
        return not found.link_works(at=at)

    def get(self, request: HttpRequest) -> HttpResponse:
        return self._page(is_stopped=self._is_mailed and receiver_mails.is_stopped(self.found))

    def post(self, request: HttpRequest) -> HttpResponse:
        receiver_mails.stop(order=self.found, at=clock.now())
        return self._page(is_stopped=True)

    @property
    def _is_mailed(self) -> bool:
        """Whether its receiver may get a further e-mail."""
        order = self.found
        has_ended = order.status in lifecycle.CLOSED
        return order.seller.mails_receivers and bool(order.receiver.get("email")) and not has_ended

    def _page(self, *, is_stopped: bool) -> HttpResponse:
        state = OrderState(self.found, shop=self.found.seller.name)
        context = {"state": state, "is_mailed": self._is_mailed, "is_stopped": is_stopped}
        with timezone.override(self.found.zone):
            return HttpResponse(render_to_string("tracking/order.html", context))
