"""E-mails to the receivers of orders about their statuses, for sellers who have switched them on.

They say what the receiver's page says, with the link to it.
"""

import logging
from datetime import datetime, timedelta
from typing import Any

from django.db import transaction
from django.db.models import QuerySet
from django.utils import translation

from common.accounts import Environment
from common.mail import outbox
from common.mail.models import Kind, Message, MessageState
from integration import words
from integration.lifecycle import Reason, Status
from integration.models import Order, Seller, StatusLog
from integration.receivers.models import MAILED, ReceiverMail, ReceiverMailStop
from integration.receivers.order_state import OrderState

_log = logging.getLogger(__name__)
# An order does not say which language its receiver reads.
_LANGUAGE = "pt-br"
# An e-mail that could be sent only later says what is no longer true, and so does one about what happened before.
LIFETIME = timedelta(hours=24)
_DAY = timedelta(hours=24)
# In 24 hours.
MOST_OF_SELLER, MOST_OF_ADDRESS = 5_000, 20


def record(order: Order, entry: StatusLog, *, before: Status, at: datetime) -> None:
    """Record the e-mail about an entry of the status log, in its transaction, which has locked the order.

    `before`: the order's status before. Nothing is recorded about statuses other than MAILED, a test order, one that is
    anonymised, has no address or whose receiver wants none, for a seller that is suspended or has sent too many, and
    without a mail server. Earlier e-mails about the order that wait still are not sent, whatever the new status is.
    """
    withdraw(order.receiver_mails.all())  # what they say is not true any more
    status = _told(before, Status(entry.status))
    address = order.receiver.get("email") or ""
    if (
        status is None
        or order.environment != Environment.LIVE
        or order.forgotten_at is not None
        or order.seller.is_suspended
        or entry.occurred_at < at - LIFETIME
        or not outbox.is_configured()
        or not outbox.is_address(address)
        or order.receiver_mails.filter(status=status).exists()
        or is_stopped(order)
        or not _is_within_limits(order.seller, outbox.clean_address(address), at=at)
    ):
        return
    message = outbox.record(
        kind=Kind.ORDER,
        recipient=address,
        template="order_status",
        context=_context(order, entry, status),
        language=_LANGUAGE,
        at=at,
        lifetime=LIFETIME,
        unsubscribe=order.tracking_url,
    )
    ReceiverMail.objects.create(
        seller=order.seller, order=order, status=status.value, message=message.pk, created_at=at
    )


def _told(before: Status, now: Status) -> Status | None:
    """The status that the receiver is told of, one of MAILED; None for nothing."""
    if now is Status.IN_TRANSIT and before is Status.PENDING:  # carriers miss the scan of the collection
        return Status.COLLECTED
    return now if now in MAILED else None


def _context(order: Order, entry: StatusLog, status: Status) -> dict[str, Any]:
    shop = outbox.plain(order.seller.name)
    with translation.override(_LANGUAGE):
        reason = str(words.REASONS[Reason(entry.reason_code)]) if entry.reason_code else ""
    return {
        "status": status.value,
        "state": OrderState(order, shop=shop),
        "shop": shop,
        "code": order.code,
        "reason": reason,
        "promised_on": order.promised_on,
        "link": outbox.Link(order.tracking_url),
    }


def _is_within_limits(seller: Seller, address: str, *, at: datetime) -> bool:
    """Whether the seller, and whoever mails to this address, may send one more."""
    of_seller = ReceiverMail.objects.filter(seller=seller, created_at__gt=at - _DAY).order_by("-created_at")
    to_address = Message.objects.filter(recipient=address, created_at__gt=at - _DAY, kind=Kind.ORDER)
    # The last one that is allowed: if it exists, there are too many.
    full = of_seller[MOST_OF_SELLER - 1 : MOST_OF_SELLER].exists()
    if full or to_address[MOST_OF_ADDRESS - 1 : MOST_OF_ADDRESS].exists():
        _log.warning("a receiver of seller %s gets no e-mail: there were too many in 24 hours", seller.reference)
        return False
    return True


def is_stopped(order: Order) -> bool:
    """Whether the receiver wants no further e-mails about the order."""
    return ReceiverMailStop.objects.filter(pk=order.pk).exists()


@transaction.atomic
def stop(*, order: Order, at: datetime) -> None:
    """Send no further e-mails about this order, those included that wait. Idempotent."""
    # A move that has not seen this waits, or this waits for its e-mail.
    Order.objects.select_for_update(no_key=True).get(pk=order.pk)
    ReceiverMailStop.objects.get_or_create(pk=order.pk, defaults={"stopped_at": at})
    withdraw(order.receiver_mails.all())


@transaction.atomic
def withdraw(mails: QuerySet[ReceiverMail]) -> None:
    """Delete those of these e-mails that wait to be sent. Their statuses may be told again."""
    waiting = Message.objects.filter(pk__in=mails.values("message"), state=MessageState.WAITING)
    if keys := list(waiting.order_by("pk").select_for_update().values_list("pk", flat=True)):
        mails.filter(message__in=keys).delete()
        Message.objects.filter(pk__in=keys).delete()


def forget(orders: list[int]) -> None:
    """Delete the e-mails about these orders, with what is known of them."""
    mails = ReceiverMail.objects.filter(order__in=orders)
    Message.objects.filter(pk__in=mails.values("message")).delete()
    mails.delete()
    ReceiverMailStop.objects.filter(pk__in=orders).delete()
