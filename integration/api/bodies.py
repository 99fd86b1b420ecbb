"""Bodies of successful answers, in the shapes that the specification prints."""

from datetime import datetime
from decimal import Decimal
from typing import Annotated, Any, Literal, NotRequired, TypedDict

from common.api.json_body import Json, one_of
from common.webhooks.endpoints import SandboxWebhook
from common.webhooks.models import EventState
from integration import words
from integration.actions.tracking import TrackedOrder
from integration.bodies import OrderEvent, StatusEntry, status_entry, utc
from integration.carriers.movements import Outcome
from integration.freight.calculation import ORDER_SERVICES, Price, Service
from integration.freight.quotes import Quote
from integration.invoices import nfe
from integration.invoices.models import InvoiceLink, InvoiceStatus
from integration.models import Manifest, Order, StatusLog
from integration.models.manifest import STATUSES


class Warned(TypedDict):
    """What was accepted and is probably a mistake. `code` is stable, `message` in Portuguese."""

    code: str
    message: str


class MayWarn(TypedDict):
    """`warnings` is there only if it has an entry."""

    warnings: NotRequired[list[Warned]]


class Done(TypedDict):
    """Answer to a cancellation."""

    success: Literal[True]
    message: str


class InvoiceStored(MayWarn, TypedDict):
    success: Literal[True]
    message: str


class OrderCreated(MayWarn, TypedDict):
    success: Literal[True]
    tracking_code: str


# Written as a call because `from` is a keyword.
QuoteData = TypedDict("QuoteData", {"from": str, "to": str, "amount": int, "deadline": int})


class QuoteFound(MayWarn, TypedDict):
    success: Literal[True]
    data: QuoteData


class ServicePrice(TypedDict):
    """`service` as an order takes it, `amount` in centavos, `deadline` in business days."""

    service: Annotated[str, one_of(words.ORDER_SERVICES)]
    amount: int
    deadline: int


class ServicesFound(MayWarn, TypedDict):
    success: Literal[True]
    data: list[ServicePrice]


class TrackingRecord(TypedDict):
    """One order, its status log oldest entry first."""

    tracking_code: str
    status_log: list[StatusEntry]


class OrdersFound(TypedDict):
    success: Literal[True]
    data: list[TrackingRecord]


class NothingFound(TypedDict):
    """A tracking query without a result."""

    success: Literal[False]
    message: str


def quote_found(quote: Quote) -> QuoteFound:
    data: QuoteData = {
        "from": str(quote.origin),
        "to": str(quote.destination),
        "amount": quote.price.amount,
        "deadline": quote.price.deadline,
    }
    return {"success": True, "data": data}


def services_found(prices: dict[Service, Price]) -> ServicesFound:
    data: list[ServicePrice] = [
        {"service": ORDER_SERVICES[service], "amount": price.amount, "deadline": price.deadline}
        for service, price in prices.items()
    ]
    return {"success": True, "data": data}


def orders_found(orders: list[TrackedOrder]) -> OrdersFound:
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


class InvoiceSummary(TypedDict):
    """`model`: `55`, `65` of an NFC-e, `99` of a DC-e. `value` in BRL. What the file does not state is empty or null.

    `status`: `void` if it was denied or cancelled, `unconfirmed` without the tax office's authorisation.
    `orders`: the orderIds of the orders that are linked. `createdAt`: when the invoice was received.
    """

    key: str
    model: str
    series: str
    number: str
    issuedAt: str | None
    issuer: str
    value: float | None
    status: Annotated[str, one_of(InvoiceStatus.values)]
    linked: bool
    orders: list[str]
    createdAt: str


class InvoiceShown(TypedDict):
    success: Literal[True]
    data: InvoiceSummary


class InvoicesListed(TypedDict):
    success: Literal[True]
    data: list[InvoiceSummary]
    nextCursor: str | None


class OrdersListed(TypedDict):
    success: Literal[True]
    data: list[OrderSummary]
    nextCursor: str | None


class OrderShown(TypedDict):
    success: Literal[True]
    data: OrderDetail


class CarriedOrderEvent(TypedDict):
    """`body` is what the webhook carries, byte for byte. `sequence` counts within the order."""

    id: Annotated[str, Json(format="uuid")]
    sequence: int
    createdAt: str
    sentAt: str | None
    state: Annotated[str, one_of(EventState.values)]
    body: OrderEvent


class OrderEventsListed(TypedDict):
    """`nextCursor` is there also at the end: ask again with it."""

    success: Literal[True]
    data: list[CarriedOrderEvent]
    nextCursor: str


class WebhookSet(TypedDict):
    success: Literal[True]
    data: SandboxWebhook


class EventAnswer(TypedDict):
    """What has become of an event. `eventId` is null if the event has no valid one.

    `code`: `moved`; `already`, if the order had the status; otherwise why nothing was recorded.
    """

    eventId: str | None
    success: bool
    code: str
    message: str


class EventsAnswered(TypedDict):
    """The events in the sequence in which they were sent."""

    success: Literal[True]
    data: list[EventAnswer]


def event_answer(outcome: Outcome) -> EventAnswer:
    return {
        "eventId": outcome.event_id,
        "success": outcome.succeeded,
        "code": outcome.code,
        "message": outcome.message,
    }


def invalid_event(event_id: str | None, message: str) -> EventAnswer:
    return {"eventId": event_id, "success": False, "code": "invalid_payload", "message": message}


class ManifestOrder(TypedDict):
    """An order of a manifest. `volumes`: its boxes. `weight` of all, in kilograms.

    `orderCost` in BRL, `freight` in centavos, null as in the order. `carrier` as in the order.
    """

    orderId: str
    trackingCode: str
    status: str
    volumes: int
    weight: float
    orderCost: float
    freight: int | None
    carrier: str | None


class ManifestTotals(TypedDict):
    """The sums of its orders; `orders` is how many they are."""

    orders: int
    volumes: int
    weight: float
    orderCost: float
    freight: int


class ManifestSummary(TypedDict):
    manifestId: int
    status: Annotated[str, one_of(STATUSES)]
    createdAt: str
    closedAt: str | None


class ManifestListed(ManifestSummary, TypedDict):
    orderIds: list[str]


class ManifestDetail(ManifestSummary, TypedDict):
    orders: list[ManifestOrder]
    totals: ManifestTotals


class ManifestsListed(TypedDict):
    success: Literal[True]
    data: list[ManifestListed]
    nextCursor: str | None


class ManifestShown(TypedDict):
    success: Literal[True]
    data: ManifestDetail


def manifests_listed(manifests: list[Any], next_cursor: str | None) -> ManifestsListed:
    """Manifests annotated with `order_codes`."""
    data: list[ManifestListed] = [
        {**_manifest_summary(manifest), "orderIds": manifest.order_codes} for manifest in manifests
    ]
    return {"success": True, "data": data, "nextCursor": next_cursor}


def manifest_shown(manifest: Manifest) -> ManifestShown:
    """A manifest with its `entries` and their orders."""
    totals = manifest.totals
    orders: list[ManifestOrder] = [
        {
            "orderId": order.code,
            "trackingCode": order.tracking_code,
            "status": order.status,
            "volumes": order.volumes,
            "weight": float(order.weight),
            "orderCost": float(order.cost),
            "freight": order.freight_centavos,
            "carrier": order.carrier.name if order.carrier else None,
        }
        for order in manifest.in_order
    ]
    detail: ManifestDetail = {
        **_manifest_summary(manifest),
        "orders": orders,
        "totals": {
            "orders": totals.orders,
            "volumes": totals.volumes,
            "weight": float(totals.weight),
            "orderCost": float(totals.cost),
            "freight": totals.freight,
        },
    }
    return {"success": True, "data": detail}


def _manifest_summary(manifest: Manifest) -> ManifestSummary:
    return {
        "manifestId": manifest.pk,
        "status": manifest.status,
        "createdAt": utc(manifest.created_at),
        "closedAt": utc(manifest.closed_at) if manifest.closed_at else None,
    }


def orders_listed(orders: list[Order], next_cursor: str | None) -> OrdersListed:
    """Orders with their company."""
    return {"success": True, "data": [_summary(order) for order in orders], "nextCursor": next_cursor}


def order_shown(order: Order, *, at: datetime) -> OrderShown:
    """An order with its company, carrier, `status_log`, and `invoice_links` with their invoices."""
    sent = order.invoice_data
    detail: OrderDetail = {
        **_summary(order),
        "items": [{**item, "price": _number(item["price"])} for item in order.items],
        "volumes": order.volumes,
        "receiver": order.receiver,
        "invoice": {**sent, "value": _number(sent.get("value"))} if sent else None,
        "invoices": [_linked_invoice(link) for link in order.invoice_links.all()],
        "status_log": [status_report(entry) for entry in order.status_log.all()],
        "carrier": order.carrier.name if order.carrier else None,
        "trackingUrl": order.tracking_url if order.link_works(at=at) else None,
    }
    return {"success": True, "data": detail}


def invoice_shown(invoice: Any) -> InvoiceShown:
    """An invoice annotated with `order_codes`."""
    return {"success": True, "data": _invoice_summary(invoice)}


def invoices_listed(invoices: list[Any], next_cursor: str | None) -> InvoicesListed:
    """Invoices annotated with `order_codes`."""
    return {"success": True, "data": [_invoice_summary(invoice) for invoice in invoices], "nextCursor": next_cursor}


def _invoice_summary(invoice: Any) -> InvoiceSummary:
    return {
        "key": invoice.access_key,
        "model": nfe.model_of(invoice.access_key),
        "series": invoice.series,
        "number": invoice.number,
        "issuedAt": utc(invoice.issued_at) if invoice.issued_at else None,
        "issuer": invoice.issuer_document,
        "value": _number(invoice.value),
        "status": invoice.status.value,
        "linked": invoice.is_linked,
        "orders": invoice.order_codes,
        "createdAt": utc(invoice.received_at),
    }


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


def _linked_invoice(link: InvoiceLink) -> LinkedInvoice:
    invoice = link.invoice
    return {
        "key": invoice.access_key,
        "number": invoice.number,
        "series": invoice.series,
        "value": _number(invoice.value),
        "issued_at": utc(invoice.issued_at) if invoice.issued_at else None,
        "linked_at": utc(link.linked_at),
    }


def _number(amount: Decimal | str | None) -> float | None:
    """An amount as a JSON number. In columns of JSON it is stored as text."""
    return None if amount is None else float(amount)
