"""Whose webhooks the pages of `webhook` and `events` are about: what these pages need to know of an area."""

from typing import Any

from common import clock
from delivery.models import Integrator, WebhookEndpoint
from panel.filters import EventFilter
from panel.views.base import AccountView
from panel.views.setup import steps_context


class OfAccount(AccountView):
    """Pages of an account's endpoints, with events of deliveries."""

    endpoint_model = WebhookEndpoint
    filter_class = EventFilter
    # What a list of events shows of them, and the column of an export with the subject.
    prefetched = ["queue_item", "delivery__stops"]
    subject_column = "deliveryId"

    @property
    def owner(self) -> Integrator:
        return self.account

    @property
    def may_set_url(self) -> bool:
        """The URL is sent a token, with which whoever reads it could request deliveries."""
        return self.may_request

    def subject_code(self, event: Any) -> Any:
        return event.delivery_id

    def steps(self, endpoint: Any, attempt: Any) -> dict[str, Any]:
        """The steps of the set-up, which a test changes."""
        return steps_context(self.account, endpoint, attempt, at=clock.now())
