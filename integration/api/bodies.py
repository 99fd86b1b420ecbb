"""Bodies of successful answers, in the shapes that the specification prints."""

from datetime import UTC, datetime
from typing import Annotated, Literal, TypedDict

from common.json_body import one_of
from integration import words
from integration.actions.quotes import Quote
from integration.actions.tracking import TrackedOrder
from integration.errors import OrderNotFound
from integration.freight import ORDER_SERVICES, Price, Service
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


class ServicePrice(TypedDict):
    """`service` as an order takes it, `amount` in centavos, `deadline` in business days."""

    service: Annotated[str, one_of(words.ORDER_SERVICES)]
    amount: int
    deadline: int


class ServicesFound(TypedDict):
    success: Literal[True]
    data: list[ServicePrice]


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


class NothingFound(TypedDict):
    """A tracking query without a result."""

    success: Literal[False]
    message: str


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


def services_found(prices: dict[Service, Price]) -> ServicesFound:
    data: list[ServicePrice] = [
        {"service": ORDER_SERVICES[service], "amount": price.amount, "deadline": price.deadline}
        for service, price in prices.items()
    ]
    return {"success": True, "data": data}


def orders_found(orders: list[TrackedOrder]) -> OrdersFound:
    records = [_record(order) for order in orders]
    return {"success": True, "data": records}


def nothing_found() -> NothingFound:
    return {"success": False, "message": OrderNotFound.message}


def _record(order: TrackedOrder) -> TrackingRecord:
    return {
        "tracking_code": order.tracking_code,
        "status_log": [status_entry(entry) for entry in order.status_log],
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
