"""Opening a seller with its companies, suspending it and lifting the suspension."""

import logging
from collections.abc import Sequence
from datetime import datetime

from django.core.exceptions import ValidationError
from django.db import transaction

from common.suspension import LONGEST_REASON
from integration.errors import CompanyTaken, InvalidDocument, InvalidReason
from integration.models import Company, Seller, compact_document

_log = logging.getLogger(__name__)


@transaction.atomic
def open_(*, name: str, documents: Sequence[str]) -> Seller:
    """A new seller with a company for each document.

    Raises InvalidDocument or CompanyTaken; then nothing is written.
    """
    seller = Seller.objects.create(name=name)
    for document in documents:
        _register(seller, document)
    return seller


def suspend(*, seller: Seller, reason: str, by: str, at: datetime) -> bool:
    """Refuse the seller's keys and issue none from now on. Keys, orders and invoices stay as they are.

    Returns False, and changes nothing, for a seller that is suspended already. Raises InvalidReason for an empty
    reason and for one that its column cannot hold.
    """
    reason = reason.strip()
    if not reason or len(reason) > LONGEST_REASON or "\0" in reason:
        raise InvalidReason
    state = {"suspended_at": at, "suspended_by": by, "suspension_reason": reason}
    suspended = Seller.objects.filter(pk=seller.pk, suspended_at=None).update(**state) == 1
    if suspended:
        _log.info("seller %s suspended by %s: %r", seller.reference, by, reason)
    return suspended


def lift_suspension(*, seller: Seller, by: str) -> bool:
    """Let the seller work again with the keys that it had. False for a seller that is not suspended."""
    state = {"suspended_at": None, "suspended_by": "", "suspension_reason": ""}
    lifted = Seller.objects.filter(pk=seller.pk, suspended_at__isnull=False).update(**state) == 1
    if lifted:
        _log.info("suspension of seller %s lifted by %s", seller.reference, by)
    return lifted


def _register(seller: Seller, document: str) -> None:
    company = Company(seller=seller, document=compact_document(document))
    try:
        company.clean_fields()
    except ValidationError as error:
        raise InvalidDocument(f"'{document}' is neither a CNPJ nor a CPF with right check digits.") from error
    if Company.objects.filter(document=company.document).exists():
        raise CompanyTaken(f"The company {company.document} is registered already.")
    company.save()
