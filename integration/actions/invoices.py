"""Keeping an invoice and linking it to its orders."""

from datetime import datetime

from django.db import transaction

from integration import nfe
from integration.actions import links, quotas
from integration.errors import InvoiceUnreferenced
from integration.models import Invoice, InvoiceReference, Order, Seller
from integration.nfe import Nfe


def receive(*, seller: Seller, raw: bytes, by: str, at: datetime) -> Invoice:
    """Keep an invoice's bytes and link the orders it covers; those still to come are linked when they arrive.

    The same access key again gives the copy that is there, whatever the quotas say. Raises InvalidInvoice,
    InvoiceUnreferenced, BodyTooLarge, InvoiceStorageFull or TooManyInvoices; then nothing is written.
    """
    read = nfe.read(raw)
    with transaction.atomic():
        locked = links.lock(seller)
        invoice = Invoice.objects.filter(seller=seller, access_key=read.access_key).first()
        if invoice is None:
            invoice = _keep(locked, read, raw, by=by, at=at)
        links.link_orders(invoice=invoice, by=by, at=at)
    return invoice


def link_by_hand(*, invoice: Invoice, order: Order, by: str, at: datetime) -> None:
    """Staff link what no reference does."""
    with transaction.atomic():
        links.link([(invoice, order)], by=by, at=at)


def _keep(seller: Seller, read: Nfe, raw: bytes, *, by: str, at: datetime) -> Invoice:
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
        raw=raw,
        received_at=at,
        received_by=by,
    )
    InvoiceReference.objects.bulk_create(
        InvoiceReference(seller=seller, invoice=invoice, value=value) for value in read.references
    )
    return invoice
