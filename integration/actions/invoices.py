"""Receiving invoices and linking them to their orders.

Finding what to link, for a new invoice as for a new order, needs the seller's lock (`Seller.locked`): an order and an
invoice that are written at the same time would not be linked otherwise, because neither transaction sees the other's
rows.
"""

import math
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum

from django.conf import settings
from django.db import transaction
from django.db.models import Q

from integration import nfe
from integration.errors import InvalidInvoice, InvoiceStorageFull, InvoiceUnreferenced, OrderNotFound, TooManyInvoices
from integration.models import Company, Invoice, InvoiceLink, InvoiceReference, Order, SearchCode, Seller
from integration.models.order import CUT_REFERENCE
from integration.nfe import Nfe

_DAY = timedelta(hours=24)
_MB = 1024 * 1024  # like Django's filesizeformat
# At most two orders are read for each reference, however many begin with it.
_BEGINNING_WITH = """
    SELECT id, seller_id, environment, code, invoice_key, invoice_data FROM integration_order WHERE id = ANY(ARRAY(
        SELECT min(alike.id)
        FROM unnest(%s::text[]) AS reference (value) CROSS JOIN LATERAL (
            SELECT id FROM integration_order
            WHERE seller_id = %s AND environment = %s AND left(code, %s) = reference.value
            LIMIT 2
        ) alike
        GROUP BY reference.value
        HAVING count(*) = 1
    ))
"""
_LONGEST_NAMED = 100


class DoubtCode(StrEnum):
    """What is doubtful about an invoice that is accepted."""

    OTHER_INVOICE_STORED = "other_invoice_stored"  # the access key is that of a stored file with another content
    FOREIGN_ISSUER = "foreign_issuer"  # none of the seller's companies has issued it
    CONSUMER_INVOICE = "consumer_invoice"  # an NFC-e
    VOID_INVOICE = "void_invoice"  # the tax office has denied or cancelled it
    UNMATCHED_REFERENCE = "unmatched_reference"  # no order has a reference's `orderId` yet
    DIFFERENT_VALUE = "different_value"  # a linked order states another value of this invoice


@dataclass(frozen=True)
class Doubt:
    """`about`: the document, reference or order that the doubt is about, if it is about one."""

    code: DoubtCode
    about: str = ""


def receive(
    *,
    seller: Seller,
    environment: str,
    raw: bytes,
    by: str,
    at: datetime,
    order: Order | None = None,
    on_doubts: Callable[[list[Doubt]], None] = lambda _doubts: None,
) -> Invoice:
    """Store an invoice and link the orders it covers; orders created later are linked when they are created.

    One for which there is no order is linked to `order`, if that is given. One that the tax office has denied or
    cancelled is stored and covers no order.

    For an access key that the seller has sent before, returns the stored invoice unchanged, whatever the quotas are.

    `on_doubts` is called with what is doubtful about the invoice before anything is committed; what it raises undoes
    all of it. Raises AccountSuspended, InvalidInvoice, InvoiceUnreferenced (without `order`), InvoiceTooLarge,
    InvoiceStorageFull, TooManyInvoices, or OrderNotFound for an `order` of another seller or environment, and then
    writes nothing.
    """
    if order is not None and (order.seller_id, order.environment) != (seller.pk, environment):
        raise OrderNotFound
    read = nfe.read(raw)
    with transaction.atomic():
        locked = seller.locked()
        locked.check_active()
        stored = Invoice.objects.of(seller, environment).filter(access_key=read.access_key).first()
        if stored is not None and bytes(stored.raw) != raw:
            on_doubts([Doubt(DoubtCode.OTHER_INVOICE_STORED)])
            return stored
        invoice = stored or _store(locked, environment, read, raw, order=order, by=by, at=at)
        orders = [] if invoice.is_void else _orders_of(invoice, references=read.references)
        if order is not None and not orders and not invoice.is_void and not invoice.is_linked:
            orders = [order]
        if stored is None or order is not None:  # else linked when it was stored, and with every order created since
            link([(invoice, each) for each in orders], by=by, at=at)
        on_doubts(list(_doubts(seller, read, orders)))
    return invoice


def _doubts(seller: Seller, read: Nfe, orders: Collection[Order]) -> Iterator[Doubt]:
    """What is doubtful about an invoice that covers these orders."""
    issuer = read.issuer_document
    if issuer and not Company.objects.filter(seller=seller, document=issuer).exists():
        yield Doubt(DoubtCode.FOREIGN_ISSUER, issuer)
    if read.is_consumer_invoice:
        yield Doubt(DoubtCode.CONSUMER_INVOICE)
    if read.is_void:
        yield Doubt(DoubtCode.VOID_INVOICE)
        return
    found = {name for order in orders for name in (order.code, order.code[:CUT_REFERENCE])}
    for reference in read.references:
        if reference not in found:
            yield Doubt(DoubtCode.UNMATCHED_REFERENCE, reference[:_LONGEST_NAMED])
    for order in orders:
        value = order.stated_value(read.access_key)
        if None not in (value, read.value) and value != read.value:
            yield Doubt(DoubtCode.DIFFERENT_VALUE, order.code[:_LONGEST_NAMED])


def link_by_hand(*, invoice: Invoice, order: Order, by: str, at: datetime) -> None:
    """Link an order of the same seller and environment that the invoice does not name. Idempotent.

    Raises OrderNotFound for another order, InvalidInvoice for one that was denied or cancelled.
    """
    if invoice.is_void:
        raise InvalidInvoice("A nota fiscal foi denegada ou cancelada pela SEFAZ")
    if (order.seller_id, order.environment) != (invoice.seller_id, invoice.environment):
        raise OrderNotFound
    with transaction.atomic():
        link([(invoice, order)], by=by, at=at)


def _store(
    seller: Seller, environment: str, read: Nfe, raw: bytes, *, order: Order | None, by: str, at: datetime
) -> Invoice:
    if (
        order is None
        and not read.references
        and not Order.objects.of(seller, environment).filter(invoice_key=read.access_key).exists()
    ):
        raise InvoiceUnreferenced
    _check_quotas(seller, environment, size=len(raw), at=at)
    invoice = Invoice.objects.create(
        seller=seller,
        environment=environment,
        access_key=read.access_key,
        issuer_document=read.issuer_document,
        number=read.number,
        series=read.series,
        value=read.value,
        issued_at=read.issued_at,
        layout=read.layout,
        is_void=read.is_void,
        raw=raw,
        received_at=at,
        received_by=by,
    )
    InvoiceReference.objects.bulk_create(
        InvoiceReference(seller=seller, invoice=invoice, value=value) for value in read.references
    )
    return invoice


def compact_key(text: str) -> str:
    """An access key as an order may write it, reduced to its 44 characters: no spaces, no prefix `NFe`."""
    return "".join(text.split()).upper().removeprefix("NFE")


def link(pairs: Iterable[tuple[Invoice, Order]], *, by: str, at: datetime) -> None:
    """Link each pair, and let tracking find its order by the invoice's access key and number. Idempotent."""
    pairs = list(pairs)
    if not pairs:
        return
    kind = SearchCode.Kind
    InvoiceLink.objects.bulk_create(
        [InvoiceLink(invoice=invoice, order=order, linked_by=by, linked_at=at) for invoice, order in pairs],
        ignore_conflicts=True,
    )
    SearchCode.objects.bulk_create(
        [
            SearchCode(seller_id=order.seller_id, environment=order.environment, order=order, kind=which, value=value)
            for invoice, order in pairs
            for which, value in ((kind.INVOICE_KEY, invoice.access_key), (kind.INVOICE_NUMBER, invoice.number))
            if value
        ],
        ignore_conflicts=True,
    )


def _orders_of(invoice: Invoice, *, references: Collection[str]) -> Collection[Order]:
    """The seller's orders that a new invoice names in `references`, and those that name its access key.

    A reference of CUT_REFERENCE characters that is no order's whole code also names the order whose code begins with
    it, if there is exactly one. `orders.create` finds by the same rules for a new order.
    """
    orders = Order.objects.of(invoice.seller_id, invoice.environment)
    found = list(orders.filter(Q(code__in=references) | Q(invoice_key=invoice.access_key)))
    cut = [value for value in references if len(value) == CUT_REFERENCE]
    if cut:
        found += Order.objects.raw(_BEGINNING_WITH, [cut, invoice.seller_id, invoice.environment, CUT_REFERENCE])
    return {order.pk: order for order in found}.values()


class Reason(StrEnum):
    """Why an invoice is linked to an order."""

    REFERENCE = "reference"  # the invoice names the order's `orderId`
    CUT_REFERENCE = "cut_reference"  # it names the first characters, as many as its layout allows
    ACCESS_KEY = "access_key"  # the order names the invoice's access key
    BY_HAND = "by_hand"


def reason(link: InvoiceLink, *, invoice: Invoice, references: Collection[str]) -> Reason:
    """Why the link exists, as far as its order and its invoice show it; otherwise somebody has made it."""
    order = link.order
    if order.code in references:
        return Reason.REFERENCE
    if order.invoice_key and order.invoice_key == invoice.access_key:
        return Reason.ACCESS_KEY
    if order.code[:CUT_REFERENCE] in references:
        return Reason.CUT_REFERENCE
    return Reason.BY_HAND


def _check_quotas(seller: Seller, environment: str, *, size: int, at: datetime) -> None:
    """Raise InvoiceStorageFull or TooManyInvoices if a new invoice of `size` bytes would be over a quota.

    Each environment has them of its own.

    `seller` is the locked row (`Seller.locked`), whose byte count no other transaction can change meanwhile.
    """
    quota_mb = _limit(seller.invoice_quota_mb, settings.INVOICE_QUOTA_MB)
    if quota_mb and seller.bytes_in(environment) + size > quota_mb * _MB:
        raise InvoiceStorageFull(most_mb=quota_mb)
    most = _limit(seller.invoices_per_day, settings.INVOICES_PER_DAY)
    if most:
        own = Invoice.objects.of(seller, environment)
        recent = own.filter(received_at__gt=at - _DAY).order_by("-received_at")
        # The `most`-th newest. When it is 24 hours old, one more is allowed.
        received = recent.values_list("received_at", flat=True)[most - 1 : most].first()
        if received is not None:
            raise TooManyInvoices(most=most, retry_after=math.ceil((received + _DAY - at).total_seconds()))


def _limit(own: int | None, default: int) -> int:
    """The seller's own limit, or the installation's. 0: unlimited."""
    return default if own is None else own
