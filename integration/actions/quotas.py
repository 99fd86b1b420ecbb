"""Limits on the invoices of a seller: how many in 24 hours, and how many bytes in all."""

import math
from datetime import datetime, timedelta

from django.conf import settings

from integration.errors import InvoiceStorageFull, TooManyInvoices
from integration.models import Invoice, Seller

_DAY = timedelta(hours=24)
_MB = 1024 * 1024  # like Django's filesizeformat


def check_invoice(seller: Seller, *, size: int, at: datetime) -> None:
    """Raise InvoiceStorageFull or TooManyInvoices if a new invoice of `size` bytes would be over a quota.

    `seller` is the locked row (`Seller.locked`), whose byte count no other transaction can change meanwhile.
    """
    quota_mb = _limit(seller.invoice_quota_mb, settings.INVOICE_QUOTA_MB)
    if quota_mb and seller.invoice_bytes + size > quota_mb * _MB:
        raise InvoiceStorageFull(most_mb=quota_mb)
    most = _limit(seller.invoices_per_day, settings.INVOICES_PER_DAY)
    if most:
        recent = Invoice.objects.filter(seller=seller, received_at__gt=at - _DAY).order_by("-received_at")
        # The `most`-th newest. When it is 24 hours old, one more is allowed.
        received = recent.values_list("received_at", flat=True)[most - 1 : most].first()
        if received is not None:
            raise TooManyInvoices(most=most, retry_after=math.ceil((received + _DAY - at).total_seconds()))


def _limit(own: int | None, default: int) -> int:
    """The seller's own limit, or the installation's. 0: unlimited."""
    return default if own is None else own
