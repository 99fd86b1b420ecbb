"""The calls of both APIs, actions and pages whose time must not depend on the size of the database, by name.

Each is a function that makes one call and returns its CPU milliseconds. What it needs is prepared before.
"""

import json
from collections.abc import Callable
from datetime import timedelta
from functools import partial
from itertools import count
from typing import Any
from urllib.parse import urlsplit
from uuid import UUID, uuid4

from django.conf import settings
from django.contrib import admin
from django.db import transaction
from django.urls import reverse
from django.utils import timezone

from benchmarks import fill, pages
from benchmarks.report import cpu_milliseconds
from common import credentials
from common.mail import sending
from common.webhooks import claims, queue
from config.celery import THREADS, app
from config.monitoring import exposition
from delivery import task_names
from delivery.actions import arrivals, deliveries, drivers
from delivery.lifecycle import RouteStatus
from delivery.models import Delivery, Driver, DriverDevice, Token, WebhookEndpoint
from delivery.receivers import actions as receivers
from delivery.sandbox import simulated_driver
from delivery.webhooks.outbox import OUTBOX
from integration.invoices.models import Invoice
from integration.models import Order, Seller
from tests.factories import BY, PICKUP, payload
from tests.integration.factories import key_of, nfe_xml, order_body

Timed = Callable[[], float]

_QUOTE = {"origin": "01310100", "destination": "20040002", "width": "20", "height": "30", "length": "40", "weight": 2.5,
          "declared_amount": 20_000}  # fmt: skip  # a table
# Pages with fewer rows while the database is small.
_NOT_ALIKE = {
    "deliveries, page 200",
    "deliveries, route EXPIRED",
    "deliveries, two at once: sandbox, EXPIRED",
    "deliveries, created long ago",
}
_numbers = count(1)
# Days after which people are forgotten: older than all rows but those that are made for it.
_FORGET_DAYS = 399
# What the tasks do that only wake a thread.
_IN_THREADS: dict[str, Callable[[], object]] = {
    task_names.SEND_DUE: lambda: claims.claim(OUTBOX, lease=uuid4(), at=timezone.now(), limit=1000),
    task_names.ADVANCE_SIMULATIONS: lambda: simulated_driver.advance_until_none_is_due(lambda: False),
    # Later than the positions in the database, and always the same, so that no route is due again by its age.
    "delivery.renew_all_arrivals": partial(arrivals.renew, at=timezone.now() + timedelta(hours=2)),
    "mail.send_due": sending.send_due,
}


def of_area_a(token: Token) -> dict[str, Timed]:
    headers = _headers(token)
    own = Delivery.objects.filter(environment="live").order_by("-created_at")
    taken = own.filter(route_status=RouteStatus.ACCEPTED)[0]
    finished = own.filter(route_status=RouteStatus.FINISHED)[0]
    page = json.loads(ask("GET", "/api/deliveries", headers))
    feed = json.loads(ask("GET", "/api/events", headers))

    def get(path: str, query: str = "") -> Timed:
        return lambda: cpu_milliseconds(lambda: ask("GET", path, headers, query))

    def post(path: str) -> Timed:
        return lambda: cpu_milliseconds(lambda: ask("POST", path, headers, body=payload(stops=3)))

    def cancel() -> float:
        made = requested(token)
        return cpu_milliseconds(lambda: ask("POST", f"/api/cancel-delivery/{made.pk}", headers, body={}))

    return {
        "quotation-delivery": post("/api/quotation-delivery"),
        "request-delivery": post("/api/request-delivery"),
        "info-delivery": get(f"/api/info-delivery/{finished.pk}"),
        "location-delivery": get(f"/api/location-delivery/{taken.pk}"),
        "cancel-delivery": cancel,
        "deliveries": get("/api/deliveries"),
        "deliveries, next page": get("/api/deliveries", f"cursor={page['nextCursor']}"),
        "deliveries by externalId": get("/api/deliveries", "externalId=order-900"),
        "deliveries by status": get("/api/deliveries", "status=DELIVERED"),
        "deliveries by statuses": get("/api/deliveries", "status=ACCEPT,FAILED"),
        "deliveries updated": get("/api/deliveries", f"updatedFrom={_an_hour_ago()}"),
        "deliveries updated, all": get("/api/deliveries", "updatedFrom=2000-01-01"),
        "deliveries updated, all by statuses": get("/api/deliveries", "updatedFrom=2000-01-01&status=ACCEPT,FAILED"),
        "deliveries by ids": get("/api/deliveries", f"deliveryId={taken.pk},{finished.pk}"),
        "deliveries/{id}": get(f"/api/deliveries/{finished.pk}"),
        "events": get("/api/events"),
        "events from a moment": get("/api/events", f"from={_an_hour_ago()}"),
        "events from 15 hours ago": get("/api/events", f"from={_ago(timedelta(hours=15))}"),
        "events of a delivery": get("/api/events", f"deliveryId={finished.pk}"),
        "events, after a cursor": get("/api/events", f"after={feed['nextCursor']}"),
    }


def of_area_b(seller: Seller) -> dict[str, Timed]:
    headers = _seller_headers(seller)
    base = "/api/integration"

    def get(path: str, query: str = "") -> Timed:
        return lambda: cpu_milliseconds(lambda: ask("GET", f"{base}/{path}", headers, query))

    def post(path: str, body: Any) -> Timed:
        return lambda: cpu_milliseconds(lambda: ask("POST", f"{base}/{path}", headers, body=body))

    def new_order() -> dict[str, Any]:
        number = next(_numbers)
        return order_body(orderId=f"N-{number}", trackingCode=f"N-{number}", invoice=None)

    def create() -> float:
        body = new_order()
        return cpu_milliseconds(lambda: ask("POST", f"{base}/orders", headers, body=body))

    def cancel() -> float:
        body = new_order()
        ask("POST", f"{base}/orders", headers, body=body)
        return cpu_milliseconds(
            lambda: ask("POST", f"{base}/orders/cancel", headers, body={"orderId": body["orderId"]})
        )

    def upload() -> float:
        number = next(_numbers)
        raw = nfe_xml(key=f"{number:044}"[::-1], items=(f"U-{number}",)).encode()
        content = (
            b'--b\r\nContent-Disposition: form-data; name="nfe"; filename="n.xml"\r\n\r\n' + raw + b"\r\n--b--\r\n"
        )
        multipart = {**headers, "Content-Type": "multipart/form-data; boundary=b"}
        return cpu_milliseconds(lambda: ask("POST", f"{base}/invoices/marketplace", multipart, content=content))

    return {
        "shipping/quote": post("shipping/quote", _QUOTE),
        "shipping/services": post("shipping/services", _QUOTE),
        "orders, create": create,
        "orders": get("orders"),
        "orders by status": get("orders", "status=pending"),
        "orders by statuses": get("orders", "status=collected,delivered"),
        "orders updated": get("orders", f"updatedFrom={_an_hour_ago()}"),
        "orders updated, all": get("orders", "updatedFrom=2000-01-01"),
        "orders updated, all by statuses": get("orders", "updatedFrom=2000-01-01&status=collected,delivered"),
        "orders by orderIds": get("orders", "orderId=O-7,O-8"),
        "orders by company": get("orders", f"company={seller.companies.get().document}"),
        "orders/{orderId}": get("orders/O-7"),
        "orders/tracking by orderId": get("orders/tracking", "type=order_number&value=O-7"),
        "orders/tracking by document": get("orders/tracking", "type=document&value=52998224725"),
        "orders/cancel": cancel,
        "invoices": get("invoices"),
        "invoices without an order": get("invoices", "linked=false"),
        "invoices by keys": get("invoices", f"key={Invoice.objects.filter(seller=seller)[0].access_key}"),
        "invoices/marketplace": upload,
    }


def of_dispatch(token: Token) -> dict[str, Timed]:
    """Offers to drivers and their positions. Of the drivers on duty, all within the dispatch radius, most are free."""
    driver = Driver.objects.filter(deliveries=None).order_by("pk")[0]
    offered = requested(token)

    def accept() -> float:
        delivery = requested(token)
        spent = cpu_milliseconds(lambda: deliveries.accept(delivery=delivery, driver=None, by=BY, at=timezone.now()))
        deliveries.cancel(delivery=delivery, reason="", by=BY, at=timezone.now())
        return spent

    def send_position() -> float:
        at = timezone.now() + timedelta(hours=2)  # later than those in the database
        return cpu_milliseconds(lambda: drivers.set_position(driver=driver, point=PICKUP, by=BY, at=at))

    held = Delivery.objects.filter(route_status=RouteStatus.ACCEPTED, environment="live").order_by("pk")[0]
    stops = list(held.stops.all())
    (link,) = list(receivers.addresses(stops[:1], at=timezone.now()).values())
    address = urlsplit(link).path
    assert held.driver is not None  # it was accepted
    phone = {"Cookie": f"{settings.DRIVER_COOKIE_NAME}={_phone(held.driver)}"}

    return {
        "driver's app: state": lambda: cpu_milliseconds(lambda: ask("GET", "/driver/state/", phone)),
        "driver's app: day": lambda: cpu_milliseconds(lambda: ask("GET", "/driver/day/", phone)),
        "receiver's page": lambda: cpu_milliseconds(lambda: ask("GET", address, {})),
        "acceptance by the nearest driver": accept,
        "the 20 nearest eligible drivers": lambda: cpu_milliseconds(
            lambda: drivers.nearest(offered, at=timezone.now(), count=20)
        ),
        "a driver's position": send_position,
    }


def of_monitoring() -> dict[str, Timed]:
    """What `/metrics` and `/readyz` read from PostgreSQL, each time anew."""
    return {
        "monitoring: gauges of /metrics": lambda: cpu_milliseconds(exposition.read_gauges),
        "monitoring: oldest due event": lambda: cpu_milliseconds(
            lambda: queue.oldest_due_seconds(OUTBOX, at=timezone.now())
        ),
    }


def of_tasks(token: Token, seller: Seller) -> dict[str, Timed]:
    """Each periodic task with nothing to do, and those about deliveries, orders and webhooks with some work."""
    settings.FORGET_DELIVERY_DAYS = settings.FORGET_ORDER_DAYS = _FORGET_DAYS
    headers = _seller_headers(seller)
    app.loader.import_default_modules()
    names = {each["task"] for each in app.conf.beat_schedule.values()} - {"config.wake_threads"}
    tasks = {name: _IN_THREADS.get(name, app.tasks[name]) for name in sorted({*names, *THREADS})}
    event = Delivery.objects.filter(route_status=RouteStatus.FINISHED).order_by("-pk")[0].events.first_ones()[0].pk
    held = Delivery.objects.filter(route_status=RouteStatus.ACCEPTED, environment="live").order_by("pk")[0]

    def expire() -> None:
        _write(
            "UPDATE delivery_delivery SET offer_expires_at = now() - interval '1 s' WHERE id = %s", requested(token).pk
        )

    def end_long_ago() -> None:
        ended = deliveries.cancel(delivery=requested(token), reason="", by=BY, at=timezone.now())
        _write("UPDATE delivery_delivery SET closed_at = now() - interval '400 days' WHERE id = %s", ended.pk)

    def order_long_ago() -> None:
        code = f"L-{next(_numbers)}"
        ask(
            "POST",
            "/api/integration/orders",
            headers,
            body=order_body(orderId=code, trackingCode=code, invoice=None),
        )
        _write("UPDATE integration_order SET created_at = now() - interval '400 days' WHERE code = %s", code)

    def attempt() -> None:
        _write(
            "INSERT INTO delivery_webhookattempt"
            " (event_id, number, at, milliseconds, status_code, error, response_start)"
            " SELECT %s, 100 + n, now() - interval '31 days', 12, 204, '', '' FROM generate_series(1, 10) n",
            event,
        )

    def move() -> None:
        assert held.driver is not None  # it was accepted
        at = timezone.now() + timedelta(hours=3)  # later than the arrival times
        drivers.set_position(driver=held.driver, point=PICKUP, by=BY, at=at)

    def claim() -> float:
        """Undone again, because nothing sends what is claimed."""
        with transaction.atomic():
            WebhookEndpoint.objects.update(url="http://127.0.0.1:9/hook")
            spent = cpu_milliseconds(tasks[task_names.SEND_DUE])
            transaction.set_rollback(True)
        return spent

    def after(prepare: Callable[[], object], task: str) -> Timed:
        def act() -> float:
            prepare()
            return cpu_milliseconds(tasks[task])

        return act

    return {
        **{f"task: {name}": partial(cpu_milliseconds, act) for name, act in tasks.items()},
        "task: delivery.webhooks.send_due, a claim": claim,
        "task: delivery.webhooks.prune, 10 attempts": after(attempt, "delivery.webhooks.prune"),
        "task: delivery.expire_offers, one": after(expire, "delivery.expire_offers"),
        "task: delivery.forget, one": after(end_long_ago, "delivery.forget"),
        "task: integration.forget, one": after(order_long_ago, "integration.forget"),
        "task: delivery.renew_all_arrivals, a move": after(move, "delivery.renew_all_arrivals"),
    }


def of_pages(token: Token, seller: Seller) -> dict[str, Timed]:
    client = pages.staff()
    offered = Delivery.objects.filter(route_status=RouteStatus.AVAILABLE, environment="live").order_by("pk")[0]
    finished = Delivery.objects.filter(route_status=RouteStatus.FINISHED).order_by("-pk")[0]
    account = f"/panel/accounts/{token.integrator_id}/live/"
    lists = {
        f"admin: {model._meta.model_name}": reverse(
            f"admin:{model._meta.app_label}_{model._meta.model_name}_changelist"
        )
        for model in admin.site._registry  # noqa: SLF001  # its only list of models
    }
    order = Order.objects.get(seller=seller, code="O-7")
    invoice = Invoice.objects.get(links__order=order)
    paths = {
        **lists,
        **{f"admin: {name}": path for name, path in pages.admin(finished).items() if path not in lists.values()},
        "admin: orders, search by orderId": f"{lists['admin: order']}?q=O-7",
        "admin: orders, status": f"{lists['admin: order']}?status__exact=pending",
        "admin: one order": f"{lists['admin: order']}{order.pk}/change/",
        "admin: invoices, search by access key": f"{lists['admin: invoice']}?q={invoice.access_key}",
        "admin: invoices, search by orderId": f"{lists['admin: invoice']}?q=O-7",
        "admin: invoices, seller": f"{lists['admin: invoice']}?seller__id__exact={seller.pk}",
        "admin: one offered delivery": f"{lists['admin: delivery']}{offered.pk}/change/",
        **pages.panel(client),
        "panel: one delivery": f"{account}deliveries/{finished.pk}/",
        "panel: deliveries, status": f"{account}deliveries/?status=DELIVERED",
        "panel: event log, search by externalId": f"{account}events/?q=order-900",
        "panel: events of the second endpoint": f"{account}endpoints/2/events/",
        "panel: webhook of the second endpoint": f"{account}endpoints/2/webhook/",
        **{
            f"panel: {name}": f"{account}{name}/"
            for name in ("activity", "webhook", "tokens", "alerts", "team", "setup/sheet")
        },
        "panel: home": reverse("panel:home"),
        "panel: drivers": reverse("panel:drivers"),
        "panel: drivers, search": f"{reverse('panel:drivers')}?q=driver+7",
        "panel: one driver": reverse("panel:driver", args=[finished.driver_id]),
        **{
            f"panel: seller's {name or 'keys'}": f"/panel/sellers/{seller.pk}/live/{name}"
            for name in ("", "orders/", "invoices/", "sheet/", "team/", "refused-calls/")
        },
        "panel: seller's orders, search": f"/panel/sellers/{seller.pk}/live/orders/?q=O-7",
        "panel: seller's invoices, search": f"/panel/sellers/{seller.pk}/live/invoices/?q=O-7",
        "panel: seller's order": reverse("panel:seller_order", args=[seller.pk, order.environment, order.pk]),
        "panel: seller's invoice": reverse("panel:seller_invoice", args=[seller.pk, invoice.environment, invoice.pk]),
        "panel: refused calls": f"{account}refused-calls/",
        "board: drivers of a delivery": f"{pages.BOARD}{offered.pk}/drivers/",
        "board: drivers, search": f"{pages.BOARD}{offered.pk}/drivers/?q=driver+7",
    }

    def get(path: str) -> Timed:
        def act() -> float:
            spent = cpu_milliseconds(lambda: responses.append(client.get(path)))
            response = responses.pop()
            # The list of the one row of rules leads to that row.
            if response.status_code not in {200, 204} and not response.headers.get("Location", "").startswith(path):
                raise RuntimeError(f"{path}: {response.status_code}")
            return spent

        responses: list[Any] = []
        return act

    return {name: get(path) for name, path in paths.items() if name.removeprefix("admin: ") not in _NOT_ALIKE}


def _an_hour_ago() -> str:
    return _ago(timedelta(hours=1))


def _ago(duration: timedelta) -> str:
    return (timezone.now() - duration).strftime("%Y-%m-%dT%H:%M:%SZ")


def requested(token: Token) -> Delivery:
    """A delivery that was requested by the API, with whole addresses."""
    made = json.loads(ask("POST", "/api/request-delivery", _headers(token), body=payload(stops=3)))
    return Delivery.objects.get(pk=made["deliveryId"])


def _headers(token: Token) -> dict[str, str]:
    return {"Authorization": f"Bearer {token.clear_text}", "Content-Type": "application/json"}


def _seller_headers(seller: Seller) -> dict[str, str]:
    return {"Authorization": f"Basic {key_of(seller)}", "Content-Type": "application/json"}


def _write(statement: str, value: UUID | str) -> None:
    """Write what no action writes."""
    with fill.bulk() as cursor:
        cursor.execute(statement, [value])


def _phone(driver: Driver) -> str:
    """The session of a phone of the driver."""
    session, now = credentials.random_token("rota_driver_"), timezone.now()
    DriverDevice.objects.create(
        driver=driver, digest=credentials.digest(session), created_at=now, expires_at=now + timedelta(days=1)
    )
    return session


def ask(
    method: str, path: str, headers: dict[str, str], query: str = "", *, body: Any = None, content: bytes = b""
) -> bytes:
    """The body of the answer to a call within this process. Raises RuntimeError for an error."""
    from tests.cost import wsgi  # needs the servers

    answer = wsgi.ask(
        method, path, query=query, headers=headers, body=content or (b"" if body is None else json.dumps(body).encode())
    )
    if answer.status >= 400:  # an error
        raise RuntimeError(f"{method} {path}: {answer.status} {answer.body[:200]!r}")
    return answer.body
