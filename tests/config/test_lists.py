"""Every list that is read in pages or portions: each row once and in order, whatever is joined and whichever are equal.

The rows have one moment, or moments a microsecond apart whose order is not that of their keys. Filters meet several
rows of a joined table for each row of the list.
"""

import ast
import csv
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from datetime import timedelta
from itertools import islice
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse
from django.utils import timezone
from rest_framework.test import APIClient

from common.accounts import Environment
from common.webhooks import endpoints
from config.env import BASE_DIR
from config.management.commands import openapi
from delivery.actions import deliveries
from delivery.connections.models import Connection, Draft
from delivery.models import AuditAction, AuditEntry, RefusedDeliveryCall
from integration.connections.models import Connection as SellerConnection
from integration.connections.models import Draft as SellerDraft
from integration.invoices import actions as invoices
from integration.manifests import actions as manifests
from integration.models import RefusedSellerCall, SearchCode
from integration.models import WebhookEndpoint as EndpointOfSeller
from tests.delivery.connections.shops import shop as connected
from tests.factories import BY, DeliveryFactory, DriverFactory, TokenFactory, validated_payload
from tests.integration.connections import shops as seller_shops
from tests.integration.factories import ACCESS_KEY, OTHER_COMPANY, SellerFactory, create_order, key_of, nfe_xml
from tests.panel.conftest import Shop, refused_call
from tests.sources import PACKAGES

NOW = (timezone.now() - timedelta(hours=2)).replace(microsecond=123_456)
COUNT = 5
# Of a page: some, one less than all, all, one more than all.
LIMITS = (2, COUNT - 1, COUNT, COUNT + 1)
# Functions that read one page or portion, and the modules that define them.
READERS = {"page_in_order", "page_matching", "list_page", "listed", "all_rows", "numbered", "cursor_at", "Paginator"}
DEFINED_IN = {
    "common/api/pagination.py", "delivery/api/views.py", "integration/api/views.py", "panel/filters.py",
    "common/admin/base.py", "common/admin/tabular_import.py",
}  # fmt: skip  # a table


@dataclass
class Caller:
    """Who reads the lists of a shop. `limit` rows are a page or a portion.

    `sort`: the order that is asked for, if any, and `orders` those to choose from, as the last page has them.
    """

    shop: Shop
    browser: Client
    limit: int = 0
    sort: str = ""
    orders: tuple[str, ...] = ()
    clients: dict[str, APIClient] = field(default_factory=dict)

    def of_token(self) -> APIClient:
        return APIClient(HTTP_AUTHORIZATION=f"Bearer {self.shop.token.clear_text}")

    def of_key(self) -> APIClient:
        return self.clients.setdefault("key", APIClient(HTTP_AUTHORIZATION=f"Basic {key_of(self.shop.seller)}"))

    def page(self, path: str, **query: str) -> Any:
        """The context of a page."""
        context = self.browser.get(path, query | ({"sort": self.sort} if self.sort else {})).context
        self.orders = tuple(context.get("orders", ()))
        return context

    def page_of_account(self, name: str) -> str:
        return reverse(f"panel:{name}", args=[self.shop.integrator.pk, "live"])

    def page_of_seller(self, name: str) -> str:
        return reverse(f"panel:{name}", args=[self.shop.seller.pk, "live"])


Make = Callable[[Caller, Any], Any]  # one row of a moment; returns what the list shows of it
Read = Callable[[Caller], Iterator[list[Any]]]  # the pages


@dataclass(frozen=True)
class Listing:
    module: str
    make: Make
    read: Read
    limits: tuple[str, ...] = ()  # names of the constants that are the number of rows
    oldest_first: bool = False
    by_page: bool = True  # False: the pages are not seen, or have other rows too


def a_delivery(caller: Caller, at: Any) -> Any:
    """Each of its three drop-offs has the id X."""
    payload = validated_payload(stops=3)
    dropoffs = [replace(place, external_id="X", contact_name="Ana") for place in payload.dropoffs]
    return DeliveryFactory.create(token=caller.shop.token, payload=replace(payload, dropoffs=dropoffs), at=at)


def ended(caller: Caller, at: Any) -> str:
    made = DeliveryFactory.create(token=caller.shop.token, at=NOW - timedelta(minutes=5))
    deliveries.cancel(delivery=made, reason="", by=BY, at=at)
    return str(made.pk)


def a_draft(caller: Caller, at: Any) -> str:
    connection = Connection.objects.filter(integrator=caller.shop.integrator).first()
    connection = connection or connected(integrator=caller.shop.integrator)
    number = Draft.objects.count()
    of_account = {"integrator": caller.shop.integrator, "environment": "live", "external_id": "X"}
    empty: dict[str, Any] = {"payload": {}, "source": {}}
    made = Draft.objects.create(connection=connection, order_id=number, created_at=at, **of_account, **empty)
    return str(made.pk)


def a_seller_draft(caller: Caller, at: Any) -> str:
    seller = caller.shop.seller
    connection = SellerConnection.objects.filter(seller=seller).first() or seller_shops.shop(seller=seller)
    number = SellerDraft.objects.count()
    known: dict[str, Any] = {"seller": seller, "environment": "live", "external_id": "X", "payload": {}}
    return str(SellerDraft.objects.create(connection=connection, order_id=number, created_at=at, **known).pk)


def an_order(caller: Caller, at: Any) -> str:
    """Three of its codes are X."""
    number = caller.shop.seller.orders.count()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(timezone, "now", lambda: at)
        order = create_order(caller.shop.seller, orderId=f"A-{number}", invoice={"number": "X"})
    for kind in ("other", "tracking_code"):
        SearchCode.objects.create(seller=caller.shop.seller, order=order, kind=kind, value="X")
    return order.code


def an_invoice(caller: Caller, at: Any) -> str:
    """It names and is linked to two orders."""
    seller = caller.shop.seller
    if not seller.orders.exists():
        for code in ("A-1", "A-2"):
            create_order(seller, orderId=code)
    key = f"{ACCESS_KEY[:-3]}{seller.invoices.count():03}"
    raw = nfe_xml(key=key, items=("A-1", "A-2", "A-1")).encode()
    return invoices.receive(seller=seller, environment=Environment.LIVE, raw=raw, by=BY, at=at)[0].access_key


def a_manifest(caller: Caller, at: Any) -> int:
    """It has two orders."""
    seller = caller.shop.seller
    number = seller.orders.count()
    pair = [create_order(seller, orderId=f"A-{number + each}") for each in range(2)]
    return manifests.create(seller=seller, environment=Environment.LIVE, orders=pair, by=BY, at=at).pk


def an_entry(caller: Caller, at: Any) -> int:
    return AuditEntry.objects.create(
        integrator=caller.shop.integrator, environment="live", action=AuditAction.ALERT_TESTED, by=BY, at=at
    ).pk


def of_api(
    client: Callable[[Caller], APIClient], path: str, key: str, cursor_name: str = "cursor", **query: str
) -> Read:
    def read(caller: Caller) -> Iterator[list[Any]]:
        cursor: dict[str, str] = {}
        while True:
            answer = client(caller).get(path, {**query, **cursor, "limit": str(caller.limit)}).json()
            if not answer["data"] and cursor_name == "after":  # a feed has no end
                return
            yield [row[key] for row in answer["data"] if row[key] != str(caller.shop.event.pk)]
            if not answer["nextCursor"]:
                return
            cursor = {cursor_name: answer["nextCursor"]}

    return read


def of_page(path: Callable[[Caller], str], show: Callable[[Any], Any], **query: str) -> Read:
    def read(caller: Caller) -> Iterator[list[Any]]:
        before: dict[str, str] = {}
        while True:
            context = caller.page(path(caller), **query, **before)
            yield [show(row) for row in context["rows"]]
            if not context["older"]:
                return
            before = {"before": context["older"]}

    return read


def of_paginator(path: Callable[[Caller], str]) -> Read:
    def read(caller: Caller) -> Iterator[list[Any]]:
        number, has_next = 1, True
        while has_next:
            page = caller.page(path(caller), page=str(number))["rows"]
            yield [row.pk for row in page]
            number, has_next = number + 1, page.has_next()

    return read


def of_file(path: Callable[[Caller], str], **query: str) -> Read:
    def read(caller: Caller) -> Iterator[list[Any]]:
        text = b"".join(caller.browser.get(path(caller), query)).decode("utf-8-sig")
        yield [row[0].lstrip("'") for row in list(csv.reader(text.splitlines()))[1:]]

    return read


def key_of_delivery(caller: Caller, at: Any) -> str:
    return str(a_delivery(caller, at).pk)


def key_of_event(caller: Caller, at: Any) -> str:
    return str(a_delivery(caller, at).events.get().pk)


def key_of_order_event(caller: Caller, at: Any) -> str:
    endpoint = endpoints.first(EndpointOfSeller, owner=caller.shop.seller.pk, environment="live")
    EndpointOfSeller.objects.filter(pk=endpoint.pk).update(url="http://127.0.0.1:9/hook")
    return str(caller.shop.seller.orders.get(code=an_order(caller, at)).events.get().pk)


def of_account(name: str) -> Callable[[Caller], str]:
    return lambda caller: caller.page_of_account(name)


def of_seller(name: str) -> Callable[[Caller], str]:
    return lambda caller: caller.page_of_seller(name)


def of_seller_webhooks(name: str) -> Callable[[Caller], str]:
    return lambda caller: reverse(f"panel:seller_{name}", args=[caller.shop.seller.pk, "live"])


def pk(row: Any) -> str:
    return str(row.pk)


def refused(caller: Caller, at: Any) -> str:
    owner = {"integrator": caller.shop.integrator, "environment": "live"}
    return pk(refused_call(RefusedDeliveryCall, **owner, created_at=at, code="x"))


def refused_of_seller(caller: Caller, at: Any) -> str:
    return pk(refused_call(RefusedSellerCall, seller=caller.shop.seller, created_at=at, code="x"))


def driver(_caller: Caller, _at: Any) -> Any:
    return DriverFactory.create(name="Ana").pk


def a_token(caller: Caller, at: Any) -> Any:
    """The shop's own is older."""
    made = TokenFactory.create(integrator=caller.shop.integrator, environment="sandbox", at=at)
    return made.pk


def a_person(caller: Caller, _at: Any) -> Any:
    number = User.objects.count()
    user = User.objects.create(username=f"ana-{number}", first_name="Ana")
    return caller.shop.integrator.memberships.create(user=user).pk


def a_pickup_point(caller: Caller, _at: Any) -> Any:
    caller.shop.integrator.pickup_points.exclude(name="Ana").delete()
    return caller.shop.integrator.pickup_points.create(name="Ana", latitude=-23.5, longitude=-46.6).pk


DELIVERIES, EVENTS, REFUSED, REPORT, ORDERS, INVOICES = (
    f"panel/{name}.py"
    for name in (
        "integrators/views/deliveries",
        "views/events",
        "views/refused_calls",
        "views/reports",
        "sellers/views/orders",
        "sellers/views/invoices",
    )
)
FEED = "common/webhooks/feed.py"
PERIOD = dict.fromkeys(("since", "until"), str(timezone.localtime(NOW).date()))
PAGE, PORTION = ("panel.filters.PER_PAGE",), ("panel.filters._PER_PORTION",)
LISTS = {
    "API deliveries": Listing(
        "delivery/api/viewsets.py", key_of_delivery,
        of_api(Caller.of_token, "/api/deliveries", "deliveryId", externalId="X"),
    ),
    "API drafts": Listing(
        "delivery/connections/api.py", a_draft, of_api(Caller.of_token, "/api/drafts", "draftId", status="open")
    ),
    "API drafts of sellers": Listing(
        "integration/connections/api.py",
        a_seller_draft,
        of_api(Caller.of_key, "/api/integration/drafts", "draftId", status="open"),
    ),
    "API events": Listing(
        FEED, key_of_event, of_api(Caller.of_token, "/api/events", "id", "after"), oldest_first=True, by_page=False
    ),
    "API events of orders": Listing(
        FEED, key_of_order_event, of_api(Caller.of_key, "/api/integration/events", "id", "after"),
        oldest_first=True, by_page=False,
    ),
    "API orders": Listing(
        "integration/api/viewsets.py", an_order, of_api(Caller.of_key, "/api/integration/orders", "orderId")
    ),
    "API invoices": Listing(
        "integration/api/invoices.py", an_invoice,
        of_api(Caller.of_key, "/api/integration/invoices", "key", linked="true"),
    ),
    "deliveries": Listing(DELIVERIES, key_of_delivery, of_page(of_account("deliveries"), pk, q="X"), PAGE),
    "deliveries by a part": Listing(
        DELIVERIES, key_of_delivery, of_page(of_account("deliveries"), pk, q="an"), PAGE, by_page=False
    ),
    "file of deliveries": Listing(
        DELIVERIES, key_of_delivery, of_file(of_account("deliveries_export"), q="X"), PORTION, by_page=False
    ),
    "file of deliveries by a part": Listing(
        DELIVERIES, key_of_delivery, of_file(of_account("deliveries_export"), q="an"), PORTION, by_page=False
    ),
    "orders of shops": Listing(
        "panel/integrators/views/drafts.py", a_draft, of_page(of_account("drafts"), pk, status="open"), PAGE
    ),
    "orders of sellers' shops": Listing(
        "panel/sellers/views/shop_orders.py",
        a_seller_draft,
        of_page(of_seller("seller_drafts"), pk, status="open"),
        PAGE,
    ),
    "events": Listing(EVENTS, key_of_event, of_page(of_account("events"), pk, q="X"), PAGE),
    "events of orders": Listing(EVENTS, key_of_order_event, of_page(of_seller_webhooks("events"), pk, q="X"), PAGE),
    "file of events": Listing(
        EVENTS, key_of_event, of_file(of_account("events_export"), q="X"), PORTION, by_page=False
    ),
    "report": Listing(
        "delivery/reports.py", ended, of_page(of_account("report_deliveries"), pk, **PERIOD),
        ("panel.views.reports.PER_PAGE",),
    ),
    "file of a report": Listing(
        REPORT, ended, of_file(of_account("report_deliveries_export"), **PERIOD), ("delivery.reports._PORTION",),
        oldest_first=True, by_page=False,
    ),
    "refused calls": Listing(REFUSED, refused, of_page(of_account("refused_calls"), pk, code="x"), PAGE),
    "refused calls of a seller": Listing(
        REFUSED, refused_of_seller, of_page(of_seller("seller_refused_calls"), pk, code="x"), PAGE
    ),
    "orders": Listing(ORDERS, an_order, of_page(of_seller("seller_orders"), lambda row: row.code, q="X"), PAGE),
    "file of orders": Listing(
        ORDERS, an_order, of_file(of_seller("seller_orders_export"), q="X"), PORTION, by_page=False
    ),
    "API manifests": Listing(
        "integration/manifests/api.py", a_manifest, of_api(Caller.of_key, "/api/integration/manifests", "manifestId"),
    ),
    "manifests": Listing(
        "panel/sellers/views/manifests.py", a_manifest, of_page(of_seller("seller_manifests"), lambda row: row.pk), PAGE
    ),
    "invoices": Listing(
        INVOICES, an_invoice,
        of_page(of_seller("seller_invoices"), lambda row: row.access_key, q="A-1", linked="yes"), PAGE,
    ),
    "file of invoices": Listing(
        INVOICES, an_invoice, of_file(of_seller("seller_invoices_export"), q="A-1", linked="yes"), PORTION,
        by_page=False,
    ),
    "activity": Listing(
        "panel/integrators/views/account.py", an_entry,
        of_page(of_account("activity"), lambda row: row.pk, action=AuditAction.ALERT_TESTED), PAGE,
    ),
    "drivers": Listing(
        "panel/dispatch/views/drivers.py", driver, of_paginator(lambda _caller: reverse("panel:drivers")), PAGE,
        oldest_first=True,
    ),
    "tokens": Listing(
        "panel/integrators/views/tokens.py", a_token,
        of_paginator(lambda caller: caller.page_of_account("tokens").replace("/live/", "/sandbox/")), PAGE,
    ),
    "team": Listing("panel/views/team.py", a_person, of_paginator(of_account("team")), PAGE, oldest_first=True),
    "pickup points": Listing(
        "panel/integrators/views/pickup_points.py", a_pickup_point, of_paginator(of_account("pickup_points")), PAGE,
        oldest_first=True,
    ),
}  # fmt: skip  # a table
# Tested where it is: tests/delivery/admin/test_driver_search.py.
ELSEWHERE = {"delivery/admin/deliveries.py"}


def called(path: Any) -> set[str]:
    """The names of the functions that a module calls."""
    calls = (node.func for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.Call))
    return {getattr(function, "attr", getattr(function, "id", "")) for function in calls}


def test_every_list_is_in_the_table():
    modules = {
        path.relative_to(BASE_DIR).as_posix(): path for name in PACKAGES for path in (BASE_DIR / name).rglob("*.py")
    }
    readers = {name for name, path in modules.items() if READERS & called(path)}

    assert readers - DEFINED_IN == {listing.module for listing in LISTS.values()} | ELSEWHERE


@pytest.mark.parametrize("step", [0, 1], ids=["equal moments", "microseconds"])
@pytest.mark.parametrize("name", LISTS)
def test_a_list_has_each_row_once_and_in_order(shop, as_role, monkeypatch, name, step):
    listing, caller = LISTS[name], Caller(shop, as_role("superuser"))
    monkeypatch.setattr("panel.filters._SCANNED", 3)
    made = [listing.make(caller, NOW - step * timedelta(microseconds=number)) for number in range(COUNT)]
    expected = made if step and has_moment(name) else sorted(made, reverse=True)  # equal ones by their keys
    expected = expected[::-1] if listing.oldest_first else expected

    for limit in LIMITS:
        caller.limit = limit
        for constant in listing.limits:
            monkeypatch.setattr(constant, limit)
        pages = list(islice(listing.read(caller), 4 * COUNT))  # a list that repeats its rows may have no end

        assert [row for page in pages for row in page] == expected
        assert not listing.by_page or [len(page) for page in pages] == [
            min(limit, COUNT - start) for start in range(0, COUNT, limit)
        ]


def has_moment(name: str) -> bool:
    """Drivers, people and places are in the order of their names."""
    return name not in {"drivers", "team", "pickup points"}


SORTED = {
    "deliveries": (of_account("deliveries"), a_delivery),
    "events": (of_account("events"), a_delivery),
    "refused calls": (of_account("refused_calls"), refused),
    "activity": (of_account("activity"), an_entry),
    "orders": (of_seller("seller_orders"), an_order),
    "invoices": (of_seller("seller_invoices"), an_invoice),
    "events of orders": (of_seller_webhooks("events"), key_of_order_event),
}


@pytest.mark.parametrize("name", SORTED)
def test_a_page_begins_anew_with_the_cursor_of_another_order_or_list(shop, as_role, monkeypatch, name):
    caller, (path, make) = Caller(shop, as_role("superuser")), SORTED[name]
    monkeypatch.setattr("panel.filters.PER_PAGE", 1)
    others_path, make_other = SORTED["activity" if name == "refused calls" else "refused calls"]
    for number in range(2):
        make(caller, NOW - number * timedelta(seconds=1))
        make_other(caller, NOW - number * timedelta(seconds=1))

    def page(of=path, **query):
        context = caller.browser.get(of(caller), query).context
        return [row.pk for row in context["rows"]], context["older"], [*context["orders"]]

    default, *further = page()[2]
    sorts = {default: {}, **{order: {"sort": order} for order in further}}
    first = {order: page(**sort) for order, sort in sorts.items()}

    assert len(first) > 1
    assert all(cursor for _rows, cursor, _orders in first.values())
    for order, (rows, _cursor, _orders) in first.items():
        others = [cursor for other, (_rows, cursor, _orders) in first.items() if other != order]
        for cursor in (*others, page(others_path)[1]):
            assert page(**sorts[order], before=cursor)[0] == rows


@pytest.mark.parametrize("name", [name for name in SORTED if name != "refused calls"])
def test_a_period_from_or_until_the_first_or_the_last_moment_of_all_has_every_row_or_none(shop, as_role, name):
    caller, (path, make) = Caller(shop, as_role("superuser")), SORTED[name]
    make(caller, NOW)
    first, last = "0001-01-01T00:00", "9999-12-31T23:59"

    def count(**query):
        return len(caller.browser.get(path(caller), query).context["rows"])

    every = count()
    assert every > 0
    assert (count(since=first), count(until=last), count(since=first, until=last)) == (every, every, every)
    assert (count(since=last), count(until=first)) == (0, 0)
    if "events" in name:
        # What has become of those of a period, which are sent again.
        assert count(again_since=f"{first}Z", again_until=f"{last}Z", again_count="1") == every


# Of the lists of the APIs, the parameter that continues them, and a value of each of their filters.
CURSORS = {
    "/api/deliveries": "cursor",
    "/api/drafts": "cursor",
    "/api/events": "after",
    "/api/integration/orders": "cursor",
    "/api/integration/invoices": "cursor",
    "/api/integration/manifests": "cursor",
    "/api/integration/events": "after",
}
VALUES = {
    "externalId": "X", "orderId": "A-1", "trackingCode": "X", "linked": "true", "createdFrom": "2020-01-01",
    "createdTo": "2120-01-01", "updatedFrom": "2020-01-01",
}  # fmt: skip  # a table
OTHER_VALUES = {
    "createdFrom": "2020-01-02", "createdTo": "2120-01-02", "updatedFrom": "2020-01-02", "linked": "false",
}  # fmt: skip  # a table


class TestCursorOfAnApi:
    """It continues the list that it is of, and no other one."""

    @pytest.fixture
    def clients(self, shop):
        """By area: of the owner, of the owner's sandbox, of another owner."""
        tokens = [
            shop.token,
            TokenFactory.create(integrator=shop.integrator, sandbox=True),
            TokenFactory.create(),
        ]
        other = SellerFactory.create(documents=(OTHER_COMPANY,))
        texts = [key_of(shop.seller), key_of(shop.seller, Environment.SANDBOX), key_of(other)]
        return {
            "/api/integration/": [APIClient(HTTP_AUTHORIZATION=f"Basic {text}") for text in texts],
            "/api/": [APIClient(HTTP_AUTHORIZATION=f"Bearer {token.clear_text}") for token in tokens],
        }

    @pytest.fixture
    def described(self):
        """The names of the filters of each list."""
        paths = openapi.describe()["paths"]
        found = {path: [each["name"] for each in paths[path]["get"]["parameters"]] for path in CURSORS}
        return {path: [name for name in names if name in {*VALUES, "status"}] for path, names in found.items()}

    @pytest.fixture(autouse=True)
    def _two_of_each(self, shop, as_role):
        caller = Caller(shop, as_role("superuser"))
        for make in (a_delivery, a_draft, key_of_order_event, a_manifest, an_invoice):
            for number in range(2):
                make(caller, NOW - number * timedelta(seconds=1))

    def test_is_refused_by_the_other_lists_owners_environments_and_filters(self, clients, described):
        for path in CURSORS:
            area = next(area for area in clients if path.startswith(area))
            own, *others = clients[area]
            lists = [of for of in CURSORS if next(area for area in clients if of.startswith(area)) == area]
            cursor = cursor_of(own, path)

            assert [of for of in lists if not is_refused(own, of, cursor)] == [path]
            assert not is_refused(own, path, cursor, limit="2")
            assert all(is_refused(client, path, cursor) for client in others), path
            for name in described[path]:
                assert is_bound(own, path, cursor, name), (path, name)


def cursor_of(client, path, **query):
    return client.get(path, {**query, "limit": "1"}).json()["nextCursor"]


def is_refused(client, path, cursor, **query):
    answer = client.get(path, {**query, CURSORS[path]: cursor})
    if answer.status_code == 422:
        assert f'"{CURSORS[path]}' in answer.content.decode() or answer.json()["code"] == "invalid_cursor"
    return answer.status_code != 200


@pytest.mark.parametrize("name", [name for name, each in LISTS.items() if each.limits == PAGE])
def test_a_list_is_whole_in_each_of_its_orders(shop, as_role, monkeypatch, name):
    listing, caller = LISTS[name], Caller(shop, as_role("superuser"))
    monkeypatch.setattr("panel.filters._SCANNED", 3)
    made = {listing.make(caller, NOW - timedelta(microseconds=number // 2)) for number in range(COUNT)}  # some equal

    def rows(limit: int, sort: str) -> list[Any]:
        caller.limit, caller.sort = limit, sort
        for constant in listing.limits:
            monkeypatch.setattr(constant, limit)
        return [row for page in islice(listing.read(caller), 4 * COUNT) for row in page]

    rows(COUNT, "")
    orders = caller.orders
    asked = dict(zip(orders, ("", *orders[1:]), strict=True))  # the first is that of a page without a choice
    found = {order: (rows(COUNT + 1, sort), rows(2, sort)) for order, sort in asked.items()}

    assert {order: whole for order, (whole, by_pages) in found.items() if whole != by_pages} == {}
    assert {order: whole for order, (whole, _pages) in found.items() if sorted(whole) != sorted(made)} == {}
    for order in orders:
        if order.startswith("-") and "," not in order and order[1:] in orders:
            assert found[order][0] == found[order[1:]][0][::-1]


def status_in(path):
    if path.endswith(("/manifests", "/drafts")):
        return "open"
    return "pending" if "integration" in path else "PENDING"


def is_bound(client, path, cursor, name):
    """Whether a cursor without a filter is refused with it, and one with it without it or with another value."""
    value = {name: status_in(path) if name == "status" else VALUES[name]}
    other = {name: OTHER_VALUES[name]} if name in OTHER_VALUES else {}
    filtered = cursor_of(client, path, **value)
    changed = filtered is None or all(is_refused(client, path, filtered, **query) for query in ({}, other))
    return changed and is_refused(client, path, cursor, **value)
