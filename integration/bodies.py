"""The JSON objects of an order, in the shapes that the specification prints: their types, and what makes them.

For answers and webhooks.
"""

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from decimal import Decimal
from typing import TYPE_CHECKING, Annotated, Any, Literal, NotRequired, TypedDict

from common.api.json_body import Json, one_of
from common.api.rate_limit import CallLimits
from common.webhooks.models import EventState
from integration import words
from integration.models import Company, Order, Seller, StatusLog

if TYPE_CHECKING:
    from integration.actions.tracking import TrackedOrder
    from integration.invoices.models import InvoiceLink


class StatusEntry(TypedDict):
    """One entry of a status log. Timestamps are ISO 8601 in UTC."""

    order_id: int
    status: str
    company_id: int
    via_api: bool
    created_at: str
    updated_at: str


class EventReason(TypedDict):
    """Why a parcel was not delivered or came back, and where it was then. What was not reported is null."""

    code: Annotated[str, one_of(words.REASONS)] | None
    text: str | None
    place: str | None


class OrderEvent(TypedDict):
    """A change of an order's status. It repeats nothing of the receiver.

    `occurredAt`: when it happened, which may be before it was recorded. `reason`: null if nothing was reported.
    `statusLog`: the whole history with this change as its last entry. `invoices`: access keys of the linked ones.
    """

    orderId: str
    trackingCode: str
    status: Annotated[str, one_of(words.STATUSES)]
    occurredAt: str
    reason: EventReason | None
    statusLog: list[StatusEntry]
    invoices: list[str]


_MOMENT = "2026-01-01T12:00:00.000000Z"
# Body of a test webhook, with every key of a real one. No order has the id 0.
TEST_EVENT: OrderEvent = {
    "orderId": "test",
    "trackingCode": "AA000000005BR",
    "status": "pending",
    "occurredAt": _MOMENT,
    "reason": None,
    "statusLog": [
        {
            "order_id": 0,
            "status": "pending",
            "company_id": 0,
            "via_api": True,
            "created_at": _MOMENT,
            "updated_at": _MOMENT,
        }
    ],
    "invoices": [],
}


def event(order: Order, log: Sequence[StatusLog], invoices: Sequence[str]) -> OrderEvent:
    """Of the last entry of the order's whole log. `invoices`: access keys."""
    last = log[-1]
    reason: EventReason = {"code": last.reason_code or None, "text": last.reason or None, "place": last.place or None}
    return {
        "orderId": order.code,
        "trackingCode": order.tracking_code,
        "status": last.status,
        "occurredAt": utc(last.occurred_at),
        "reason": reason if any(reason.values()) else None,
        "statusLog": [status_entry(entry) for entry in log],
        "invoices": list(invoices),
    }


def status_entry(entry: StatusLog) -> StatusEntry:
    return {
        "order_id": entry.order_id,
        "status": entry.status,
        "company_id": entry.company_id,
        "via_api": entry.via_api,
        "created_at": utc(entry.created_at),
        "updated_at": utc(entry.updated_at),
    }


def utc(moment: datetime) -> str:
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


class Warned(TypedDict):
    """What was accepted and is probably a mistake. `code` is stable, `message` in Portuguese."""

    code: str
    message: str


class MayWarn(TypedDict):
    """`warnings` is there only if it has an entry."""

    warnings: NotRequired[list[Warned]]


class Done(MayWarn, TypedDict):
    """Answer to a cancellation."""

    success: Literal[True]
    message: str


class OrderCreated(MayWarn, TypedDict):
    success: Literal[True]
    tracking_code: str


class TrackingRecord(TypedDict):
    """One order, its status log oldest entry first."""

    tracking_code: str
    status_log: list[StatusEntry]


class OrdersFound(MayWarn, TypedDict):
    success: Literal[True]
    data: list[TrackingRecord]


class NothingFound(MayWarn, TypedDict):
    """A tracking query without a result."""

    success: Literal[False]
    message: str


def orders_found(orders: list["TrackedOrder"]) -> OrdersFound:
    records: list[TrackingRecord] = [
        {"tracking_code": order.tracking_code, "status_log": [status_entry(entry) for entry in order.status_log]}
        for order in orders
    ]
    return {"success": True, "data": records}


class Freight(TypedDict):
    """`amount` in centavos, `deadline` in business days.

    `promisedDate`: that many business days after the collection, null before it. National holidays are known.
    """

    amount: int
    deadline: int
    promisedDate: str | None


class OrderSummary(TypedDict):
    """`shippingId` is the `order_id` of status logs, `orderCost` in BRL.

    `updated_at`: when it, or what its detail tells, has changed for the last time.

    `freight` is null if the company has no postcode, or the tariff had no rate.
    """

    shippingId: int
    orderId: str
    trackingCode: str
    company_document: str
    status: str
    service: str
    orderCost: float
    created_at: str
    updated_at: str
    freight: Freight | None


class LinkedInvoice(TypedDict):
    """An uploaded NF-e that names the order. What it does not state is empty or null."""

    key: str
    number: str
    series: str
    value: float | None
    issued_at: str | None
    linked_at: str


class StatusReport(StatusEntry, TypedDict):
    """An entry with what was reported of it.

    `code`: why the parcel was not delivered or came back, null otherwise. `reason`: in words.
    `place`: where it happened. `occurredAt`: when, which may be before it was recorded.
    """

    code: Annotated[str, one_of(words.REASONS)] | None
    reason: str | None
    place: str | None
    occurredAt: str


class OrderDetail(OrderSummary, TypedDict):
    """`items`, `receiver` and `invoice` are as sent, `invoices` are the uploaded ones that are linked.

    `volumes`: in how many boxes it leaves.

    `trackingUrl` is the page for the receiver, null once it no longer works. `carrier`: the name of who carries it,
    null if nobody is assigned.
    """

    items: list[dict[str, Any]]
    volumes: int
    receiver: dict[str, Any]
    invoice: dict[str, Any] | None
    invoices: list[LinkedInvoice]
    status_log: list[StatusReport]
    carrier: str | None
    trackingUrl: str | None


class OrdersListed(MayWarn, TypedDict):
    success: Literal[True]
    data: list[OrderSummary]
    nextCursor: str | None


class OrderShown(MayWarn, TypedDict):
    success: Literal[True]
    data: OrderDetail


class OrderCorrected(MayWarn, OrderShown):
    """The order after the correction."""


class CarriedOrderEvent(TypedDict):
    """`body` is what the webhook carries, byte for byte. `sequence` counts within the order."""

    id: Annotated[str, Json(format="uuid")]
    sequence: int
    createdAt: str
    sentAt: str | None
    state: Annotated[str, one_of(EventState.values)]
    body: OrderEvent


class OrderEventsListed(MayWarn, TypedDict):
    """`nextCursor` is there also at the end: ask again with it."""

    success: Literal[True]
    data: list[CarriedOrderEvent]
    nextCursor: str


def orders_listed(orders: list[Order], next_cursor: str | None) -> OrdersListed:
    """Orders with their company."""
    return {"success": True, "data": [_summary(order) for order in orders], "nextCursor": next_cursor}


def order_shown(order: Order, *, at: datetime) -> OrderShown:
    """An order with its company, carrier, `status_log`, and `invoice_links` with their invoices."""
    sent = order.invoice_data
    detail: OrderDetail = {
        **_summary(order),
        "items": [{**item, "price": number(item["price"])} for item in order.items],
        "volumes": order.volumes,
        "receiver": order.receiver,
        "invoice": {**sent, "value": number(sent.get("value"))} if sent else None,
        "invoices": [_linked_invoice(link) for link in order.invoice_links.all()],
        "status_log": [status_report(entry) for entry in order.status_log.all()],
        "carrier": order.carrier.name if order.carrier else None,
        "trackingUrl": order.tracking_url if order.link_works(at=at) else None,
    }
    return {"success": True, "data": detail}


def status_report(entry: StatusLog) -> StatusReport:
    return {
        **status_entry(entry),
        "code": entry.reason_code or None,
        "reason": entry.reason or None,
        "place": entry.place or None,
        "occurredAt": utc(entry.occurred_at),
    }


def _summary(order: Order) -> OrderSummary:
    return {
        "shippingId": order.pk,
        "orderId": order.code,
        "trackingCode": order.tracking_code,
        "company_document": order.company.document,
        "status": order.status,
        "service": order.service,
        "orderCost": float(order.cost),
        "created_at": utc(order.created_at),
        "updated_at": utc(order.updated_at),
        "freight": _freight(order),
    }


def _freight(order: Order) -> Freight | None:
    price, promised = order.freight, order.promised_on
    if price is None:
        return None
    return {
        "amount": price.amount,
        "deadline": price.deadline,
        "promisedDate": promised.isoformat() if promised else None,
    }


def _linked_invoice(link: "InvoiceLink") -> LinkedInvoice:
    invoice = link.invoice
    return {
        "key": invoice.access_key,
        "number": invoice.number,
        "series": invoice.series,
        "value": number(invoice.value),
        "issued_at": utc(invoice.issued_at) if invoice.issued_at else None,
        "linked_at": utc(link.linked_at),
    }


def number(amount: Decimal | str | None) -> float | None:
    """An amount as a JSON number. In columns of JSON it is stored as text."""
    return None if amount is None else float(amount)


class NamedSeller(TypedDict):
    """`reference` identifies it for support; it is not secret."""

    reference: str
    name: str


class SellersCompany(TypedDict):
    """A sender of orders. `postcode`: where its parcels leave from, null if it is not known."""

    document: str
    name: str
    postcode: str | None


class Account(TypedDict):
    """`environment`: `live` or `sandbox`. `companies`: at most 1,000. `services`: what an order can name."""

    seller: NamedSeller
    environment: str
    companies: list[SellersCompany]
    services: list[str]
    limits: CallLimits


class AccountShown(TypedDict):
    success: Literal[True]
    data: Account


def account_shown(seller: Seller, environment: str, companies: Iterable[Company]) -> AccountShown:
    account: Account = {
        "seller": {"reference": seller.reference, "name": seller.name},
        "environment": environment,
        "companies": [
            {"document": each.document, "name": each.name, "postcode": each.postcode or None} for each in companies
        ],
        "services": [*words.ORDER_SERVICES],
        "limits": seller.rate_limits.shown(),
    }
    return {"success": True, "data": account}
