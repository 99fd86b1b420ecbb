"""Pages for people that are measured, by name: lists, filters and searches of the admin, the panel and the board."""

from datetime import timedelta
from itertools import chain, product
from itertools import combinations as combine
from typing import Any
from urllib.parse import urlencode

from django.contrib.admin import site
from django.contrib.auth.models import User
from django.test import Client, RequestFactory
from django.urls import reverse
from django.utils import timezone

from benchmarks import fill
from common.admin.base import LargeTable
from delivery.models import Delivery, Integrator, Stop, WebhookEvent
from integration.models import Seller
from panel.dispatch.board import MOST_CARDS
from panel.filters import (
    RANGE,
    ActivityFilter,
    DeliveryFilter,
    EventFilter,
    InvoiceFilter,
    ListFilter,
    OrderFilter,
    RefusedCallFilter,
)

_DELIVERIES, _EVENTS = "/admin/delivery/delivery/", "/admin/delivery/webhookevent/"
BOARD = "/panel/board/"
_STAFF = "benchmark"


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


def lists(account: Integrator, seller: Seller) -> dict[str, type[ListFilter]]:
    """Path and filter of each list of the panel whose pages have no numbers."""
    own, of_seller = f"/panel/accounts/{account.pk}/live/", f"/panel/sellers/{seller.pk}/live/"
    return {
        f"{own}deliveries/": DeliveryFilter,
        f"{own}events/": EventFilter,
        f"{own}activity/": ActivityFilter,
        f"{own}refused-calls/": RefusedCallFilter,
        f"{of_seller}orders/": OrderFilter,
        f"{of_seller}invoices/": InvoiceFilter,
        f"{of_seller}refused-calls/": RefusedCallFilter,
    }


# Values of filters that are no choices.
_TYPED = {"code": ["rare", "in-vain"], "path": ["request", "in-vain"], "by": ["user dora", "user p1"]}


def combinations(filter_class: type[ListFilter]) -> list[str]:
    """Queries of a list: every order with every combination of its filters, without searches."""
    values = {
        name: [value for value, _label in each.extra["choices"]] if each.extra.get("choices") else _TYPED.get(name, [])
        for name, each in filter_class.base_filters.items()
    }
    offered = [[{}, *({name: value} for value in found)] for name, found in values.items() if found]
    orders = [{"sort": order} for order in filter_class.orders]
    chosen = [{name: value for each in parts for name, value in each.items()} for parts in product(*offered, orders)]
    return [urlencode(each | _RANGE if each.get("period") == RANGE else each) for each in chosen]


# A day half a year ago.
_RANGE = {"since": f"{timezone.now() - timedelta(days=181):%Y-%m-%dT%H:%M}",
          "until": f"{timezone.now() - timedelta(days=180):%Y-%m-%dT%H:%M}"}  # fmt: skip  # a pair


def admin_lists() -> dict[str, list[str]]:
    """Each list of the admin that never reads its whole table: its path and queries.

    The queries are each choice of its filters, alone and with each of another filter.
    """
    found = {}
    for model, screen in site._registry.items():  # noqa: SLF001  # its only list of models
        if issubclass(type(screen), LargeTable):
            path = reverse(f"admin:{model._meta.app_label}_{model._meta.model_name}_changelist")
            found[path] = _queries(screen, path)
    return found


def _queries(screen: Any, path: str) -> list[str]:
    request = RequestFactory().get(path)
    request.user = User.objects.get(username=_STAFF)
    changes = screen.get_changelist_instance(request)
    offered = [
        [choice["query_string"].removeprefix("?") for choice in spec.choices(changes) if "query_string" in choice]
        for spec in changes.filter_specs
    ]
    both = (f"{one}&{other}" for first, second in combine(offered, 2) for one, other in product(first, second))
    return sorted({"", *chain(*offered), *both})


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
    User.objects.filter(username=_STAFF).delete()
    client = Client(SERVER_NAME="localhost")
    client.force_login(User.objects.create_superuser(_STAFF))
    return client
