"""The list of an account's deliveries, and the page of one."""

from uuid import UUID

from django.db.models import prefetch_related_objects
from django.http import Http404, HttpRequest, HttpResponse

from common import clock
from common.replica import may_be_old
from delivery import models
from delivery.actions import receiver_links
from delivery.lifecycle import Trigger
from panel import maps, timeline
from panel.filters import DeliveryFilter, listed
from panel.views import sandbox
from panel.views.base import AccountView


class Deliveries(AccountView):
    @may_be_old
    def get(self, request: HttpRequest) -> HttpResponse:
        shown = listed(DeliveryFilter, request.GET, self.deliveries)
        prefetch_related_objects(shown["rows"], "driver", "stops")
        return self.page("panel/deliveries.html", **shown)


class Delivery(AccountView):
    """One delivery: map, stops, and its history with the webhook events."""

    def get(self, request: HttpRequest, delivery: UUID) -> HttpResponse:
        found = self.deliveries.with_parts().filter(pk=delivery).first()
        if found is None:
            raise Http404
        position = found.driver_position
        steps = timeline.of(found)
        return self.page(
            "panel/delivery.html",
            delivery=found,
            route=maps.route(found, position),
            tiles=maps.tiles(),
            position=position,
            stops=receiver_links.details(found.ordered_stops, at=clock.now()),
            steps=steps,
            collected_at=next((step.change.at for step in steps if step.change.trigger == Trigger.COLLECT), None),
            live_ids=_ids(found, steps),
            **sandbox.context(found),
        )


def _ids(delivery: models.Delivery, steps: list[timeline.Step]) -> str:
    """The ids of page updates (`delivery.page_updates`) that concern this page."""
    events = [f"event:{step.event.pk}" for step in steps if step.event]
    return " ".join([f"delivery:{delivery.pk}", f"position:{delivery.pk}", *events])
