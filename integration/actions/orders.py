"""Creating orders and changing their status. The status and its log entry are written in one transaction."""

from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import NotRequired, TypedDict

from django.db import transaction

from common.compiled_queries import insert_together
from integration import lifecycle, tracking_codes
from integration.actions import invoices
from integration.errors import CompanyNotFound, DuplicateOrder, ForeignCompany
from integration.lifecycle import Status
from integration.models import Company, Invoice, Order, SearchCode, Seller, StatusLog, compact_document, new_order


class Item(TypedDict):
    """`dimensions`: three integers and a weight, `10x20x30,1.5`. `price` in BRL."""

    description: str
    dimensions: str
    quantity: int
    price: Decimal


class Address(TypedDict):
    """The receiver's address, with the specification's names."""

    state: str
    city: str
    zipCode: str
    street: str
    streetNumber: str
    neighborhood: str
    complement: NotRequired[str | None]


class Receiver(TypedDict):
    """Keys that the seller did not send are absent."""

    name: str
    address: Address
    phone: NotRequired[str | None]
    cellphone: NotRequired[str | None]
    email: NotRequired[str | None]
    document: NotRequired[str | None]


class InvoiceData(TypedDict, total=False):
    """The invoice that an order names. `issueDate` is `YYYY-MM-DD HH:MM:SS`, `value` in BRL."""

    series: str | None
    number: str | None
    issueDate: str | None
    value: Decimal | None
    key: str | None


@dataclass(frozen=True)
class NewOrder:
    """A valid order create request. An empty `tracking_code` is generated. `cost` in BRL."""

    company_document: str
    code: str
    tracking_code: str
    service: str
    cost: Decimal
    items: list[Item]
    receiver: Receiver
    invoice: InvoiceData | None

    @property
    def invoice_key(self) -> str:
        return invoices.compact_key((self.invoice or {}).get("key") or "")

    @property
    def invoice_number(self) -> str:
        return (self.invoice or {}).get("number") or ""


def create(*, seller: Seller, payload: NewOrder, by: str, at: datetime) -> Order:
    """Create an order, and link the invoices that name it and were received before it.

    Raises CompanyNotFound, ForeignCompany or DuplicateOrder, and then writes nothing.
    """
    document = compact_document(payload.company_document)
    with transaction.atomic():
        # Serialises with invoices and further orders of this seller. Otherwise an invoice received at the same time
        # could miss this order while this order misses the invoice, and the check for duplicates would be a race.
        numbers = new_order.lock_company(document, seller_id=seller.pk, needs_tracking_number=not payload.tracking_code)
        if numbers is None:
            raise ForeignCompany if Company.objects.filter(document=document).exists() else CompanyNotFound
        tracking_code, named = _checked(seller, payload, numbers)
        order = _order(seller, numbers, payload, tracking_code, by=by, at=at)
        insert_together(
            order, _log_entry(order, Status.PENDING, via_api=True, by=by, at=at), *_search_codes(order, payload)
        )
        invoices.link([(invoice, order) for invoice in named], by=by, at=at)
    return order


def cancel(*, order: Order, by: str, at: datetime) -> Order:
    """Cancel an order for its seller. Raises AlreadyDelivered or AlreadyCancelled."""
    return move(order=order, to=Status.CANCELLED, via_api=True, by=by, at=at)


@transaction.atomic
def move(*, order: Order, to: Status, by: str, at: datetime, via_api: bool = False) -> Order:
    """Change the status to `to` and log it. No other function writes a status.

    Raises MoveRefused if `lifecycle.TABLE` does not allow it.
    """
    locked = Order.objects.select_for_update(of=("self",)).get(pk=order.pk)
    locked.status = lifecycle.move(Status(locked.status), to).value
    locked.save(update_fields=["status"])
    _log_entry(locked, to, via_api=via_api, by=by, at=at).save(force_insert=True)
    return locked


def _checked(seller: Seller, payload: NewOrder, numbers: new_order.Numbers) -> tuple[str, list[Invoice]]:
    """The tracking code, the payload's or a generated one that the seller has not used, and the invoices to link.

    Raises DuplicateOrder if the seller has an order with the payload's `orderId` or tracking code. Needs the seller's
    lock. The unique constraints alone would do, but for a violated one PostgreSQL logs the statement, which holds
    personal data.
    """
    number = numbers.tracking_number
    while True:
        code = payload.tracking_code if number is None else tracking_codes.encode(number)
        facts = new_order.facts(
            seller_id=seller.pk, code=payload.code, tracking_code=code, invoice_key=payload.invoice_key
        )
        taken = {"orderId": facts.has_code, "trackingCode": number is None and facts.has_tracking_code}
        if any(taken.values()):
            raise DuplicateOrder(*(field for field, is_taken in taken.items() if is_taken))
        if not facts.has_tracking_code:
            return code, facts.invoices
        number = new_order.next_tracking_number()


def _order(
    seller: Seller, numbers: new_order.Numbers, payload: NewOrder, tracking_code: str, *, by: str, at: datetime
) -> Order:
    return Order(
        pk=numbers.order_id,
        seller_id=seller.pk,
        company_id=numbers.company_id,
        code=payload.code,
        tracking_code=tracking_code,
        service=payload.service,
        cost=payload.cost,
        items=payload.items,
        receiver_name=payload.receiver["name"],
        receiver_document=compact_document(payload.receiver.get("document") or ""),
        receiver=payload.receiver,
        invoice_data=payload.invoice,
        invoice_key=payload.invoice_key,
        created_at=at,
        created_by=by,
    )


def _log_entry(order: Order, status: Status, *, via_api: bool, by: str, at: datetime) -> StatusLog:
    return StatusLog(
        order=order,
        company_id=order.company_id,
        status=status.value,
        via_api=via_api,
        by=by,
        created_at=at,
        updated_at=at,
    )


def _search_codes(order: Order, payload: NewOrder) -> list[SearchCode]:
    kind = SearchCode.Kind
    values = {
        kind.TRACKING_CODE: order.tracking_code,
        kind.ORDER: order.code,
        kind.SHIPPING: str(order.pk),
        kind.INVOICE_KEY: order.invoice_key,
        kind.INVOICE_NUMBER: payload.invoice_number,
    }
    return [
        SearchCode(seller_id=order.seller_id, order=order, kind=kind, value=value)
        for kind, value in values.items()
        if value
    ]
