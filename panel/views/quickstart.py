"""Examples of calls with the account's own values."""

import json
from typing import Any

from django.http import HttpRequest, HttpResponse

from delivery.models import Integrator
from panel.views.base import AccountView

# Avenida Paulista, São Paulo; for an account without a pickup point.
_DEFAULT_PICKUP = (-23.561414, -46.655881)


class Quickstart(AccountView):
    def get(self, request: HttpRequest) -> HttpResponse:
        return self.page(
            "panel/quickstart.html",
            base=request.build_absolute_uri("/").rstrip("/"),
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
