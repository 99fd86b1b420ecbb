"""Creating orders and changing their status. The status and its log entry are written in one transaction."""

from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import NotRequired, TypedDict

from django.db import connection, transaction
from django.db.models import Q

from integration import lifecycle, tracking_codes
from integration.actions import links
from integration.errors import CompanyNotFound, DuplicateOrder, ForeignCompany
from integration.lifecycle import Status
from integration.models import Company, Order, SearchCode, Seller, StatusLog, compact_document


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
        return links.compact_key((self.invoice or {}).get("key") or "")

    @property
    def invoice_number(self) -> str:
        return (self.invoice or {}).get("number") or ""


def create(*, seller: Seller, payload: NewOrder, by: str, at: datetime) -> Order:
    """Create an order, and link the invoices that name it and were received before it.

    Raises CompanyNotFound, ForeignCompany or DuplicateOrder, and then writes nothing.
    """
    company = Company.objects.filter(document=compact_document(payload.company_document)).first()
    if company is None:
        raise CompanyNotFound
    if company.seller_id != seller.pk:
        raise ForeignCompany
    with transaction.atomic():
        # Serialises with invoices and further orders of this seller. Otherwise an invoice received at the same time
        # could miss this order while this order misses the invoice, and the check for duplicates would be a race.
        seller.locked()
        _refuse_duplicate(seller, payload)
        order = _insert(company, payload, by=by, at=at)
        _add_log_entry(order, Status.PENDING, via_api=True, by=by, at=at)
        _add_search_codes(order, payload)
        links.link_new_order(order, by=by, at=at)
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
    _add_log_entry(locked, to, via_api=via_api, by=by, at=at)
    return locked


def _refuse_duplicate(seller: Seller, payload: NewOrder) -> None:
    """Raise DuplicateOrder if the seller has an order with this code or tracking code. Needs the seller's lock.

    The unique constraints alone would do, but for a violated one PostgreSQL logs the statement, which holds personal
    data.
    """
    same = Q(code=payload.code)
    if payload.tracking_code:
        same |= Q(tracking_code=payload.tracking_code)
    clashing = list(Order.objects.filter(same, seller=seller).values_list("code", "tracking_code"))
    if clashing:
        codes, tracking_codes_taken = zip(*clashing, strict=True)
        taken = {"orderId": payload.code in codes, "trackingCode": payload.tracking_code in tracking_codes_taken}
        raise DuplicateOrder(*(field for field, is_taken in taken.items() if is_taken))


def _insert(company: Company, payload: NewOrder, *, by: str, at: datetime) -> Order:
    return Order.objects.create(
        seller_id=company.seller_id,
        company=company,
        code=payload.code,
        tracking_code=payload.tracking_code or _next_tracking_code(company.seller_id),
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


def _next_tracking_code(seller_id: int) -> str:
    """A generated tracking code: unique among generated ones, and not one that this seller has sent itself."""
    while True:
        with connection.cursor() as cursor:
            cursor.execute("SELECT nextval('integration_tracking_code')")
            (number,) = cursor.fetchone()
        code = tracking_codes.encode(number)
        if not Order.objects.filter(seller=seller_id, tracking_code=code).exists():
            return code


def _add_log_entry(order: Order, status: Status, *, via_api: bool, by: str, at: datetime) -> None:
    StatusLog.objects.create(
        order=order,
        company_id=order.company_id,
        status=status.value,
        via_api=via_api,
        by=by,
        created_at=at,
        updated_at=at,
    )


def _add_search_codes(order: Order, payload: NewOrder) -> None:
    kind = SearchCode.Kind
    values = {
        kind.TRACKING_CODE: order.tracking_code,
        kind.ORDER: order.code,
        kind.SHIPPING: str(order.pk),
        kind.INVOICE_KEY: order.invoice_key,
        kind.INVOICE_NUMBER: payload.invoice_number,
    }
    SearchCode.objects.bulk_create(
        SearchCode(seller_id=order.seller_id, order=order, kind=kind, value=value)
        for kind, value in values.items()
        if value
    )
