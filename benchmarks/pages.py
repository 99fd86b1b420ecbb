"""Pages for people that are measured, by name: lists, filters and searches of the admin, the panel and the board."""

import re

from django.contrib.auth.models import User
from django.test import Client

from benchmarks import fill
from delivery.models import Delivery, Stop, WebhookEvent

_DELIVERIES, _EVENTS = "/admin/delivery/delivery/", "/admin/delivery/webhookevent/"
BOARD = "/panel/board/"


def admin(middle: Delivery) -> dict[str, str]:
    """Paths of the admin. `middle` is a delivery of middle age."""
    stop = Stop.objects.get(delivery=middle, index=0)
    event = WebhookEvent.objects.get(delivery=middle, sequence=1)
    filters = {
        "status PENDING (few)": "status__exact=PENDING",
        "status DELIVERED (most)": "status__exact=DELIVERED",
        "status FAILED": "status__exact=FAILED",
        "route AVAILABLE (few)": "route_status__exact=AVAILABLE",
        "route RETURNING (very few)": "route_status__exact=RETURNING",
        "route EXPIRED": "route_status__exact=EXPIRED",
        "environment sandbox (1 %)": "environment__exact=sandbox",
        "vehicle CAR (10 %)": "vehicle_type__exact=CAR",
        "two at once: sandbox, EXPIRED": "environment__exact=sandbox&route_status__exact=EXPIRED",
        "created in the last days": f"created_at__gte={fill.days_ago(1)}",
        "created long ago": f"created_at__lt={fill.days_ago(300)}",
        "integrator": f"integrator__id__exact={middle.integrator_id}",
    }
    return {
        "deliveries": _DELIVERIES,
        "deliveries, page 2": f"{_DELIVERIES}?p=2",
        "deliveries, page 200": f"{_DELIVERIES}?p=200",
        **{f"deliveries, {name}": f"{_DELIVERIES}?{query}" for name, query in filters.items()},
        "deliveries, search by id": f"{_DELIVERIES}?q={middle.pk}",
        "deliveries, search by externalId": f"{_DELIVERIES}?q={stop.external_id}",
        "deliveries, search in vain": f"{_DELIVERIES}?q=nothing-like-it",
        "one delivery": f"{_DELIVERIES}{middle.pk}/change/",
        "webhook events": _EVENTS,
        "webhook events, given up (0.1 %)": f"{_EVENTS}?state=dead",
        "webhook events, next to be sent": f"{_EVENTS}?state=waiting",
        "webhook events, created in the last days": f"{_EVENTS}?created_at__gte={fill.days_ago(1)}",
        "webhook events, search by deliveryId": f"{_EVENTS}?q={middle.pk}",
        "one webhook event": f"{_EVENTS}{event.pk}/change/",
        "transitions": "/admin/delivery/transition/",
        "transitions of one person": "/admin/delivery/transition/?q=user+dora",
        "driver positions": "/admin/delivery/driverposition/",
    }


def panel(client: Client) -> dict[str, str]:
    account = f"/panel/accounts/{Delivery.objects.order_by('-created_at')[0].integrator_id}/live/"
    found = re.search(r"version=([0-9a-f]+)", client.get(BOARD).content.decode())
    if found is None:
        raise RuntimeError("The board does not say what it has shown.")
    return {
        "panel: overview": account,
        "panel: plot of the webhooks": f"{account}plot/",
        "panel: deliveries": f"{account}deliveries/",
        "panel: deliveries, search by externalId": f"{account}deliveries/?q=nothing-like-it",
        "panel: event log": f"{account}events/",
        "panel: event log, given up": f"{account}events/?state=dead",
        "board, 200 live routes": BOARD,
        "board, asked for news, some": f"{BOARD}routes/",
        "board, asked for news, none": f"{BOARD}routes/?version={found[1]}",
    }


def staff() -> Client:
    User.objects.filter(username="benchmark").delete()
    client = Client(SERVER_NAME="localhost")
    client.force_login(User.objects.create_superuser("benchmark"))
    return client
