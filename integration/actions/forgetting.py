"""Anonymising orders and invoices: by their age, or the orders of one person.

Statuses, costs, items, codes and the city stay. Of an invoice what was read from it stays, the file does not.
"""

from datetime import date, datetime, timedelta
from functools import partial

from django.conf import settings
from django.db import connection, transaction
from django.db.models import Q, QuerySet
from django.db.models.functions import Length
from django.utils import timezone

from common.accounts import Environment
from common.brazil.phones import with_phone
from common.postgresql.batches import work_on
from common.postgresql.forgetting import forgetting
from integration import lifecycle
from integration.invoices.models import Invoice
from integration.models import Order, Seller, WebhookAttempt, compact_document
from integration.receivers import mails as receiver_mails

_BATCH = 500
_MOST_BATCHES = 20  # of one run of the task, which takes a process of the workers meanwhile
_CPF_LENGTH = 11
_PHONES = ("phone", "cellphone")

_FORGET_ORDERS = """
UPDATE integration_order SET receiver_name = '', receiver_document = '', forgotten_at = %s,
    receiver = jsonb_build_object('address', jsonb_strip_nulls(jsonb_build_object(
        'city', receiver->'address'->'city', 'state', receiver->'address'->'state')))
WHERE id = ANY(%s) AND forgotten_at IS NULL
"""
# What a carrier wrote: why an order was not delivered, and where it was.
_FORGET_TEXTS = """
UPDATE integration_statuslog SET reason = '', place = '' WHERE order_id = ANY(%s) AND (reason, place) <> ('', '')
"""
# In the sequence in which replays lock events, so that neither waits for the other.
_FORGET_TEXTS_IN_EVENTS = """
WITH locked AS (
    SELECT id FROM integration_webhookevent
    WHERE order_id = ANY(%s) AND jsonb_typeof(body::jsonb->'reason') = 'object'
    ORDER BY id FOR NO KEY UPDATE
)
UPDATE integration_webhookevent event
SET body = jsonb_set(jsonb_set(event.body::jsonb, '{reason,text}', 'null'), '{reason,place}', 'null')::text
FROM locked WHERE event.id = locked.id
"""


def forget_old_orders(*, at: datetime) -> None:
    """Anonymise orders created FORGET_ORDER_DAYS ago, whatever their status."""
    if not settings.FORGET_ORDER_DAYS:
        return
    before = at - timedelta(days=settings.FORGET_ORDER_DAYS)
    due = Order.objects.filter(created_at__lt=before, forgotten_at=None).order_by("created_at")
    failed = set[int]()
    for _number in range(_MOST_BATCHES):
        known = len(failed)
        if not _forget(due, at=at, failed=failed) and len(failed) == known:
            return


def forget_old_invoices(*, at: datetime) -> None:
    """Delete the files of invoices that were received more than FORGET_INVOICE_YEARS full years ago."""
    if not settings.FORGET_INVOICE_YEARS:
        return
    due = Invoice.objects.filter(received_at__lt=_first_kept(at), forgotten_at=None).order_by("received_at")
    keys, work, failed = due.values_list("pk", flat=True), partial(_delete_files, at=at), set[int]()
    for _number in range(_MOST_BATCHES):
        known = len(failed)
        count = work_on(keys, work, most=_BATCH, failed=failed, doing="delete the file of invoice")
        if not count and len(failed) == known:
            return


def _delete_files(keys: list[int], *, at: datetime) -> None:
    with forgetting():
        rows = Invoice.objects.filter(pk__in=keys)
        rows.alias(digits=Length("issuer_document")).filter(digits=_CPF_LENGTH).update(issuer_document="")
        rows.update(raw=b"", recipient_document="", forgotten_at=at)


def orders_of(*, document: str = "", phone: str = "", until: datetime) -> QuerySet[Order]:
    """The orders whose receiver has this document, or this number, created at `until` or earlier."""
    orders = Order.objects.filter(created_at__lte=until, forgotten_at=None)
    if document:
        # Every seller and environment, because the index begins with them.
        sellers = list(Seller.objects.values_list("pk", flat=True))
        return orders.filter(
            seller__in=sellers, environment__in=Environment.values, receiver_document=compact_document(document)
        )
    keys = [
        with_phone(orders.filter(receiver__has_key=name), f"receiver__{name}", phone).values("pk") for name in _PHONES
    ]
    return Order.objects.filter(Q(pk__in=keys[0]) | Q(pk__in=keys[1]))


def is_closed(*, at: datetime) -> Q:
    """The condition that an order has ended, or is so old that its seller does not report it."""
    return Q(status__in=lifecycle.CLOSED) | Q(created_at__lt=at - lifecycle.ENDS_AFTER)


def forget_orders_of(
    *, document: str = "", phone: str = "", until: datetime, at: datetime, failed: set[int] | None = None
) -> int:
    """Anonymise one batch of the closed orders of this person. Returns how many there were. `failed`: see `work_on`."""
    closed = orders_of(document=document, phone=phone, until=until).filter(is_closed(at=at))
    return _forget(closed, at=at, failed=failed)


def kept_until(invoice: Invoice) -> date | None:
    """The last day on which the file of an invoice is kept, or None without such a day."""
    years = settings.FORGET_INVOICE_YEARS
    return date(timezone.localtime(invoice.received_at).year + years, 12, 31) if years else None


def _first_kept(at: datetime) -> datetime:
    """The beginning of the oldest year whose invoices are kept."""
    year = timezone.localtime(at).year - settings.FORGET_INVOICE_YEARS
    return timezone.make_aware(datetime(year, 1, 1))  # noqa: DTZ001  # in the time zone of the installation


def _forget(orders: QuerySet[Order], *, at: datetime, failed: set[int] | None) -> int:
    with transaction.atomic():
        # A change of the status meanwhile waits, and finds the order anonymised.
        due = orders.select_for_update(of=("self",), no_key=True).values_list("pk", flat=True)
        return work_on(due, partial(_anonymise, at=at), most=_BATCH, failed=failed, doing="anonymise the order")


def _anonymise(keys: list[int], *, at: datetime) -> None:
    with forgetting(), connection.cursor() as cursor:
        cursor.execute(_FORGET_ORDERS, [at, keys])
        cursor.execute(_FORGET_TEXTS, [keys])
        cursor.execute(_FORGET_TEXTS_IN_EVENTS, [keys])
        # A server may have answered with what it knows of the receiver.
        WebhookAttempt.objects.filter(event__order__in=keys).exclude(response_start="").update(response_start="")
        receiver_mails.forget(keys)
