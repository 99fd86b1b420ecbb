"""Bodies of successful answers, in the shapes that the specification prints."""

from typing import Annotated, Any, Literal, TypedDict

from common.api.json_body import one_of
from common.webhooks.endpoints import SandboxWebhook
from integration import words
from integration.bodies import MayWarn, number, utc
from integration.carriers.movements import Outcome
from integration.freight.calculation import ORDER_SERVICES, Price, Service
from integration.freight.quotes import Quote
from integration.invoices import nfe
from integration.invoices.models import InvoiceStatus
from integration.models import Manifest
from integration.models.manifest import STATUSES


class InvoiceStored(MayWarn, TypedDict):
    success: Literal[True]
    message: str


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
        "value": number(invoice.value),
        "status": invoice.status.value,
        "linked": invoice.is_linked,
        "orders": invoice.order_codes,
        "createdAt": utc(invoice.received_at),
    }
