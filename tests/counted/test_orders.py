"""What counts of orders and invoices: in reports, searches by code, limits, mails and deadlines."""

from collections import Counter
from decimal import Decimal
from functools import partial
from typing import Any
from unicodedata import normalize

import pytest
from django.db.models import Value

from common.accounts import Environment
from common.mail.models import Kind, Message, MessageState
from integration import reports
from integration.actions import forgetting, tracking
from integration.carriers import actions as carriers
from integration.errors import DuplicateOrder, TooManyInvoices
from integration.invoices import actions as invoices
from integration.invoices.models import Invoice, InvoiceLink, InvoiceReference
from integration.lifecycle import Status
from integration.models import Carrier, CarrierRule, Manifest, ManifestEntry, Order, SearchCode, WebhookEndpoint
from integration.models.order import CUT_REFERENCE
from integration.receivers import mails
from integration.receivers.models import ReceiverMail, ReceiverMailStop
from panel.sellers.views.manifests import ManifestPage
from panel.sellers.views.orders import OrderPage
from panel.views import home
from tests.counted.moments import DAY, HOUR, NOON, NOVEMBER, TICK
from tests.counted.rows import check, copy, counts, rolled_back
from tests.integration.factories import (
    access_key,
    create_order,
    make_carrier,
    nfe_xml,
    send_invoice,
)

LIVE, SANDBOX = Environment.LIVE, Environment.SANDBOX
MIDNIGHT = NOON - 12 * HOUR


@pytest.fixture
def of_invoice(like, seller):
    """Makes invoices like the one of the order."""
    invoice, numbers = send_invoice(seller, nfe_xml(items=[like.code]).encode(), at=NOON), iter(range(100, 999))
    return lambda **values: copy(invoice, **{"access_key": access_key(next(numbers)), "is_linked": False, **values})


@pytest.fixture
def not_own(stranger):
    return {"of another seller": {"seller": stranger}, "of the sandbox": {"environment": SANDBOX}}


@counts("integration/reports.py:_lines", "integration/reports.py:of_sellers", "integration/reports.py:_STANDING")
@counts("integration/models/order.py:OrderQuerySet.of")
def test_reports_of_orders(of_order, seller, stranger):
    """Each order counts when it was created, with how it stands now and, unless it was cancelled, its freight."""
    failed, late = Status.DELIVERY_FAILED, {"promised_on": NOON.date(), "freight_centavos": 0, "freight_days": 1}
    refused, absent = ({"reason_code": code} for code in ("REFUSED", "ABSENT"))
    price = {"freight_centavos": 1050, "freight_days": 3}
    of = partial(of_order, cost=Decimal("0.25"))
    of(status=failed, log=[refused])  # whose reason is not that of others

    def figures(lines):
        line = reports.total(lines)
        return {"freight": line.freight, "value": line.value} | line.counts | line.reasons

    def one(name, **more):
        return {name: 1, "value": Decimal("0.25")} | more

    own = {
        "under way": ({}, one("under_way")),
        "created in the first moment": ({"created_at": NOVEMBER.start}, one("under_way")),
        "created in the last moment": ({"created_at": NOVEMBER.end - TICK}, one("under_way")),
        "with a freight": (price, one("under_way", freight=Decimal("10.5"))),
        "cancelled": (price | {"status": Status.CANCELLED}, one("cancelled")),
        "delivered, promised for no day": ({"status": Status.DELIVERED, "delivered_at": NOON}, one("on_time")),
        "delivered on the promised day": (
            late | {"status": Status.DELIVERED, "delivered_at": MIDNIGHT + DAY - TICK}, one("on_time"),
        ),
        "delivered the day after": (late | {"status": Status.DELIVERED, "delivered_at": MIDNIGHT + DAY}, one("late")),
        "not delivered": ({"status": failed, "log": [refused]}, one("failed", REFUSED=1)),
        "returned, after it was delivered late": (
            late | {"status": Status.RETURNED, "delivered_at": MIDNIGHT + DAY, "log": [refused]},
            one("failed", REFUSED=1),
        ),
        "returned, after a reason before": (
            {"status": Status.RETURNED, "log": [refused | {"status": failed}, absent]}, one("failed", ABSENT=1),
        ),
        "returned without a reason": (
            {"status": Status.RETURNED, "log": [refused | {"status": failed}, {}]}, one("failed", REFUSED=1),
        ),
        "without any reason": ({"status": failed, "log": [{}]}, {"failed": 1, "": 1, "value": Decimal("0.25")}),
        "tried again": ({"status": Status.OUT_FOR_DELIVERY, "log": [refused | {"status": failed}]}, one("under_way")),
    }  # fmt: skip  # a table
    outside = {
        "created before": {"created_at": NOVEMBER.start - TICK},
        "created after": {"created_at": NOVEMBER.end},
        "of the sandbox": {"environment": SANDBOX},
    }
    another = {"of another seller": {"seller": stranger}}
    check(
        lambda: figures(reports.of_dates(Order.objects.of(seller, LIVE), NOVEMBER)),
        of=of, fit=own, not_=outside | another,
    )  # fmt: skip  # one line
    more = {name: (values, one("under_way")) for name, values in another.items()}
    check(lambda: figures(reports.of_sellers(NOVEMBER)), of=of, fit=own | more, not_=outside)


@pytest.mark.parametrize("find", ["by_codes", "beginning_with"])
@counts(
    "integration/models/order.py:OrderQuerySet.by_codes", "integration/models/order.py:OrderQuerySet.beginning_with"
)
def test_orders_of_a_code(of_order, seller, not_own, find):
    """Whoever names a code, or its beginning, means no order whose code another one has by now."""
    beginning = "MARKETPLACE-2026"[:CUT_REFERENCE]
    one, two = f"{beginning}-1", f"{beginning}-2"

    def found():
        own = Order.objects.of(seller, LIVE)
        if find == "beginning_with":
            return own.beginning_with(Value(beginning))
        return [each for each in Order.objects.by_codes(seller, LIVE, [one, two]) if isinstance(each, Order)]

    check(
        found,
        of=of_order,
        fit={"the first": {"code": one}, "the second": {"code": two}},
        not_={
            "of another code": {"code": f"X{two}"},
            "whose code another one has": {"code": two, "code_reused": True, "status": Status.CANCELLED},
            **{name: {"code": two, **values} for name, values in not_own.items()},
        },
    )


@counts("panel/views/home.py:_of_sellers")
def test_numbers_of_sellers(of_order, seller, not_own):
    of = partial(of_order, created_at=NOON - 7 * DAY, status=Status.PENDING)
    today = {"created_at": MIDNIGHT, "status": Status.DELIVERED}
    check(
        lambda: sum(map(Counter, home._of_sellers([seller], at=NOON).values()), Counter()),
        of=of,
        fit={
            "to be collected": ({}, {"under_way": 1}),
            "not delivered": ({"status": Status.DELIVERY_FAILED}, {"failed": 1}),
            "created today": (today, {"today": 1}),
            "created today, to be collected": ({"created_at": MIDNIGHT}, {"today": 1, "under_way": 1}),
        },
        not_={
            "created before": {"created_at": NOON - 7 * DAY - TICK},
            "created yesterday": today | {"created_at": MIDNIGHT - TICK},
            "collected": {"status": Status.COLLECTED},
            "returned": {"status": Status.RETURNED},
            **not_own,
            **{f"today, {whose}": today | values for whose, values in not_own.items()},
        },
    )


@counts(
    "integration/actions/tracking.py:by_code",
    "integration/actions/tracking.py:by_document",
    "integration/actions/tracking.py:by_both",
    "integration/actions/tracking.py:_with_code",
    "integration/actions/tracking.py:_status_logs_of",
    "integration/models/order.py:SearchCodeQuerySet.alike",
)
def test_tracking(of_order, seller, not_own):
    """By a code without regard to case, spaces, dots and dashes, or the receiver's document; of the key's seller."""
    document = "52998224725"
    of = partial(of_order, codes=["NF-1 2.3"], receiver_document=document)

    def found(text, *, by_document=False, and_document=""):
        rows = tracking.find(
            seller=seller, environment=LIVE, value=text, by_document=by_document, document=and_document
        )
        return sum(len(row.status_log) for row in rows)

    alike: dict[str, Any] = {
        "with the code": {},
        "with one that is alike": {"codes": ["nf12-3"]},
        "with both": {"codes": ["NF-1 2.3", "nf123"]},
        "with two entries": ({"log": [{}]}, 2),
    }
    others = {"with another code": {"codes": ["NF-1 2.34"]}, "with none": {"codes": []}}
    without = {"of another receiver": {"receiver_document": "11144477735"}, "of nobody": {"receiver_document": ""}}
    check(lambda: found("NF-1 2.3"), of=of, fit=alike | without, not_=others | not_own)
    check(lambda: found("529.982.247-25", by_document=True), of=of, fit=alike | others, not_=without | not_own)
    check(lambda: found("NF-1 2.3", and_document=document), of=of, fit=alike, not_=others | without | not_own)


@counts("integration/receivers/mails.py:_is_within_limits")
def test_limits_of_mails_to_receivers(like, of_order, stranger, monkeypatch):
    """A limit of two is reached by a second one that counts."""
    monkeypatch.setattr(mails, "MOST_OF_SELLER", 2)
    monkeypatch.setattr(mails, "MOST_OF_ADDRESS", 2)
    address, a_day_ago = "maria@example.com", NOON - DAY

    def of_seller(*, of=like.seller, at=a_day_ago + TICK):
        ReceiverMail.objects.create(seller=of, order=of_order(), status=Status.COLLECTED, message=0, created_at=at)

    def to_address(*, to=address, at=a_day_ago + TICK, kind=Kind.ORDER):
        Message.objects.create(kind=kind, recipient=to, created_at=at, expires_at=NOON, due_at=NOON)

    def is_full():
        return int(not mails._is_within_limits(like.seller, address, at=NOON))

    check(
        is_full,
        of=of_seller,
        fit={"the first": ({}, {}), "a second": {}},
        not_={"of another seller": {"of": stranger}, "a day ago": {"at": a_day_ago}},
    )
    check(
        is_full,
        of=to_address,
        fit={"the first": ({}, {}), "a second": {}},
        not_={
            "to another address": {"to": "joana@example.com"},
            "a day ago": {"at": a_day_ago},
            "of another kind": {"kind": Kind.RECEIVER},
        },
    )


@counts("integration/receivers/mails.py:withdraw", "integration/receivers/mails.py:forget")
def test_mails_that_are_withdrawn_or_forgotten(like, of_order):
    ended = {"ended_at": NOON, "body_ciphertext": ""}

    def mail(*, of=like, status=Status.COLLECTED, **values):
        message = Message.objects.create(
            kind=Kind.ORDER, recipient="a@example.com", created_at=NOON, expires_at=NOON, due_at=NOON, **values
        )
        ReceiverMail.objects.create(seller=of.seller, order=of, status=status, message=message.pk, created_at=NOON)

    def left(act):
        act()
        kept = {"mails": ReceiverMail, "messages": Message, "stops": ReceiverMailStop}
        return {name: model._default_manager.count() for name, model in kept.items()}

    sent = {"status": Status.DELIVERED, "state": MessageState.SENT, **ended}
    failed = {"status": Status.RETURNED, "state": MessageState.FAILED, **ended}
    another = partial(mail, of=of_order())
    kept = {"mails": 1, "messages": 1}
    waiting: dict[str, Any] = {
        "waits": (mail, {}),
        "one more waits": (partial(mail, status=Status.DELIVERY_FAILED), {}),
    }
    check(
        lambda: rolled_back(lambda: left(lambda: mails.withdraw(like.receiver_mails.all()))),
        fit=waiting
        | {
            "sent": (partial(mail, **sent), kept),
            "failed": (partial(mail, **failed), kept),
            "of another order": (another, kept),
        },
        not_={},
    )
    ReceiverMailStop.objects.create(order=like, stopped_at=NOON)
    stop = partial(ReceiverMailStop.objects.create, order=of_order(), stopped_at=NOON)
    check(
        lambda: rolled_back(lambda: left(lambda: mails.forget([like.pk]))),
        fit={"of another order": (another, kept), "another receiver who wants none": (stop, {"stops": 1})},
        not_={"sent": partial(mail, **sent), "waits": partial(mail, status=Status.OUT_FOR_DELIVERY)},
    )


@counts("integration/invoices/actions.py:_check_number", "integration/invoices/models.py:InvoiceQuerySet.of")
def test_quota_of_invoices_a_day(of_invoice, seller, not_own, settings):
    """A limit of two is reached by a second one that counts."""
    settings.INVOICES_PER_DAY = 2
    of = partial(of_invoice, received_at=NOON + TICK)

    def is_full():
        try:
            invoices._check_number(seller, LIVE, at=NOON + DAY)
        except TooManyInvoices:
            return 1
        return 0

    check(
        is_full,
        of=of,
        fit={"the first": ({}, {}), "a second": {}},
        not_={"a day ago": {"received_at": NOON}, **not_own},
    )


@counts("integration/actions/forgetting.py:forget_old_orders", "integration/actions/forgetting.py:forget_orders_of")
@counts("integration/actions/forgetting.py:orders_of", "integration/actions/forgetting.py:is_closed")
def test_orders_that_are_forgotten(of_order, not_own, settings, monkeypatch):
    settings.FORGET_ORDER_DAYS = 90
    batch = forgetting._BATCH
    monkeypatch.setattr(forgetting, "_BATCH", 1)
    document = "52998224725"

    def receiver(**values):
        return {"receiver": {"address": {"city": "Santos", "state": "SP"}, **values}}

    own = {"receiver_document": document, **receiver(phone="+55 11 97777-0001")}
    of = partial(of_order, status=Status.DELIVERED, created_at=NOON, **own)

    def forget(act):
        def count():
            act()
            return Order.objects.filter(forgotten_at=NOON + 90 * DAY).count()

        return lambda: rolled_back(count)

    everywhere = dict(not_own)
    check(
        forget(lambda: forgetting.forget_old_orders(at=NOON + 90 * DAY)),
        of=of,
        fit={"old": {"created_at": NOON - TICK}, "under way": {"created_at": NOON - TICK, "status": Status.PENDING}}
        | {name: values | {"created_at": NOON - TICK} for name, values in everywhere.items()},
        not_={"of 90 days": {}, "forgotten before": {"created_at": NOON - HOUR, "forgotten_at": NOON}},
    )
    monkeypatch.setattr(forgetting, "_BATCH", batch)
    open_ = {"status": Status.DELIVERY_FAILED}
    fit = {
        "delivered": {},
        "returned": {"status": Status.RETURNED},
        "cancelled": {"status": Status.CANCELLED},
        "open for so long that it has ended": open_ | {"created_at": NOON - TICK},
        **everywhere,
    }
    not_ = {
        "open": open_,
        "created later": {"created_at": NOON + TICK},
        "forgotten before": {"forgotten_at": NOON},
    }
    ends: dict[str, Any] = {"until": NOON, "at": NOON + 90 * DAY}
    check(
        forget(lambda: forgetting.forget_orders_of(document="529.982.247-25", **ends)),
        of=of,
        fit=fit,
        not_=not_ | {"of another receiver": {"receiver_document": "11144477735"}},
    )
    check(
        forget(lambda: forgetting.forget_orders_of(phone="11 97777-0001", **ends)),
        of=of,
        fit=fit
        | {
            "with the number of a cell phone": receiver(cellphone="11977770001"),
            "with two numbers": receiver(phone="11977770001", cellphone="11977770001"),
        },
        not_=not_
        | {
            "with another number": receiver(phone="11 97777-0002"),
            "without a number": receiver(),
        },
    )


@counts("integration/actions/forgetting.py:forget_old_invoices", "integration/actions/forgetting.py:_delete_files")
def test_invoices_that_are_forgotten(of_invoice, not_own, settings):
    """Files are kept until the end of the fifth year after that of their receipt."""
    settings.FORGET_INVOICE_YEARS = 5
    new_year = NOON.replace(month=1, day=1, hour=0)
    at = NOON.replace(year=NOON.year + 5)

    def forget():
        forgetting.forget_old_invoices(at=at)
        gone = Invoice.objects.filter(forgotten_at=at)
        return {"files": gone.filter(raw=b"").count(), "persons": gone.filter(issuer_document="").count()}

    company, person = {"issuer_document": "11222333000181"}, {"issuer_document": "52998224725"}
    of = partial(of_invoice, received_at=new_year - TICK, **company)
    check(
        lambda: rolled_back(forget),
        of=of,
        fit={"old": ({}, {"files": 1}), "of a person": (person, {"files": 1, "persons": 1})}
        | {name: (values, {"files": 1}) for name, values in not_own.items()},
        not_={"of the new year": {"received_at": new_year}, "forgotten before": {"forgotten_at": NOON}},
    )


@counts("integration/carriers/actions.py:orders_of")
def test_orders_that_a_carrier_may_move(of_order, stranger):
    (carrier, _key), (other, _other_key) = make_carrier(), make_carrier("Loggi")
    check(
        lambda: carriers.orders_of(carrier),
        of=partial(of_order, carrier=carrier),
        fit={"assigned": {}, "of another seller": {"seller": stranger}, "delivered": {"status": Status.DELIVERED}},
        not_={
            "assigned to another": {"carrier": other},
            "assigned to nobody": {"carrier": None},
            "of the sandbox": {"environment": SANDBOX},
        },
    )


@counts("panel/sellers/views/manifests.py:ManifestPage._waiting", "integration/models/manifest.py:ManifestQuerySet.of")
def test_orders_to_be_put_into_a_manifest(of_order, seller, like, not_own):
    manifest = Manifest.objects.create(seller=seller, environment=LIVE, created_at=NOON, created_by="x")
    Order.objects.filter(pk=like.pk).update(status=Status.COLLECTED)
    page = ManifestPage()
    page.seller, page.environment = seller, LIVE

    def entered():
        ManifestEntry.objects.create(manifest=manifest, order=of_order())

    check(
        lambda: page._waiting(""),
        of=of_order,
        fit={"waiting": {}},
        not_={
            "in a manifest": entered,
            "collected": {"status": Status.COLLECTED},
            "cancelled": {"status": Status.CANCELLED},
            **not_own,
        },
    )
    check(
        lambda: Manifest.objects.of(seller, LIVE),
        of=partial(copy, manifest),
        fit={"of the seller": {}},
        not_=not_own,
    )


@counts("panel/sellers/views/orders.py:OrderPage._linkable")
def test_invoices_to_be_linked_by_hand(of_invoice, of_order, seller, like, not_own):
    page = OrderPage()
    page.seller, page.environment = seller, LIVE

    def linked(to=like, **values):
        InvoiceLink.objects.create(invoice=of_invoice(**values), order=to, linked_by="x", linked_at=NOON)

    check(
        lambda: page._linkable(like, ""),
        of=of_invoice,
        fit={"of no order": {}},
        not_={"void": {"is_void": True}, "linked": linked, "linked to another": partial(linked, of_order()), **not_own},
    )
    numbered = partial(of_invoice, number="9")
    check(
        lambda: page._linkable(like, "9"),
        of=numbered,
        fit={"with the number": {}, "linked to another": partial(linked, of_order(), number="9")},
        not_={"void": {"is_void": True}, "linked": partial(linked, number="9"), "another": {"number": "8"}, **not_own},
    )


@counts("integration/actions/orders.py:_holding")
def test_codes_that_a_new_order_cannot_have(of_order, seller, not_own):
    """Those that another order has, composed or decomposed as it may be."""
    code, other = (normalize(form, "PÃO-É-1") for form in ("NFC", "NFD"))
    given_up = {"code": code, "status": Status.CANCELLED, "code_reused": True}

    def again():
        of_order(**given_up)
        of_order(code=code)

    def taken():
        try:
            rolled_back(lambda: create_order(seller, orderId=code, trackingCode=code))
        except DuplicateOrder as error:
            return dict.fromkeys(error.fields, 1)
        return {}

    check(
        taken,
        of=of_order,
        fit={
            "with the tracking code": ({"tracking_code": code}, {"trackingCode": 1}),
            "with the code": ({"code": code}, {"orderId": 1}),
            "with its other spelling": ({"code": other}, {"orderId": 1}),
            "with one that another had before": (again, {"orderId": 1}),
        },
        not_={
            "with another code": {"code": f"{code}2"},
            "that had it before": given_up,
            **{name: {"code": code, **values} for name, values in not_own.items()},
        },
    )


@counts(
    "integration/actions/orders.py:_facts",
    "integration/actions/orders.py:_rules",
    "integration/actions/orders.py:_naming_alike",
    "integration/models/order.py:SearchCodeQuerySet.meant_by",
    "integration/actions/orders.py:_naming",
)
def test_what_a_new_order_is_linked_to(seller, stranger, of_order, of_invoice):
    """Notes that name it or whose key it names, a carrier by the rules, and the endpoints of its seller."""
    key, (carrier, _key) = access_key(7), make_carrier()
    endpoint = WebhookEndpoint.objects.get_or_create(seller=seller, environment=LIVE, number=1)[0]
    WebhookEndpoint.objects.filter(pk=endpoint.pk).update(url="https://a.example/")

    def naming(reference, **values):
        row = of_invoice(**values)
        InvoiceReference.objects.create(seller=row.seller, invoice=row, value=reference)

    def alike_to_another(reference, code="PED12"):
        named = of_order()
        SearchCode.objects.create(seller=seller, environment=LIVE, order=named, kind="order", value=code)
        naming(reference)

    def rule(*, active=True, **conditions):
        Carrier.objects.filter(pk=carrier.pk).update(active=active)
        CarrierRule.objects.create(carrier=carrier, **conditions)

    def receiving(**values):
        copy(endpoint, **{"number": 2, "url": "https://b.example/", **values})

    def create():
        new = create_order(seller, orderId="PED 1-2", invoice={"key": key, "number": "9"})
        return {
            "notes": new.invoice_links.count(), "carrier": int(new.carrier_id is not None),
            "events": new.events.count(),
        }  # fmt: skip  # a table

    note, carried = {"notes": 1}, {"carrier": 1}
    check(
        lambda: rolled_back(create),
        fit={
            "named": (partial(naming, "PED 1-2"), note),
            "named alike": (partial(naming, "ped.12"), note),
            "of its key": (partial(of_invoice, access_key=key), note),
            "of its key, naming it": (partial(naming, "PED 1-2", access_key=key), note),
            "to be carried always": (rule, carried),
            "to be carried to its state": (partial(rule, state="SP"), carried),
            "to be carried to capitals": (partial(rule, region="capital"), carried),
            "to be carried by its service": (partial(rule, service="base"), carried),
            "of a further endpoint": (receiving, {"events": 1}),
            "of one for its status": (partial(receiving, statuses=["pending"]), {"events": 1}),
        },
        not_={
            "void": partial(naming, "PED 1-2", is_void=True),
            "void, of its key": partial(of_invoice, access_key=key, is_void=True),
            "naming another": partial(naming, "PED 1-23"),
            "naming another that is alike": partial(alike_to_another, "ped.12"),
            "naming another but for its number sign": partial(alike_to_another, "ped.12", "#PED12"),
            "of another seller": partial(naming, "PED 1-2", seller=stranger),
            "of another seller, of its key": partial(of_invoice, access_key=key, seller=stranger),
            "of the sandbox": partial(naming, "PED 1-2", environment=SANDBOX),
            "of the sandbox, of its key": partial(of_invoice, access_key=key, environment=SANDBOX),
            "to be carried to another state": partial(rule, state="RJ"),
            "to be carried elsewhere": partial(rule, region="interior"),
            "to be carried by another service": partial(rule, service="next"),
            "to be carried by nobody": partial(rule, active=False),
            "of an endpoint for another status": partial(receiving, statuses=["delivered"]),
            "of another seller's endpoint": partial(receiving, seller=stranger),
            "of one of the sandbox": partial(receiving, environment=SANDBOX),
            "of a removed one": partial(receiving, number=None, url=""),
        },
    )
