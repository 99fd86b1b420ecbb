"""Creating sellers with their companies, suspending them and lifting the suspension."""

import logging
from collections.abc import Sequence
from datetime import datetime

from django.core.exceptions import ValidationError
from django.db import transaction

from common.brazil.states import postcode_of
from integration import postcodes
from integration.errors import CompanyTaken, InvalidDocument, OrderNotFound, SellerNotFound
from integration.models import Company, Order, Seller, compact_document
from integration.receivers import mails as receiver_mails
from integration.receivers.models import ReceiverMail

_log = logging.getLogger(__name__)


@transaction.atomic
def open_(*, name: str, documents: Sequence[str], origin: str = "") -> Seller:
    """Create a seller with a company for each document (CNPJ or CPF, with or without mask).

    `origin`: the postcode that parcels of all of them leave from; empty: their orders get no freight. Raises
    InvalidDocument, CompanyTaken or NoCoverage, and then writes nothing.
    """
    if origin:
        postcodes.region(origin)
    postcode = postcode_of(origin)
    seller = Seller.objects.create(name=name)
    for document in documents:
        _register(seller, document, postcode)
    return seller


def find(text: str) -> Seller:
    """The seller with this id or reference. Raises SellerNotFound."""
    is_id = text.isascii() and text.isdigit() and len(text) < len(str(2**63))
    found = Seller.objects.filter(**({"pk": int(text)} if is_id else {"reference": text})).first()
    if found is None:
        raise SellerNotFound(f"No seller has the id or reference '{text}'.")
    return found


def find_order(seller: str, environment: str, code: str) -> Order:
    """The order with this `orderId` of the seller with this id or reference, as `by_code` finds it.

    Raises SellerNotFound or OrderNotFound.
    """
    found = find(seller)
    try:
        return Order.objects.by_code(found, environment, code)
    except OrderNotFound as error:
        raise OrderNotFound(f"The seller {found.reference} has no order '{code}'.") from error


def suspend(*, seller: Seller, reason: str, by: str, at: datetime) -> bool:
    """Refuse the seller's keys from now on, and the issue of new ones. Keys, orders and invoices are not changed.

    E-mails to its receivers that wait are not sent.

    Returns False, and changes nothing, for a seller that is suspended already. Raises InvalidReason.
    """
    suspended = seller.write_suspension(reason=reason, by=by, at=at)
    if suspended:
        _withdraw_receiver_mails(seller, at=at)
        _log.info("seller %s suspended by %s: %r", seller.reference, by, reason.strip())
    return suspended


@transaction.atomic
def set_receiver_mails(*, seller: Seller, are_on: bool, by: str, at: datetime) -> None:
    """Tell the receivers of live orders of their status by e-mail from now on, or no longer, which stops what waits."""
    if Seller.objects.filter(pk=seller.pk).exclude(mails_receivers=are_on).update(mails_receivers=are_on):
        if not are_on:
            _withdraw_receiver_mails(seller, at=at)
        _log.info(
            "e-mails to receivers of seller %s switched %s by %s", seller.reference, "on" if are_on else "off", by
        )


def _withdraw_receiver_mails(seller: Seller, *, at: datetime) -> None:
    receiver_mails.withdraw(ReceiverMail.objects.filter(seller=seller, created_at__gt=at - receiver_mails.LIFETIME))


def lift_suspension(*, seller: Seller, by: str) -> bool:
    """Accept the seller's keys again. Returns False for a seller that is not suspended."""
    lifted = seller.clear_suspension()
    if lifted:
        _log.info("suspension of seller %s lifted by %s", seller.reference, by)
    return lifted


def _register(seller: Seller, document: str, postcode: str) -> None:
    company = Company(seller=seller, document=compact_document(document), postcode=postcode)
    try:
        company.clean_fields()
    except ValidationError as error:
        raise InvalidDocument(f"'{document}' is neither a CNPJ nor a CPF with right check digits.") from error
    if Company.objects.filter(document=company.document).exists():
        raise CompanyTaken(f"The company {company.document} is registered already.")
    company.save()
