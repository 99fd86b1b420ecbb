"""Pages of an account: its overview, examples of calls with its own values, and its audit log."""

import json
from datetime import datetime, timedelta
from typing import Any

from django.db.models import Count
from django.http import HttpRequest, HttpResponse
from django.utils import timezone

from common import clock
from common.page_updates import stream
from common.replica import may_be_old
from delivery import page_updates
from delivery.lifecycle import Status
from delivery.models import AuditEntry, Integrator, WebhookAttempt
from panel import attention, plots
from panel.filters import ActivityFilter, listed
from panel.views.base import AccountView, origin

_HOURS = 24
_MOST_PICKUP_POINTS = 200
# Avenida Paulista, São Paulo; for an account without a pickup point.
_DEFAULT_PICKUP = (-23.561414, -46.655881)


class Overview(AccountView):
    """Numbers of today's deliveries by status, notices, and the places from which deliveries may be requested."""

    @may_be_old
    def get(self, request: HttpRequest) -> HttpResponse:
        now = clock.now()
        counts = dict(
            self.deliveries.filter(created_at__gte=_midnight(now))
            .order_by()
            .values_list("status")
            .annotate(Count("pk"))
        )
        return self.page(
            "panel/overview.html",
            counts=[(status.value, counts.get(status, 0)) for status in Status],
            total=sum(counts.values()),
            notices=attention.notices(self.account, self.environment, self.endpoints, at=now),
            steps=attention.first_steps(self.account, self.environment, self.endpoints[0], at=now),
            pickup_points=self.account.pickup_points.active()[:_MOST_PICKUP_POINTS],
        )


class Plot(AccountView):
    """Webhooks of the last day. A fragment that the page loads after itself, because it counts many rows."""

    @may_be_old
    def get(self, request: HttpRequest) -> HttpResponse:
        now = timezone.localtime()
        since = now.replace(minute=0, second=0, microsecond=0) - timedelta(hours=_HOURS - 1)
        plot = plots.of_hours(WebhookAttempt.objects.by_hour(self.endpoints, since=since), until=now, count=_HOURS)
        return self.page("panel/plot.html", plot=plot, endpoints=self.endpoints)


def _midnight(at: datetime) -> datetime:
    return timezone.localtime(at).replace(hour=0, minute=0, second=0, microsecond=0)


class Quickstart(AccountView):
    def get(self, request: HttpRequest) -> HttpResponse:
        return self.page(
            "panel/quickstart.html",
            base=origin(request),
            body=json.dumps(_example(self.account), ensure_ascii=False, indent=2),
            endpoint=self.endpoint,
            pickup=self.account.pickup_points.active().first(),
        )


def _example(account: Integrator) -> dict[str, Any]:
    """A request that this account may make: from its first pickup point to two places nearby."""
    pickup = account.pickup_points.active().first()
    latitude, longitude = (pickup.latitude, pickup.longitude) if pickup else _DEFAULT_PICKUP
    return {
        "vehicleType": "MOTORCYCLE",
        "pickup": {
            "contacts": {"name": pickup.name if pickup else account.name, "phoneNumber": "+55 11 3333-0000"},
            "address": {"latitude": latitude, "longitude": longitude},
        },
        "dropoffs": [
            _dropoff("order-1001", "Rua Augusta", latitude + 0.009, longitude + 0.006),
            _dropoff("order-1002", "Rua Oscar Freire", latitude - 0.0015, longitude - 0.013),
        ],
    }


def _dropoff(external_id: str, street: str, latitude: float, longitude: float) -> dict[str, Any]:
    place = {"street": street, "latitude": round(latitude, 6), "longitude": round(longitude, 6)}
    return {"externalId": external_id, "address": place}


class Updates(AccountView):
    """A stream of what changes (`config.page_streams`): the account's deliveries and webhooks."""

    http_method_names = ["get"]

    def get(self, request: HttpRequest) -> HttpResponse:
        account = page_updates.account(self.account.pk, self.environment)
        of_endpoints = [page_updates.endpoint(endpoint.pk) for endpoint in self.endpoints]
        return stream(request, account, *of_endpoints, user=str(request.user.pk))


class Activity(AccountView):
    @may_be_old
    def get(self, request: HttpRequest) -> HttpResponse:
        entries = AuditEntry.objects.filter(integrator=self.account, environment=self.environment)
        return self.page("panel/activity.html", **listed(ActivityFilter, request.GET, entries))
