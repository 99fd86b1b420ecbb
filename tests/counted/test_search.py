"""What the search of the panel and the lists find: only of those whose pages the reader may open."""

from functools import partial

import pytest
from django.contrib.auth.models import Group, User
from django.http import QueryDict
from django.test import RequestFactory

from access.roles import DISPATCHERS
from common import clock
from common.accounts import Environment
from delivery.lifecycle import RouteStatus, Status
from delivery.models import Delivery
from integration.invoices.models import Invoice, InvoiceLink, InvoiceReference
from integration.models import Order, WebhookEndpoint
from panel import filters, search
from tests.counted.moments import DAY, HOUR, NOON, TICK
from tests.counted.rows import check, copy, counts
from tests.factories import DriverFactory, IntegratorFactory
from tests.integration.factories import SellerFactory, access_key, create_order

LIVE, SANDBOX = Environment.LIVE, Environment.SANDBOX


@pytest.fixture(autouse=True)
def _noon(monkeypatch):
    monkeypatch.setattr(clock, "now", lambda: NOON)


@pytest.fixture
def member(account, seller):
    """Of the account and the seller, and nothing else."""
    user = User.objects.create_user("member")
    account.memberships.create(user=user)
    seller.memberships.create(user=user)
    return user


@pytest.fixture(params=["member", "dispatcher", "superuser"])
def reader(request, member):
    """Who sees the account and the seller alone, and who sees everything."""
    if request.param == "member":
        return member
    user = User.objects.create_user(request.param, is_staff=True, is_superuser=request.param == "superuser")
    if request.param == "dispatcher":
        user.groups.add(Group.objects.get(name=DISPATCHERS))
    return user


def found(user, kind, text):
    request = RequestFactory().get("/")
    request.user = User.objects.get(pk=user.pk)
    return len(list(getattr(search.Search(request, text), kind)()))


def own_and_others(reader, others):
    """What a member does not see, and the others do."""
    return ({}, others) if reader.username == "member" else (others, {})


@counts(
    "panel/search.py:Search._deliveries",
    "delivery/models/stop.py:Stop.with_external_id",
    "delivery/models/stop.py:Stop.of_some_with",
)
def test_search_for_deliveries(reader, of_delivery, other, in_sandbox):
    """By an externalId or a part of it, the receiver's name or the end of a phone, without case and accents."""
    of = partial(of_delivery, RouteStatus.FINISHED, stops=[{"external_id": "PÉD-77"}])
    seen, unseen = own_and_others(reader, {"of another account": {"integrator": other}})

    def stops(**values):
        return {"stops": [{"external_id": "", "contact_name": "", "contact_phone": "", **values}]}

    near = {
        "part of the number": stops(external_id="A-péd-770"),
        "the receiver": stops(contact_name="Ana Ped-77"),
        "a second stop": {"stops": [{"external_id": ""}, {"external_id": "PED-77"}]},
    }
    far = {"another": stops(external_id="PED-7"), "none": stops()}
    fit = {"the number": {}, "of the sandbox": in_sandbox, **seen}
    check(lambda: found(reader, "_deliveries", "ped-77"), of=of, fit=fit | near, not_=far | unseen)
    phone = stops(contact_phone="+55 11 97777-0042")
    check(
        lambda: found(reader, "_deliveries", "7777-0042"),
        of=of,
        fit={"the phone": phone, **{name: phone | values for name, values in seen.items()}},
        not_={"another phone": stops(contact_phone="+55 11 97777-00421"), **{n: phone | v for n, v in unseen.items()}},
    )
    row, _another = of(), of()
    for text in (str(row.pk), str(row.pk)[:23], f"…{str(row.pk)[-6:]}"):
        assert found(reader, "_deliveries", text) == 1, text


@counts("panel/search.py:Search._orders", "panel/search.py:Search._of_sellers", "panel/filters.py:has_receiver")
def test_search_for_orders(reader, of_order, stranger, monkeypatch):
    """Whole codes and documents whatever their age; parts among the newest."""
    seen, unseen = own_and_others(reader, {"of another seller": {"seller": stranger}})
    fit, of = {"of the seller": {}, "of the sandbox": {"environment": SANDBOX}, **seen}, of_order
    document = {"receiver_document": "11144477735"}
    parts = {
        "part of the number": {"code": "x-açaí-7"},
        "part of the tracking code": {"tracking_code": "AÇAÍ-7-z"},
        "the receiver": {"receiver_name": "Acai-7 & Co"},
    }

    check(
        lambda: found(reader, "_orders", "açaí-7"),
        of=of,
        fit={**parts, **{name: {"code": "açaí-7", **values} for name, values in fit.items()}},
        not_={"another": {"code": "AÇAÍ7"}, **{name: {"code": "açaí-7", **v} for name, v in unseen.items()}},
    )
    monkeypatch.setattr(search, "_NEWEST", 2)
    for number in (1, 2):  # the newest two
        of_order(pk=10**9 + number, created_at=NOON + DAY)

    for text, values in (("NF 12-3", {"codes": ["nf123"]}), ("111.444.777-35", document)):
        check(
            lambda text=text: found(reader, "_orders", text),  # type: ignore[misc]  # called at once
            of=of,
            fit={name: row | values for name, row in fit.items()},
            not_={"another": {}, **{name: row | values for name, row in unseen.items()}},
        )


@counts("panel/search.py:Search._invoices")
def test_search_for_invoices(reader, of_invoice, stranger):
    key = access_key(7)
    seen, unseen = own_and_others(reader, {"of another seller": {"seller": stranger}})
    fit = {"of the seller": {}, "of the sandbox": {"environment": SANDBOX}, **seen}
    for text, values in ((f" {key[:9]} {key[9:]}", {"access_key": key}), ("4711", {"number": "4711"})):
        check(
            lambda text=text: found(reader, "_invoices", text),  # type: ignore[misc]  # called at once
            of=of_invoice,
            fit={name: row | values for name, row in fit.items()},
            not_={"another": {}, **{name: row | values for name, row in unseen.items()}},
        )


@counts("panel/search.py:Search._drivers")
def test_search_for_drivers(reader, account):
    """By those who may dispatch."""
    of = partial(DriverFactory.create, name="Ana Lima")
    if reader.username == "member":
        of()
        assert found(reader, "_drivers", "lima") == 0
        return
    check(
        lambda: found(reader, "_drivers", "lima"),
        of=of,
        fit={"working": {}, "off duty": {"on_duty": False}, "found by the phone": {"name": "Bia", "phone": "1 LIMA"}},
        not_={
            "not working for us": {"active": False},
            "simulated": {"simulated_for": account, "environment": SANDBOX},
            "another": {"name": "Bia"},
        },
    )


@counts(
    "panel/search.py:Search._accounts",
    "panel/search.py:Search._sellers",
    "panel/search.py:Search._pickup_points",
    "delivery/models/integrator.py:PickupPointQuerySet.active",
)
def test_search_for_accounts(member, account, seller, other, stranger):
    place = account.pickup_points.get()

    def mine(name, model=IntegratorFactory):
        row = model.create(name=name, **({"documents": ()} if model is SellerFactory else {}))
        row.memberships.create(user=member)

    def results():
        return {kind: found(member, kind, "çentro") for kind in ("_accounts", "_sellers", "_pickup_points")}

    of = partial(copy, place)
    check(
        results,
        fit={
            "an account": (partial(mine, "Loja CENTRO Çentro"), {"_accounts": 1}),
            "a seller": (partial(mine, "Loja ÇENTRO", SellerFactory), {"_sellers": 1}),
            "a pickup point": (partial(of, name="No çentro"), {"_pickup_points": 1}),
        },
        not_={
            "of another name": partial(mine, "Praça"),
            "an account of others": partial(IntegratorFactory.create, name="Çentro"),
            "a seller of others": partial(SellerFactory.create, name="Çentro", documents=()),
            "a pickup point of another name": partial(of, name="Praça"),
            "one that is not used": partial(of, name="Çentro", active=False),
            "one of others": partial(of, name="Çentro", integrator=other),
        },
    )
    stranger.memberships.create(user=member)
    assert found(member, "_sellers", seller.reference.lower()) == 1


@counts(
    "panel/filters.py:DeliveryFilter.filter_status",
    "panel/filters.py:PeriodFilter.filter_since",
    "panel/filters.py:PeriodFilter.filter_until",
    "panel/filters.py:_of_delivery",
)
def test_filters_of_deliveries(of_delivery, driver, rules):
    rules(late_pickup_minutes=30)
    finished, partly = partial(of_delivery, RouteStatus.FINISHED), {"has_failed_stop": True}
    failed = {"status": Status.FAILED}
    choices = ("SCHEDULED", *Status, filters.CALLED_OFF, filters.UNDER_WAY, filters.LATE)

    def listed(**query):
        data = QueryDict(mutable=True)
        data.update(query)
        return filters.DeliveryFilter(data, queryset=Delivery.objects.all()).qs.count()

    def by_status():
        return {choice: listed(status=choice) for choice in choices}

    under_way = {filters.UNDER_WAY: 1}
    scheduled = {"scheduled_for": NOON + DAY, "offer_at": NOON + HOUR}
    check(
        by_status,
        fit={
            "scheduled": (partial(of_delivery, RouteStatus.SCHEDULED, **scheduled), {"SCHEDULED": 1}),
            "offered": (partial(of_delivery, RouteStatus.AVAILABLE, offer_at=NOON), {"PENDING": 1} | under_way),
            "on the way to A": (
                partial(of_delivery, RouteStatus.ACCEPTED, created_at=NOON), {"ACCEPT": 1} | under_way,
            ),
            "late at A": (
                partial(of_delivery, RouteStatus.ACCEPTED, created_at=NOON - HOUR),
                {"ACCEPT": 1, filters.LATE: 1} | under_way,
            ),
            "with the goods": (
                partial(of_delivery, RouteStatus.COLLECTED, created_at=NOON), {"COLLECTED": 1} | under_way,
            ),
            "delivered": (finished, {"DELIVERED": 1}),
            "delivered in part": (partial(finished, **partly), {"FAILED": 1}),
            "failed": (partial(finished, **failed, **partly), {"FAILED": 1}),
            "cancelled": (partial(of_delivery, RouteStatus.CANCELLED), {filters.CALLED_OFF: 1}),
            "expired": (partial(of_delivery, RouteStatus.EXPIRED), {filters.CALLED_OFF: 1}),
        },
        not_={},
    )  # fmt: skip  # a table
    check(
        lambda: listed(since="2026-11-22T12:00", until="2026-11-23T12:00", period="range"),
        of=finished,
        fit={"in the first moment": {"created_at": NOON}, "in the last": {"created_at": NOON + DAY - TICK}},
        not_={"before": {"created_at": NOON - TICK}, "after": {"created_at": NOON + DAY}},
    )
    row = finished(stops=[{"external_id": "A"}, {"external_id": "PED-1"}])
    check(
        lambda: {"id": listed(q=str(row.pk)), "order": listed(q="PED-1")},
        of=finished,
        fit={"of the order": ({"stops": [{"external_id": "PED-1"}]}, {"order": 1})},
        not_={"of another": {"stops": [{"external_id": "PED-12"}]}},
    )


@counts("panel/filters.py:find_orders", "panel/filters.py:_among_newest")
@counts("integration/models/order.py:SearchCodeQuerySet.named")
def test_filters_of_orders(of_order, seller, stranger, monkeypatch):
    """A whole code, or else the document, or else a part among the newest."""
    scope = {"seller": seller, "environment": LIVE}
    not_own = {"of another seller": {"seller": stranger}, "of the sandbox": {"environment": SANDBOX}}

    def listed(text):
        return filters.find_orders(Order.objects.of(seller, LIVE), scope, text).count()

    for text, values, near in (
        (" PED 1 ", {"codes": ["PED 1"]}, {"alike only": {"codes": ["ped-1"]}, "a part": {"code": "a PED 1"}}),
        ("111.444.777-35", {"receiver_document": "11144477735"}, {"a part": {"receiver_name": "111.444.777-35"}}),
        ("çao", {"receiver_name": "João Conceição"}, {"another": {"receiver_name": "João Conceição 2"[:4]}}),
        ("97777-0042", {"receiver": {"phone": "11 97777-0042"}}, {"another": {"receiver": {"phone": "1197777004"}}}),
        ("977770042", {"receiver": {"cellphone": "11 97777-0042"}}, {}),
    ):
        check(
            lambda text=text: listed(text),  # type: ignore[misc]  # called at once
            of=of_order,
            fit={"of the seller": values, "one more": values},
            not_=near | {name: row | values for name, row in not_own.items()},
        )


@counts("panel/filters.py:OrderEventFilter.filter_q")
def test_filters_of_events_of_orders(of_order, seller, stranger):
    scope = {"seller": seller, "environment": LIVE}
    WebhookEndpoint.objects.update_or_create(**scope, number=1, defaults={"url": "https://shop.example/hook"})
    event = create_order(seller, orderId="A-2").events.get()

    def of(**values):
        copy(event, order=of_order(**{"codes": ["PED-1"], **values}))

    def listed():
        data = QueryDict("q= PED-1 ")
        return filters.OrderEventFilter(data, queryset=type(event).objects.all(), scope=scope).qs.count()

    check(
        listed,
        of=of,
        fit={"of an order with the code": {}, "of another one": {}},
        not_={
            "of one that is alike": {"codes": ["ped1"]},
            "of one whose code begins with it": {"codes": ["PED-12"]},
            "of another seller": {"seller": stranger},
            "of the sandbox": {"environment": SANDBOX},
        },
    )


@counts("panel/filters.py:InvoiceFilter.filter_q", "panel/filters.py:InvoiceFilter.filter_linked")
def test_filters_of_invoices(of_invoice, of_order, seller, stranger):
    scope, key, further = {"seller": seller, "environment": LIVE}, access_key(7), access_key(8)
    not_own = {"of another seller": {"seller": stranger}, "of the sandbox": {"environment": SANDBOX}}
    named, foreign = of_order(codes=["PED-1"]), of_order(seller=stranger, codes=["PED-1"])
    type(named).objects.get(pk=named.pk).codes.update(kind="order")

    def listed(**query):
        data = QueryDict(mutable=True)
        data.update(query)
        return filters.InvoiceFilter(data, queryset=Invoice.objects.of(seller, LIVE), scope=scope).qs.count()

    def naming(reference):
        InvoiceReference.objects.create(seller=seller, invoice=of_invoice(), value=reference)

    def linked(to):
        InvoiceLink.objects.create(invoice=of_invoice(), order=to, linked_by="x", linked_at=NOON)

    for text, values in (
        (key, {"access_key": key}),
        (f"NFe{further}", {"access_key": further}),
        ("4711", {"number": "4711"}),
    ):
        check(
            lambda text=text: listed(q=text),  # type: ignore[misc]  # called at once
            of=of_invoice,
            fit={"of the seller": values},
            not_={"another": {}, **{name: row | values for name, row in not_own.items()}},
        )
    check(
        lambda: listed(q="PED-1"),
        fit={
            "that names it": partial(naming, "PED-1"),
            "one alike": partial(naming, "ped 1"),
            "linked": partial(linked, named),
        },
        not_={"that names another": partial(naming, "PED-12"), "linked to another's": partial(linked, foreign)},
    )
    check(
        lambda: {"yes": listed(linked="yes"), "no": listed(linked="no")},
        fit={"linked": (partial(linked, named), {"yes": 1}), "not linked": (of_invoice, {"no": 1})},
        not_={},
    )
