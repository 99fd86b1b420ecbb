"""Bodies of the answers that show orders: a summary in the list, and everything about one."""

from decimal import Decimal
from typing import Any, Literal, TypedDict

from integration.api.bodies import StatusEntry, status_entry, utc
from integration.models import InvoiceLink, Order


class OrderSummary(TypedDict):
    """`shippingId` is the `order_id` of status logs, `orderCost` in BRL."""

    shippingId: int
    orderId: str
    trackingCode: str
    company_document: str
    status: str
    service: str
    orderCost: float
    created_at: str


class LinkedInvoice(TypedDict):
    """An uploaded NF-e that names the order. What it does not state is empty or null."""

    key: str
    number: str
    series: str
    value: float | None
    issued_at: str | None
    linked_at: str


class OrderDetail(OrderSummary, TypedDict):
    """`items`, `receiver` and `invoice` are as sent, `invoices` are the uploaded ones that are linked."""

    items: list[dict[str, Any]]
    receiver: dict[str, Any]
    invoice: dict[str, Any] | None
    invoices: list[LinkedInvoice]
    status_log: list[StatusEntry]


class OrdersListed(TypedDict):
    success: Literal[True]
    data: list[OrderSummary]
    nextCursor: str | None


class OrderShown(TypedDict):
    success: Literal[True]
    data: OrderDetail


def orders_listed(orders: list[Order], next_cursor: str | None) -> OrdersListed:
    """Orders with their company."""
    return {"success": True, "data": [_summary(order) for order in orders], "nextCursor": next_cursor}


def order_shown(order: Order) -> OrderShown:
    """An order with its company, `status_log`, and `invoice_links` with their invoices."""
    detail: OrderDetail = {
        **_summary(order),
        "items": [{**item, "price": _number(item["price"])} for item in order.items],
        "receiver": order.receiver,
        "invoice": _sent_invoice(order.invoice_data),
        "invoices": [_linked_invoice(link) for link in order.invoice_links.all()],
        "status_log": [status_entry(entry) for entry in order.status_log.all()],
    }
    return {"success": True, "data": detail}


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


def _sent_invoice(sent: dict[str, Any] | None) -> dict[str, Any] | None:
    return {**sent, "value": _number(sent.get("value"))} if sent else None


def _number(amount: Decimal | str | None) -> float | None:
    """An amount as a JSON number. In columns of JSON it is stored as text."""
    return None if amount is None else float(amount)
