"""Bodies of webhooks, and what answers of the API contain too."""

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Annotated, TypedDict

from common.api.json_body import one_of
from integration import words
from integration.models import Order, StatusLog


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
