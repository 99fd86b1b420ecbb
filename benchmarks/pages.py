"""Pages for people that are measured, by name: lists, filters and searches of the admin, the panel and the board."""

from datetime import timedelta

from django.contrib.auth.models import User
from django.test import Client
from django.utils import timezone

from benchmarks import fill
from delivery.models import Delivery, Integrator, Stop, WebhookEvent
from panel.board import MOST_CARDS

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
        "start page": "/admin/",
        "deliveries": _DELIVERIES,
        "deliveries, page 2": f"{_DELIVERIES}?p=2",
        "deliveries, page 200": f"{_DELIVERIES}?p=200",
        **{f"deliveries, {name}": f"{_DELIVERIES}?{query}" for name, query in filters.items()},
        "deliveries, search by id": f"{_DELIVERIES}?q={middle.pk}",
        "deliveries, search by externalId": f"{_DELIVERIES}?q={stop.external_id}",
        "deliveries, search in vain": f"{_DELIVERIES}?q=nothing-like-it",
        "one delivery": f"{_DELIVERIES}{middle.pk}/change/",
        "webhook events": _EVENTS,
        "webhook events, dead (0.1 %)": f"{_EVENTS}?state=dead",
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
    some = ",".join(route["id"] for route in client.get(f"{BOARD}routes/").json()["routes"][:MOST_CARDS])
    return {
        "panel: overview": account,
        "panel: plot of the webhooks": f"{account}plot/",
        "panel: deliveries": f"{account}deliveries/",
        "panel: deliveries, search in vain for part of a text": f"{account}deliveries/?q=nothing-like-it",
        "panel: deliveries by price": f"{account}deliveries/?sort=-shipping_value",
        "panel: failed deliveries by price": f"{account}deliveries/?sort=-shipping_value&status=FAILED",
        "panel: deliveries, oldest first": f"{account}deliveries/?sort=created_at",
        "panel: activity of a person": f"{account}activity/?by=user+dora",
        "panel: event log": f"{account}events/",
        "panel: event log, dead": f"{account}events/?state=dead",
        "board, page": BOARD,
        "board, 200 live routes": f"{BOARD}routes/",
        "board, 50 cards": f"{BOARD}cards/?ids={some}",
        "board, a card": f"{BOARD}cards/?ids={some.split(',')[0]}",
        "board, positions": f"{BOARD}positions/",
        "board, search": f"{BOARD}search/?q=augusta",
    }


def reports(account: Integrator, name: str) -> dict[str, str]:
    """Paths of the reports of an account, and of all accounts."""
    own = f"/panel/accounts/{account.pk}/live/report/"
    return {
        "all accounts and drivers, 30 days": f"/panel/reports/{_period(30)}",
        "all accounts and drivers, a year": f"/panel/reports/{_period(365)}",
        f"{name}, 30 days": f"{own}{_period(30)}",
        f"{name}, a year": f"{own}{_period(365)}",
        f"{name}, deliveries of a year": f"{own}deliveries/{_period(365)}",
        f"{name}, file of 30 days": f"{own}deliveries/export/{_period(30)}",
    }


def _period(days: int) -> str:
    """The query of a report of the last days."""
    today = timezone.localdate()
    return f"?since={today - timedelta(days=days - 1)}&until={today}"


def staff() -> Client:
    User.objects.filter(username="benchmark").delete()
    client = Client(SERVER_NAME="localhost")
    client.force_login(User.objects.create_superuser("benchmark"))
    return client
