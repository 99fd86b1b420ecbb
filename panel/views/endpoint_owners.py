"""Whose webhooks the pages of `webhook` and `events` are about: what these pages need to know of an area."""

from typing import Any

from django.http import HttpRequest, HttpResponse
from django.utils.functional import cached_property

from common.brazil.zones import Place
from common.pages.page_updates import stream
from common.webhooks import endpoints
from delivery.models import Integrator
from delivery.models import WebhookEndpoint as EndpointOfAccount
from integration.models import Seller
from integration.models import WebhookEndpoint as EndpointOfSeller
from integration.webhooks.outbox import OUTBOX
from panel.base import AccountView, SellerView
from panel.filters import EventFilter, OrderEventFilter
from panel.forms import AuthenticationForm


class OfAccount(AccountView):
    """Pages of an account's endpoints, with events of deliveries."""

    endpoint_model = EndpointOfAccount
    url_prefix = ""
    filter_class = EventFilter
    # What a list of events shows of them, and the column of an export with the subject.
    prefetched = ["queue_item", "delivery__stops"]
    subject_column = "deliveryId"

    @property
    def owner(self) -> Integrator:
        return self.account

    @property
    def owner_in_logs(self) -> str:
        return f"account {self.account.pk}"

    def file_name(self, name: str) -> str:
        """The name of a download."""
        return name

    @property
    def may_set_up(self) -> bool:
        """The URL is sent a token, with which whoever reads it could request deliveries.

        With the secret, one could send the shop events that it believes; without an endpoint it hears of nothing.
        """
        return self.may_request

    @property
    def filter_options(self) -> dict[str, Any]:
        return {}

    def subject_code(self, event: Any) -> Any:
        return event.delivery_id

    def place_of(self, event: Any) -> Place | None:
        """Whose time the page of an event tells: that of the page of its subject."""
        delivery: Place | None = event.delivery
        return delivery

    def own_forms(self) -> dict[str, Any]:
        """What the page of an endpoint shows for this area alone."""
        return {}


class OfSeller(SellerView):
    """Pages of a seller's endpoints in one environment, with events of orders."""

    endpoint_model = EndpointOfSeller
    url_prefix = "seller_"
    filter_class = OrderEventFilter
    prefetched = ["queue_item", "order"]
    subject_column = "orderId"
    may_set_up = True  # every member acts for the seller
    endpoint: EndpointOfSeller  # of EndpointView

    @property
    def owner(self) -> Seller:
        return self.seller

    @property
    def owner_in_logs(self) -> str:
        return f"seller {self.seller.reference}"

    @cached_property
    def endpoints(self) -> list[Any]:
        """All endpoints of the seller in this environment, the first one first."""
        own = list(EndpointOfSeller.objects.of(self.seller.pk, self.environment))
        return own or [endpoints.first(EndpointOfSeller, owner=self.seller.pk, environment=self.environment)]

    @property
    def topics(self) -> list[str]:
        return [OUTBOX.topic_of(each.pk) for each in self.endpoints]

    @property
    def filter_options(self) -> dict[str, Any]:
        return {"scope": self.scope}

    def subject_code(self, event: Any) -> Any:
        return event.order and event.order.code

    def place_of(self, event: Any) -> Place | None:
        company: Place | None = event.order and event.order.company
        return company

    def own_forms(self) -> dict[str, Any]:
        return {"authentication_form": AuthenticationForm.of(self.endpoint)}


class SellerUpdates(OfSeller):
    """A stream of what changes (`config.server.page_streams`): the seller's webhooks."""

    http_method_names = ["get"]

    def get(self, request: HttpRequest) -> HttpResponse:
        return stream(request, *self.topics, user=str(request.user.pk))
