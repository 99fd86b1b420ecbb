"""Bodies of successful answers, in the shapes that the specification prints."""

from datetime import UTC, datetime
from typing import Literal, TypedDict

from integration.actions.quotes import Quote
from integration.models import Order, StatusLog


class Done(TypedDict):
    """Answer to a cancellation and to the upload of an invoice."""

    success: Literal[True]
    message: str


class OrderCreated(TypedDict):
    success: Literal[True]
    tracking_code: str


# Written as a call because `from` is a keyword.
QuoteData = TypedDict("QuoteData", {"from": str, "to": str, "amount": int, "deadline": int})


class QuoteFound(TypedDict):
    success: Literal[True]
    data: QuoteData


class StatusEntry(TypedDict):
    """One entry of a status log. Timestamps are ISO 8601 in UTC."""

    order_id: int
    status: str
    company_id: int
    via_api: bool
    created_at: str
    updated_at: str


class TrackingRecord(TypedDict):
    """One order, its status log oldest entry first."""

    tracking_code: str
    status_log: list[StatusEntry]


class OrdersFound(TypedDict):
    success: Literal[True]
    data: list[TrackingRecord]


def done(message: str) -> Done:
    return {"success": True, "message": message}


def order_created(order: Order) -> OrderCreated:
    return {"success": True, "tracking_code": order.tracking_code}


def quote_found(quote: Quote) -> QuoteFound:
    data: QuoteData = {
        "from": str(quote.origin),
        "to": str(quote.destination),
        "amount": quote.price.amount,
        "deadline": quote.price.deadline,
    }
    return {"success": True, "data": data}


def orders_found(orders: list[Order]) -> OrdersFound:
    """Orders with their `status_log` prefetched."""
    records = [_record(order) for order in orders]
    return {"success": True, "data": records}


def _record(order: Order) -> TrackingRecord:
    return {"tracking_code": order.tracking_code, "status_log": [_entry(entry) for entry in order.status_log.all()]}


def _entry(entry: StatusLog) -> StatusEntry:
    return {
        "order_id": entry.order_id,
        "status": entry.status,
        "company_id": entry.company_id,
        "via_api": entry.via_api,
        "created_at": _utc(entry.created_at),
        "updated_at": _utc(entry.updated_at),
    }


def _utc(moment: datetime) -> str:
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
