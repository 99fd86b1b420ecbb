"""Invoices that a seller uploads by hand: kept by the action of the API, with what is said of them."""

from collections.abc import Iterable

from django.contrib import messages
from django.http import HttpRequest
from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop

from common import clock
from common.actors import actor
from common.brazil import formats
from common.http_requests import is_cut_short
from integration.errors import AccountSuspended, IntegrationError, InvoiceMissing, InvoiceTooLarge
from integration.invoices import actions as invoices
from integration.invoices import nfe
from integration.invoices.actions import Doubt, DoubtCode
from integration.invoices.models import Invoice, InvoiceLink
from integration.models import Order
from panel.base import SellerView

# What is said of an invoice that is kept. Pages show a different value themselves, see `Invoice.differs`.
DOUBTS = {
    DoubtCode.SEVERAL_INVOICES: gettext_noop("The file has %(about)s invoices; all of them were read."),
    DoubtCode.OTHER_INVOICE_STORED: gettext_noop(
        "An earlier file of this access key has another number, series, value or date, and still counts."
    ),
    DoubtCode.FOREIGN_ISSUER: gettext_noop("The issuer, %(about)s, is none of this seller's companies."),
    DoubtCode.CONSUMER_INVOICE: gettext_noop(
        "This is an NFC-e (model 65), which does not accompany goods. An NF-e (model 55) does."
    ),
    DoubtCode.OTHER_MODEL: gettext_noop("The access key is of model %(about)s, which does not accompany goods."),
    DoubtCode.INVALID_ACCESS_KEY: gettext_noop("The check digit of the access key is wrong: %(about)s."),
    DoubtCode.TEST_INVOICE: gettext_noop("This invoice is of the tax office's test environment."),
    DoubtCode.VOID_INVOICE: gettext_noop("This invoice was denied or cancelled, so no order is linked to it."),
    DoubtCode.REJECTED_INVOICE: gettext_noop(
        "The tax office has rejected this invoice (cStat %(about)s). Upload the one that is authorised."
    ),
    DoubtCode.UNCONFIRMED_INVOICE: gettext_noop(
        "The file has no protocol of the tax office. Upload the nfeProc when the invoice is authorised."
    ),
    DoubtCode.RETURN_INVOICE: gettext_noop("This invoice is of a return, and is not printed on labels."),
    DoubtCode.UNMATCHED_REFERENCE: gettext_noop(
        "The invoice names order %(about)s, which does not exist yet. It is linked to it when it arrives."
    ),
    DoubtCode.UNCERTAIN_REFERENCE: gettext_noop(
        "The invoice names %(about)s, which may mean: %(candidates)s. Link the right one by hand."
    ),
    DoubtCode.DIFFERENT_INVOICE_KEY: gettext_noop("Order %(about)s names the access key of another invoice."),
}


def keep_uploaded(request: HttpRequest, page: SellerView, *, order: Order | None = None) -> list[Invoice]:
    """Keep the invoices of the form, and say what became of them. None were if it was refused.

    Raises AccountSuspended.

    `order`: on whose page it was uploaded, see `invoices.receive`.
    """
    doubts: list[Doubt] = []
    try:
        raw = _uploaded(request)
        stored = invoices.receive(
            seller=page.seller,
            environment=page.environment,
            raw=raw,
            by=actor(request),
            at=clock.now(),
            order=order,
            on_doubts=doubts.extend,
        )
    except AccountSuspended:
        raise
    except IntegrationError as error:
        messages.error(request, str(error))
        return []
    say_doubts(request, doubts)
    is_linked = InvoiceLink.objects.filter(invoice__in=stored).exists()
    messages.success(request, _("The invoice is saved and linked.") if is_linked else _("The invoice is saved."))
    return stored


def say_doubts(request: HttpRequest, doubts: Iterable[Doubt]) -> None:
    for doubt in doubts:
        if doubt.code in DOUBTS:
            values = {"about": formats.document(doubt.about), "candidates": ", ".join(doubt.candidates)}
            messages.warning(request, _(DOUBTS[doubt.code]) % values)


def _uploaded(request: HttpRequest) -> bytes:
    """The bytes of the one file. Raises InvoiceMissing or InvoiceTooLarge."""
    if is_cut_short(request, field="nfe", most=nfe.MAX_BYTES):
        raise InvoiceTooLarge
    files = request.FILES.getlist("nfe")
    if len(files) != 1:
        raise InvoiceMissing
    if (files[0].size or 0) > nfe.MAX_BYTES:
        raise InvoiceTooLarge
    raw: bytes = files[0].read()
    return raw
