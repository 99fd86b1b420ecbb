"""Everything that happens to an order. Each verb writes the status and its log entry in one transaction."""

from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Any

from django.db import connection, transaction
from django.db.models import Q

from integration import lifecycle, tracking_codes
from integration.actions import links
from integration.errors import CompanyNotFound, DuplicateOrder, ForeignCompany
from integration.lifecycle import Status
from integration.models import Company, Order, SearchCode, Seller, StatusLog, compact_document


@dataclass(frozen=True)
class NewOrder:
    """A validated order create request. `tracking_code` empty: the service makes one."""

    company_document: str
    code: str
    tracking_code: str
    service: str
    cost: Decimal
    items: list[dict[str, Any]]
    receiver: dict[str, Any]
    invoice: dict[str, Any] | None


def create(*, seller: Seller, asked: NewOrder, by: str, at: datetime) -> Order:
    """Create an order, and link the invoices that waited for it.

    Raises CompanyNotFound, ForeignCompany or DuplicateOrder; then nothing is written.
    """
    company = Company.objects.filter(document=compact_document(asked.company_document)).first()
    if company is None:
        raise CompanyNotFound
    if company.seller_id != seller.pk:
        raise ForeignCompany
    with transaction.atomic():
        # An invoice and its order that come at the same moment must see each other, and of two equal orders the
        # second must see the first.
        links.lock(seller)
        _refuse_duplicate(seller, asked)
        order = _insert(company, asked, by=by, at=at)
        _log(order, Status.PENDING, via_api=True, by=by, at=at)
        _add_codes(order, asked)
        links.link_waiting(order=order, by=by, at=at)
    return order


def cancel(*, order: Order, by: str, at: datetime) -> Order:
    """The seller cancels. Raises AlreadyDelivered or AlreadyCancelled."""
    return move(order=order, to=Status.CANCELLED, via_api=True, by=by, at=at)


@transaction.atomic
def move(*, order: Order, to: Status, by: str, at: datetime, via_api: bool = False) -> Order:
    """Change the status by the lifecycle's table. Raises MoveRefused. The one place that writes a status."""
    locked = Order.objects.select_for_update(of=("self",)).get(pk=order.pk)
    locked.status = lifecycle.move(Status(locked.status), to).value
    locked.save(update_fields=["status"])
    _log(locked, to, via_api=via_api, by=by, at=at)
    return locked


def _refuse_duplicate(seller: Seller, asked: NewOrder) -> None:
    """Raise DuplicateOrder. Call under the seller's lock, without which another order can be created meanwhile.

    A violated constraint would do the same, but PostgreSQL writes the refused row, names and documents included, to
    its log.
    """
    same = Q(code=asked.code)
    if asked.tracking_code:
        same |= Q(tracking_code=asked.tracking_code)
    if Order.objects.filter(same, seller=seller).exists():
        raise DuplicateOrder


def _insert(company: Company, asked: NewOrder, *, by: str, at: datetime) -> Order:
    return Order.objects.create(
        seller_id=company.seller_id,
        company=company,
        code=asked.code,
        tracking_code=asked.tracking_code or _next_tracking_code(company.seller_id),
        service=asked.service,
        cost=asked.cost,
        items=asked.items,
        receiver_name=asked.receiver["name"],
        receiver_document=compact_document(asked.receiver.get("document") or ""),
        receiver=asked.receiver,
        invoice_data=asked.invoice,
        invoice_key=links.compact_key((asked.invoice or {}).get("key") or ""),
        created_at=at,
        created_by=by,
    )


def _next_tracking_code(seller_id: int) -> str:
    """A code that nobody else gets, and that this seller has not sent with an order of its own either."""
    while True:
        with connection.cursor() as cursor:
            cursor.execute("SELECT nextval('integration_tracking_code')")
            (number,) = cursor.fetchone()
        code = tracking_codes.encode(number)
        if not Order.objects.filter(seller=seller_id, tracking_code=code).exists():
            return code


def _log(order: Order, status: Status, *, via_api: bool, by: str, at: datetime) -> None:
    StatusLog.objects.create(
        order=order,
        company_id=order.company_id,
        status=status.value,
        via_api=via_api,
        by=by,
        created_at=at,
        updated_at=at,
    )


def _add_codes(order: Order, asked: NewOrder) -> None:
    kind = SearchCode.Kind
    invoice_number = (asked.invoice or {}).get("number") or ""
    values = {
        kind.TRACKING_CODE: order.tracking_code,
        kind.ORDER: order.code,
        kind.SHIPPING: str(order.pk),
        kind.INVOICE_KEY: order.invoice_key,
        kind.INVOICE_NUMBER: invoice_number,
    }
    SearchCode.objects.bulk_create(
        SearchCode(seller_id=order.seller_id, order=order, kind=kind, value=value)
        for kind, value in values.items()
        if value
    )
