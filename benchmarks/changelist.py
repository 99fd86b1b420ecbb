"""What pages for people cost with a million deliveries: in the process, from request to rendered page."""

import re
import time
from collections.abc import Callable

from django.contrib.auth.models import User
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from benchmarks import fill, report, seed
from delivery.models import Delivery, Stop, WebhookEvent

_ROWS = 1_000_000
_RUNS = 5
_DELIVERIES, _EVENTS = "/admin/delivery/delivery/", "/admin/delivery/webhookevent/"
_BOARD = "/panel/board/"


def run() -> None:
    seed.empty()
    started = time.monotonic()
    fill.deliveries(_ROWS)
    fill.analyze()
    print(f"{_ROWS:,} deliveries, each with a stop, an event and a transition: {time.monotonic() - started:.0f} s\n")
    client = _staff()
    report.table(
        f"Pages with {_ROWS:,} deliveries, of 50 rows each where they are lists; {_RUNS} times",
        ["page", "ms: median (least to greatest)", "queries"],
        [(name, *_measured(client, path)) for name, path in {**_admin(), **_panel(client)}.items()],
    )
    report.table(
        "For comparison: an exact count",
        ["rows", "ms: median (least to greatest)"],
        [(f"{_ROWS:,}", report.spread([_milliseconds(Delivery.objects.count) for _run in range(_RUNS)]))],
    )
    seed.empty()


def _admin() -> dict[str, str]:
    middle = Delivery.objects.order_by("-created_at")[_ROWS // 2]
    stop = Stop.objects.get(delivery=middle)
    event = WebhookEvent.objects.get(delivery=middle)
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


def _panel(client: Client) -> dict[str, str]:
    account = f"/panel/accounts/{Delivery.objects.order_by('-created_at')[0].integrator_id}/live/"
    found = re.search(r"version=([0-9a-f]+)", client.get(_BOARD).content.decode())
    if found is None:
        raise RuntimeError("The board does not say what it has shown.")
    return {
        "panel: overview": account,
        "panel: plot of the webhooks": f"{account}plot/",
        "panel: deliveries": f"{account}deliveries/",
        "panel: deliveries, search by externalId": f"{account}deliveries/?q=nothing-like-it",
        "panel: event log": f"{account}events/",
        "panel: event log, given up": f"{account}events/?state=dead",
        "board, 200 live routes": _BOARD,
        "board, asked for news, some": f"{_BOARD}routes/",
        "board, asked for news, none": f"{_BOARD}routes/?version={found[1]}",
    }


def _staff() -> Client:
    User.objects.filter(username="benchmark").delete()
    client = Client(SERVER_NAME="localhost")
    client.force_login(User.objects.create_superuser("benchmark"))
    return client


def _measured(client: Client, path: str) -> tuple[str, str]:
    with CaptureQueriesContext(connection) as queries:
        response = client.get(path)
    if response.status_code not in {200, 204}:
        raise RuntimeError(f"{path}: {response.status_code}")
    asked = len(queries)  # before the next request empties the log
    return report.spread([_milliseconds(lambda: client.get(path)) for _run in range(_RUNS)]), str(asked)


def _milliseconds(call: Callable[[], object]) -> float:
    started = time.perf_counter()
    call()
    return 1000 * (time.perf_counter() - started)
