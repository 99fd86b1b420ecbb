"""How many invoices a seller may send, and how much of them is kept."""

import math
from datetime import datetime, timedelta

from django.conf import settings

from integration.errors import InvoiceStorageFull, TooManyInvoices
from integration.models import Invoice, Seller

_DAY = timedelta(hours=24)
_MB = 1024 * 1024  # as Django's filesizeformat counts


def check_invoice(seller: Seller, *, size: int, at: datetime) -> None:
    """Whether one more invoice of `size` bytes may be kept. `seller` is the row as it is under its lock.

    Raises InvoiceStorageFull or TooManyInvoices.
    """
    quota_mb = _limit(seller.invoice_quota_mb, settings.INVOICE_QUOTA_MB)
    if quota_mb and seller.invoice_bytes + size > quota_mb * _MB:
        raise InvoiceStorageFull(most_mb=quota_mb)
    most = _limit(seller.invoices_per_day, settings.INVOICES_PER_DAY)
    if most:
        lately = Invoice.objects.filter(seller=seller, received_at__gt=at - _DAY).order_by("-received_at")
        # The last of so many: once it is older than a day, there is room for one.
        received = lately.values_list("received_at", flat=True)[most - 1 : most].first()
        if received is not None:
            raise TooManyInvoices(most=most, retry_after=math.ceil((received + _DAY - at).total_seconds()))


def _limit(own: int | None, default: int) -> int:
    """The seller's own limit, else the installation's; 0 is none."""
    return default if own is None else own
