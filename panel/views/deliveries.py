"""The list of an account's deliveries, and the page of one."""

from uuid import UUID

from django.db.models import prefetch_related_objects
from django.http import Http404, HttpRequest, HttpResponse
from django.utils import timezone

from panel import maps, timeline
from panel.filters import DeliveryFilter, listed
from panel.views import sandbox
from panel.views.base import AccountView


class Deliveries(AccountView):
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
        return self.page(
            "panel/delivery.html",
            delivery=found,
            route=maps.route(found, position),
            tiles=maps.tiles(),
            position=position,
            position_age=position.age_seconds(at=timezone.now()) if position else None,
            steps=timeline.of(found),
            **sandbox.context(found),
        )
