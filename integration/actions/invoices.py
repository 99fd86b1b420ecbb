"""Receiving invoices and linking them to their orders."""

from datetime import datetime

from django.db import transaction

from integration import nfe
from integration.actions import links, quotas
from integration.errors import InvalidInvoice, InvoiceUnreferenced, OrderNotFound
from integration.models import Invoice, InvoiceReference, Order, Seller
from integration.nfe import Nfe


def receive(*, seller: Seller, raw: bytes, by: str, at: datetime) -> Invoice:
    """Store an invoice and link the orders it covers; orders created later are linked when they are created.

    One that the tax office has denied or cancelled is stored and covers no order.

    For an access key that the seller has sent before, returns the stored invoice unchanged, whatever the quotas are.

    Raises AccountSuspended, InvalidInvoice, InvoiceUnreferenced, InvoiceTooLarge, InvoiceStorageFull or
    TooManyInvoices, and then writes nothing.
    """
    read = nfe.read(raw)
    with transaction.atomic():
        locked = seller.locked()
        locked.check_active()
        stored = Invoice.objects.filter(seller=seller, access_key=read.access_key).defer("raw").first()
        if stored is not None:
            return stored  # linked when it was stored, and with every order created since
        invoice = _store(locked, read, raw, by=by, at=at)
        if not invoice.is_void:
            links.link_new_invoice(invoice, references=read.references, by=by, at=at)
    return invoice


def link_by_hand(*, invoice: Invoice, order: Order, by: str, at: datetime) -> None:
    """Link an order of the same seller that the invoice does not name. Idempotent.

    Raises OrderNotFound for an order of another seller, InvalidInvoice for one that was denied or cancelled.
    """
    if invoice.is_void:
        raise InvalidInvoice("A nota fiscal foi denegada ou cancelada pela SEFAZ")
    if order.seller_id != invoice.seller_id:
        raise OrderNotFound
    with transaction.atomic():
        links.link([(invoice, order)], by=by, at=at)


def _store(seller: Seller, read: Nfe, raw: bytes, *, by: str, at: datetime) -> Invoice:
    if not read.references and not Order.objects.filter(seller=seller, invoice_key=read.access_key).exists():
        raise InvoiceUnreferenced
    quotas.check_invoice(seller, size=len(raw), at=at)
    invoice = Invoice.objects.create(
        seller=seller,
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
