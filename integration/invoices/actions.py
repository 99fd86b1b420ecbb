"""Receiving invoices, linking them to their orders, and taking links back.

Finding what to link, for a new invoice as for a new order, needs the seller's lock (`Seller.locked`): an order and an
invoice that are written at the same time would not be linked otherwise, because neither transaction sees the other's
rows.
"""

import math
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import StrEnum
from itertools import groupby
from operator import itemgetter
from typing import Any

from django.conf import settings
from django.db import connection, transaction
from django.db.models import Exists, OuterRef, Q, QuerySet, Value
from django.db.models.expressions import RawSQL

from common.accounts import Environment
from common.fields import composed, spellings
from common.measures import to_the_centavo
from integration.errors import (
    InvalidInvoice,
    InvoiceStorageFull,
    InvoiceUnreferenced,
    OrderNotFound,
    TooManyInvoices,
    VoidInvoice,
)
from integration.invoices import nfe
from integration.invoices.models import Invoice, InvoiceChange, InvoiceLink, InvoiceReference, LinkReason
from integration.invoices.nfe import Nfe, NfeFile
from integration.models import Company, Order, SearchCode, Seller
from integration.models.order import (
    CUT_REFERENCE,
    NUMBER_SIGN,
    beginning,
    compact_code,
    leaves_out_sign,
    meant_by,
    only_meant,
    references_to,
)

_DAY = timedelta(hours=24)
_MB = 1024 * 1024  # like Django's filesizeformat
# Of one access key, in all of its files. A file has one for each item, and one for the purchase.
_MOST_REFERENCES = 2_000
# Orders whose codes begin with the same cut reference. Which of more is meant cannot be said.
_MOST_ALIKE = 10
_COMPARED = ("seller_id", "environment", "code", "invoice_key", "invoice_data", "cost", "receiver_document")
_OF_EACH = """
    SELECT alike.* FROM unnest(%%s::text[]) AS reference (value) CROSS JOIN LATERAL (%s) alike ORDER BY alike.code
"""
# The codes of an invoice by which tracking finds orders, unless they are the orders' own or those of another invoice.
_FORGET_CODES = """
    DELETE FROM integration_searchcode code USING integration_order o
    WHERE o.id = ANY(%(orders)s) AND code.order_id = o.id AND (
        (code.kind = 'invoice_key' AND code.value = %(key)s AND o.invoice_key <> %(key)s)
        OR (code.kind = 'invoice_number' AND code.value = %(number)s
            AND o.invoice_data->>'number' IS DISTINCT FROM %(number)s
            AND NOT EXISTS (
                SELECT FROM integration_invoicelink link JOIN integration_invoice other ON other.id = link.invoice_id
                WHERE link.order_id = o.id AND other.number = %(number)s
            ))
    )
"""
# Those of an order that it does not name any more, and no invoice of it has.
_FORGET_FORMER_CODES = """
    DELETE FROM integration_searchcode code USING integration_order o
    WHERE o.id = %(order)s AND code.order_id = o.id AND (
        (code.kind = 'invoice_key' AND code.value <> o.invoice_key AND NOT EXISTS (
            SELECT FROM integration_invoicelink link JOIN integration_invoice invoice ON invoice.id = link.invoice_id
            WHERE link.order_id = o.id AND invoice.access_key = code.value))
        OR (code.kind = 'invoice_number' AND code.value IS DISTINCT FROM o.invoice_data->>'number' AND NOT EXISTS (
            SELECT FROM integration_invoicelink link JOIN integration_invoice invoice ON invoice.id = link.invoice_id
            WHERE link.order_id = o.id AND invoice.number = code.value))
    )
"""
# Invoices with one reference that may be cut, or leave a number sign out, that are looked at for an order.
_MOST_DOUBTFUL = 20
_LONGEST_NAMED = 100
_MOST_CANDIDATES = 3


class DoubtCode(StrEnum):
    """What is doubtful about an invoice, or about the order that names one, that is accepted."""

    SEVERAL_INVOICES = "several_invoices"  # the file has more than one
    OTHER_INVOICE_STORED = "other_invoice_stored"  # an earlier file of it has another number, series, value or date
    FOREIGN_ISSUER = "foreign_issuer"  # none of the seller's companies has issued it
    CONSUMER_INVOICE = "consumer_invoice"  # an NFC-e
    OTHER_MODEL = "other_model"  # neither an NF-e, nor an NFC-e, nor a DC-e
    INVALID_ACCESS_KEY = "invalid_access_key"  # its check digit is wrong
    TEST_INVOICE = "test_invoice"  # of the tax office's test environment, with a live key
    VOID_INVOICE = "void_invoice"  # the tax office has denied or cancelled it
    REJECTED_INVOICE = "rejected_invoice"  # the tax office has rejected it
    UNCONFIRMED_INVOICE = "unconfirmed_invoice"  # it has no protocol
    RETURN_INVOICE = "return_invoice"  # of goods that come back or in
    UNMATCHED_REFERENCE = "unmatched_reference"  # no order has a reference's `orderId` yet
    # Orders begin with a cut reference, or one has a number sign that it leaves out: it is not sure which is meant.
    UNCERTAIN_REFERENCE = "uncertain_reference"
    DIFFERENT_VALUE = "different_value"  # a linked order states another value of this invoice
    DIFFERENT_INVOICE_KEY = "different_invoice_key"  # a linked order names another invoice


@dataclass(frozen=True)
class Doubt:
    """`about`: the document, key, reference or order that the doubt is about, if it is about one.

    `candidates`: the codes of the orders that an uncertain reference may mean, some of them if there are many.
    """

    code: DoubtCode
    about: str = ""
    candidates: tuple[str, ...] = ()


def receive(
    *,
    seller: Seller,
    environment: str,
    raw: bytes,
    by: str,
    at: datetime,
    order: Order | None = None,
    on_doubts: Callable[[list[Doubt]], None] = lambda _doubts: None,
) -> list[Invoice]:
    """Store the invoices of a file and link the orders they cover; orders created later are linked when created.

    One for which there is no order is linked to `order`, if that is given. One that the tax office has denied or
    cancelled is stored and covers no order.

    Of an access key that the seller has sent before, whatever the quotas are: a file in which the tax office says more
    counts from now on, and orders that only this file names are linked too. The file of a cancellation alone makes the
    invoice that it names void.

    `on_doubts` is called with what is doubtful about the invoices before anything is committed; what it raises undoes
    all of it. Raises AccountSuspended, InvalidInvoice, InvoiceUnreferenced (without `order`), InvoiceTooLarge,
    InvoiceStorageFull, TooManyInvoices, or OrderNotFound for an `order` of another seller or environment, and then
    writes nothing.
    """
    if order is not None and (order.seller_id, order.environment) != (seller.pk, environment):
        raise OrderNotFound
    file = nfe.read_file(raw)
    with transaction.atomic():
        locked = seller.locked()
        locked.check_active()
        doubts = [Doubt(DoubtCode.SEVERAL_INVOICES, str(len(file.notes)))] if len(file.notes) > 1 else []
        if file.cancelled:
            received = _cancel(locked, environment, file, by=by, at=at)
            doubts.append(Doubt(DoubtCode.VOID_INVOICE))
        else:
            received = []
            for note in file.notes:
                locked = seller.locked() if received else locked  # with the bytes of the one before
                invoice, found = _receive(locked, environment, note, raw, order=order, by=by, at=at)
                received.append(invoice)
                doubts += found
        on_doubts(doubts)
    return received


def _cancel(seller: Seller, environment: str, file: NfeFile, *, by: str, at: datetime) -> list[Invoice]:
    """Make void what the file of a cancellation names. Raises InvalidInvoice for a note that is not stored."""
    if file.is_test and environment == Environment.LIVE:
        raise InvalidInvoice("O cancelamento é do ambiente de testes da SEFAZ (tpAmb 2); envie-o com a chave de teste")
    own = Invoice.objects.of(seller, environment).filter(access_key__in=file.cancelled)
    stored = {invoice.access_key: invoice for invoice in own.defer("raw")}
    for key in file.cancelled:
        if key not in stored:
            raise InvalidInvoice(f"O arquivo cancela a nota {key}, que não foi enviada. Envie antes o XML da nota")
    for invoice in stored.values():
        _make_void(invoice, protocol=invoice.protocol, reason=LinkReason.VOID, by=by, at=at)
    return [stored[key] for key in file.cancelled]


def _receive(
    seller: Seller, environment: str, note: Nfe, raw: bytes, *, order: Order | None, by: str, at: datetime
) -> tuple[Invoice, list[Doubt]]:
    """Store one note of a file, or take from it what is new. Returns the invoice and the doubts about it."""
    stored = Invoice.objects.of(seller, environment).filter(access_key=note.access_key).defer("raw").first()
    if stored is None:
        invoice, differs = _store(seller, environment, note, raw, order=order, by=by, at=at), False
    else:
        invoice, differs = stored, _update(seller, stored, note, raw, by=by, at=at)
        _add_references(seller, stored, note.references)
    named = _Named()
    if not invoice.is_void:
        named = _named_orders(invoice, references=note.references)
        settled = set() if stored is None else _settled(stored)
        if order is not None and not named.orders and not settled:
            named.orders.append(_NamedOrder(order, LinkReason.BY_HAND))
        new = [each for each in named.orders if each.order.pk not in settled]
        link([(invoice, each.order, each.reason) for each in new], by=by, at=at)
    doubts = [
        *_doubts_of_note(seller, invoice, note, differs=differs),
        *_doubts_of_standing(invoice),
        *_doubts_of_orders(invoice, note, named),
    ]
    return invoice, doubts


def _settled(invoice: Invoice) -> set[int | None]:
    """The orders that are linked, or are so no longer: a further file of the same note changes neither.

    An order that was corrected may be linked again, once it means the invoice again.
    """
    unlinked = invoice.changes.filter(kind=InvoiceChange.Kind.UNLINKED).exclude(reason=LinkReason.CORRECTED)
    return {*invoice.links.values_list("order", flat=True), *unlinked.values_list("order", flat=True)}


def _doubts_of_note(seller: Seller, invoice: Invoice, note: Nfe, *, differs: bool) -> Iterator[Doubt]:
    """What is doubtful about what the file says of the note."""
    issuer = note.issuer_document
    if issuer and not Company.objects.filter(seller=seller, document=issuer).exists():
        yield Doubt(DoubtCode.FOREIGN_ISSUER, issuer)
    if nfe.CONSUMER_INVOICE in note.models:
        yield Doubt(DoubtCode.CONSUMER_INVOICE)
    elif others := note.models.difference(nfe.MODELS):
        yield Doubt(DoubtCode.OTHER_MODEL, min(others))
    if not nfe.is_access_key(note.access_key):
        yield Doubt(DoubtCode.INVALID_ACCESS_KEY, note.access_key)
    if note.is_test and invoice.environment == Environment.LIVE:
        yield Doubt(DoubtCode.TEST_INVOICE)
    if differs:
        yield Doubt(DoubtCode.OTHER_INVOICE_STORED)


def _doubts_of_standing(invoice: Invoice) -> Iterator[Doubt]:
    """What the tax office says of the invoice, and whether its goods leave the seller."""
    if invoice.is_void:
        yield Doubt(DoubtCode.VOID_INVOICE)
        return
    if invoice.is_rejected:
        yield Doubt(DoubtCode.REJECTED_INVOICE, invoice.protocol)
    elif not invoice.protocol:
        yield Doubt(DoubtCode.UNCONFIRMED_INVOICE)
    if invoice.is_return:
        yield Doubt(DoubtCode.RETURN_INVOICE)


def _doubts_of_orders(invoice: Invoice, note: Nfe, named: "_Named") -> Iterator[Doubt]:
    """What is doubtful about the orders that the invoice names."""
    for reference in named.unmatched:
        yield Doubt(DoubtCode.UNMATCHED_REFERENCE, reference[:_LONGEST_NAMED])
    for reference, candidates in named.uncertain.items():
        some = tuple(order.code[:_LONGEST_NAMED] for order in candidates[:_MOST_CANDIDATES])
        yield Doubt(DoubtCode.UNCERTAIN_REFERENCE, reference, some)
    for order in (each.order for each in named.orders):
        code = order.code[:_LONGEST_NAMED]
        value = order.stated_value(note.access_key)
        if None not in (value, note.value) and value != note.value:
            yield Doubt(DoubtCode.DIFFERENT_VALUE, code)
        if order.invoice_key not in ("", note.access_key) and not invoice.is_return:
            yield Doubt(DoubtCode.DIFFERENT_INVOICE_KEY, code)


def uncertain_orders(invoice: Invoice) -> list[Order]:
    """The orders that the uncertain references of an invoice may mean, of which none is linked."""
    if invoice.is_void:
        return []
    references = [reference.value for reference in invoice.references.all()]
    uncertain = _named_orders(invoice, references=references).uncertain
    return [order for orders in uncertain.values() for order in orders]


def link_by_hand(*, invoice: Invoice, order: Order, by: str, at: datetime) -> None:
    """Link an order of the same seller and environment that the invoice does not name. Idempotent.

    Raises OrderNotFound for another order, VoidInvoice for an invoice that was denied or cancelled.
    """
    if (order.seller_id, order.environment) != (invoice.seller_id, invoice.environment):
        raise OrderNotFound
    with transaction.atomic():
        invoice.seller.locked()
        if Invoice.objects.filter(pk=invoice.pk, is_void=True).exists():
            raise VoidInvoice
        if not InvoiceLink.objects.filter(invoice=invoice, order=order).exists():
            link([(invoice, order, LinkReason.BY_HAND)], by=by, at=at)


def unlink_by_hand(*, invoice: Invoice, order: Order, by: str, at: datetime, text: str = "") -> None:
    """Remove the link of an order. Idempotent. `text`: why, at most 255 characters. The same file links it no more."""
    with transaction.atomic():
        invoice.seller.locked()
        _unlink(invoice, invoice.links.filter(order=order), reason=LinkReason.BY_HAND, text=text, by=by, at=at)


def mark_void(*, invoice: Invoice, text: str, by: str, at: datetime) -> None:
    """Make an invoice void whose cancellation only people know of, and remove its links. Idempotent. `text`: why."""
    with transaction.atomic():
        invoice.seller.locked()
        invoice.refresh_from_db(fields=["is_void", "protocol"])
        _make_void(invoice, protocol=invoice.protocol, reason=LinkReason.BY_HAND, text=text, by=by, at=at)


def _make_void(invoice: Invoice, *, protocol: str, reason: LinkReason, by: str, at: datetime, text: str = "") -> None:
    """Void is final. The file stays that of the note."""
    if invoice.is_void:
        return
    invoice.is_void, invoice.protocol = True, protocol
    invoice.save(update_fields=["is_void", "protocol"])
    _unlink(invoice, invoice.links.all(), reason=reason, text=text, by=by, at=at)
    kind = InvoiceChange.Kind.MARKED_VOID
    InvoiceChange.objects.create(invoice=invoice, kind=kind, reason=reason, text=text, by=by, at=at)


def _store(
    seller: Seller, environment: str, note: Nfe, raw: bytes, *, order: Order | None, by: str, at: datetime
) -> Invoice:
    if (
        order is None
        and not note.references
        and not Order.objects.of(seller, environment).filter(invoice_key=note.access_key).exists()
    ):
        raise InvoiceUnreferenced
    _check_storage(seller, environment, size=len(raw))
    _check_number(seller, environment, at=at)
    invoice = Invoice.objects.create(
        seller=seller,
        environment=environment,
        access_key=note.access_key,
        is_void=note.is_void,
        received_at=at,
        received_by=by,
        **_facts(note, raw),
    )
    _keep_references(seller, invoice, note.references)
    return invoice


def _facts(note: Nfe, raw: bytes) -> dict[str, Any]:
    """The columns that the file decides that counts."""
    return {
        "issuer_document": note.issuer_document,
        "recipient_document": note.recipient_document,
        "number": note.number,
        "series": note.series,
        "value": note.value,
        "issued_at": note.issued_at,
        "layout": note.layout,
        "protocol": note.protocol,
        "is_return": note.is_return,
        "raw": raw,
    }


def _update(seller: Seller, stored: Invoice, note: Nfe, raw: bytes, *, by: str, at: datetime) -> bool:
    """Let a further file of a stored note count if the tax office says more in it: void, authorised, rejected.

    Returns whether it does not count and differs in what the note says of itself.
    """
    if note.is_void:
        _make_void(stored, protocol=note.protocol, reason=LinkReason.VOID, by=by, at=at)
        return False
    if not stored.is_void and stored.forgotten_at is None and _rank(note.protocol) > _rank(stored.protocol):
        _check_storage(seller, stored.environment, size=len(raw))
        facts = _facts(note, raw)
        for name, value in facts.items():
            setattr(stored, name, value)
        stored.save(update_fields=list(facts))
        return False
    said = (note.number, note.series, note.value, note.issued_at)
    return said != (stored.number, stored.series, stored.value, stored.issued_at)


def _rank(protocol: str) -> int:
    """How much the tax office says: nothing, that it rejects the note, that it authorises it."""
    return 2 if protocol in nfe.AUTHORISED else int(bool(protocol))


def _add_references(seller: Seller, invoice: Invoice, references: Sequence[str]) -> None:
    """Keep the references that the invoice does not have yet. Raises InvalidInvoice for too many."""
    known = set(invoice.references.values_list("value", flat=True))
    new = [value for value in references if value not in known]
    if new and len(known) + len(new) > _MOST_REFERENCES:
        raise InvalidInvoice(f"Os arquivos desta nota citam mais de {_MOST_REFERENCES} pedidos (xPed)")
    _keep_references(seller, invoice, new)


def _keep_references(seller: Seller, invoice: Invoice, values: Iterable[str]) -> None:
    InvoiceReference.objects.bulk_create(
        InvoiceReference(seller=seller, invoice=invoice, value=value) for value in values
    )


def compact_key(text: str) -> str:
    """An access key as an order may write it, reduced to its 44 characters: no spaces, no prefix `NFe` or `DCe`."""
    return "".join(text.split()).upper().removeprefix("NFE").removeprefix("DCE")


def link(found: Iterable[tuple[Invoice, Order, LinkReason]], *, by: str, at: datetime) -> None:
    """Link what is not linked, and let tracking find each order by the invoice's access key and number.

    Needs the seller's lock.
    """
    found = list(found)
    if not found:
        return
    kind = SearchCode.Kind
    InvoiceLink.objects.bulk_create(
        InvoiceLink(invoice=invoice, order=order, reason=reason, linked_by=by, linked_at=at)
        for invoice, order, reason in found
    )
    InvoiceChange.objects.bulk_create(
        InvoiceChange(invoice=invoice, order=order, kind=InvoiceChange.Kind.LINKED, reason=reason, by=by, at=at)
        for invoice, order, reason in found
    )
    SearchCode.objects.bulk_create(
        [
            SearchCode(seller_id=order.seller_id, environment=order.environment, order=order, kind=which, value=value)
            for invoice, order, _reason in found
            for which, value in ((kind.INVOICE_KEY, invoice.access_key), (kind.INVOICE_NUMBER, invoice.number))
            if value
        ],
        ignore_conflicts=True,
    )


def _unlink(
    invoice: Invoice, links: QuerySet[InvoiceLink], *, reason: LinkReason, by: str, at: datetime, text: str = ""
) -> None:
    """Remove links of an invoice, and what lets tracking find their orders by it."""
    orders = list(links.values_list("order", flat=True))
    if not orders:
        return
    links.filter(order__in=orders).delete()
    unlinked = InvoiceChange.Kind.UNLINKED
    InvoiceChange.objects.bulk_create(
        InvoiceChange(invoice=invoice, order_id=key, kind=unlinked, reason=reason, text=text, by=by, at=at)
        for key in orders
    )
    with connection.cursor() as cursor:
        cursor.execute(_FORGET_CODES, {"orders": orders, "key": invoice.access_key, "number": invoice.number})


@dataclass(frozen=True)
class _NamedOrder:
    order: Order
    reason: LinkReason


@dataclass
class _Named:
    """What an invoice names: orders; references of none; uncertain ones, with the orders that they may mean."""

    orders: list[_NamedOrder] = field(default_factory=list)
    unmatched: list[str] = field(default_factory=list)
    uncertain: dict[str, list[Order]] = field(default_factory=dict)


def _named_orders(invoice: Invoice, *, references: Collection[str]) -> _Named:
    """The seller's orders that an invoice names in `references`, and those that name its access key.

    A reference that is no order's code names the only one that it means (`only_meant`), unless it may be a cut one. If
    it leaves the code's sign out, something else has to agree, as of a cut one: an order `1001` of another shop may be
    still to come.
    """
    orders = Order.objects.of(invoice.seller_id, invoice.environment)
    named, found = _Named(), {}
    spelled = {spelling for value in references for spelling in spellings(value)}
    # By the orders' codes, composed, as the references below.
    in_use = orders.filter(code_reused=False)
    for order in in_use.filter(Q(code__in=spelled) | Q(invoice_key=invoice.access_key)):
        reason = LinkReason.REFERENCE if order.code in spelled else LinkReason.ACCESS_KEY
        found[composed(order.code)] = _NamedOrder(order, reason)
    references = [*dict.fromkeys(map(composed, references))]
    missing = [value for value in references if value not in found]
    cut = [value for value in missing if len(value) == CUT_REFERENCE]
    alike = _alike(invoice.seller_id, invoice.environment, cut) if cut else {}
    whole = [value for value in missing if value not in alike]
    keys = only_meant(invoice.seller_id, invoice.environment, whole) if whole else {}
    by_key = orders.in_bulk(keys.values()) if keys else {}
    for value in missing:
        candidates, reason = alike.get(value, []), LinkReason.CUT_REFERENCE
        if value in keys:
            candidates, reason = [by_key[keys[value]]], LinkReason.REFERENCE
        is_whole = value in keys and not leaves_out_sign(value, candidates[0].code)
        meant = candidates[0] if is_whole else order_that_agrees(invoice, candidates)
        possible = _possible(invoice, candidates)
        if meant is not None:
            found.setdefault(composed(meant.code), _NamedOrder(meant, reason))
        elif possible:
            named.uncertain[value] = possible
        else:
            named.unmatched.append(value)
    named.orders.extend(found.values())
    return named


def order_that_agrees(invoice: Invoice, candidates: Sequence[Order]) -> Order | None:
    """The order that an uncertain reference means, of the `candidates` that it may mean.

    A reference of CUT_REFERENCE characters may mean all orders whose longer codes begin with it: NF-e have no room for
    more, so that systems cut longer codes, and codes of other customers begin the same. One that leaves a number sign
    out may mean an order that is still to come.

    So something else has to agree: the order names the invoice; or the receiver's document is the invoice's recipient,
    of several with the value of the order; or the value alone, where one of the two documents is not known. An order
    that names another invoice is never meant. None: nothing agrees, or more than one order does.
    """
    if len(candidates) > _MOST_ALIKE:
        return None
    possible = _possible(invoice, candidates)
    naming = [order for order in possible if order.invoice_key]
    same = [order for order in possible if _same_receiver(invoice, order)]
    for fitting in (
        naming,
        same,
        [order for order in same if _same_value(invoice, order)],
        [order for order in possible if _same_receiver(invoice, order) is None and _same_value(invoice, order)],
    ):
        if len(fitting) == 1:
            return fitting[0]
        if fitting and fitting is not same:
            return None
    return None


def _possible(invoice: Invoice, candidates: Iterable[Order]) -> list[Order]:
    return [order for order in candidates if order.invoice_key in ("", invoice.access_key)]


def _same_receiver(invoice: Invoice, order: Order) -> bool | None:
    """None where one of the two documents is not known."""
    if not invoice.recipient_document or not order.receiver_document:
        return None
    return invoice.recipient_document == order.receiver_document


def _same_value(invoice: Invoice, order: Order) -> bool:
    stated = order.stated_value(invoice.access_key)
    amounts = [order.cost] if stated is None else [stated, order.cost]
    return bool(invoice.value) and any(to_the_centavo(amount) == invoice.value for amount in amounts)


def _alike(seller_id: int, environment: str, references: Collection[str]) -> dict[str, list[Order]]:
    """The orders whose codes begin with each reference, both composed, one more than _MOST_ALIKE at most."""
    orders = Order.objects.of(seller_id, environment).beginning_with(RawSQL("reference.value", [])).order_by()  # nosec B611  # a constant
    alike = orders.only(*_COMPARED)[: _MOST_ALIKE + 1]
    sql, parameters = alike.query.sql_with_params()
    rows = Order.objects.raw(_OF_EACH % sql, [list(references), *parameters])
    found: dict[str, list[Order]] = {}
    for order in rows:
        found.setdefault(beginning(order.code), []).append(order)
    return found


def match_corrected(order: Order, *, by: str, at: datetime) -> None:
    """Link the invoices that mean an order as it is now, and unlink those that only its former values did.

    Links by its `orderId` and by hand stay, and what was unlinked by hand is not linked again. Tracking finds it by the
    keys and numbers of the invoices that it names now, or that are linked. Needs the seller's lock.
    """
    own = Invoice.objects.of(order.seller_id, order.environment).filter(is_void=False)
    of_seller = InvoiceReference.objects.filter(seller=order.seller_id)
    doubtful = [of_seller.filter(value__in=spellings(beginning(order.code)))]
    if NUMBER_SIGN in order.code:
        meant = references_to(Value(order.code))
        doubtful.append(of_seller.alias(compact=compact_code("value")).filter(compact__in=meant))
    concerned = {
        *own.filter(access_key=order.invoice_key).values_list("pk", flat=True),
        *order.invoice_links.values_list("invoice", flat=True),
    }
    for references in doubtful:
        concerned.update(references.order_by("-invoice").values_list("invoice", flat=True)[:_MOST_DOUBTFUL])
    for invoice in own.filter(pk__in=concerned).defer("raw").prefetch_related("references"):
        _match_again(invoice, order, by=by, at=at)
    with connection.cursor() as cursor:
        cursor.execute(_FORGET_FORMER_CODES, {"order": order.pk})


def give_up(order: int, *, key: str, by: str, at: datetime) -> list[Invoice]:
    """Unlink a cancelled order from what names its code, or `key`, which a new order has now.

    Returns the invoices that name the code. Tracking finds the cancelled one only by those that are still linked. Needs
    the seller's lock.
    """
    by_code = Q(reason__in=[LinkReason.REFERENCE, LinkReason.CUT_REFERENCE])
    links = InvoiceLink.objects.filter(by_code | Q(invoice__access_key=key), order=order)
    given_up = list(links.select_related("invoice").defer("invoice__raw"))
    for each in given_up:
        one = InvoiceLink.objects.filter(pk=each.pk)
        _unlink(each.invoice, one, reason=LinkReason.CORRECTED, by=by, at=at)
    linked, kinds = Invoice.objects.filter(links__order=order), SearchCode.Kind
    codes = SearchCode.objects.filter(order=order)
    codes.filter(kind=kinds.INVOICE_KEY).exclude(value__in=linked.values("access_key")).delete()
    codes.filter(kind=kinds.INVOICE_NUMBER).exclude(value__in=linked.values("number")).delete()
    return [each.invoice for each in given_up if each.reason == LinkReason.REFERENCE]


def _match_again(invoice: Invoice, corrected: Order, *, by: str, at: datetime) -> None:
    named = _named_orders(invoice, references=[each.value for each in invoice.references.all()])
    meant = {each.order.pk for each in named.orders}
    former, others = [], []

    def begins_alike(order: Order) -> bool:
        return beginning(order.code) == beginning(corrected.code)

    for each in invoice.links.select_related("order"):
        is_cut = each.reason == LinkReason.CUT_REFERENCE
        if each.order_id == corrected.pk:
            named_by_key = each.reason == LinkReason.ACCESS_KEY and corrected.invoice_key != invoice.access_key
            # What leaves its number sign out means it only as long as something agrees.
            is_doubtful = is_cut or (each.reason == LinkReason.REFERENCE and NUMBER_SIGN in corrected.code)
            if named_by_key or (is_doubtful and corrected.pk not in meant):
                former.append(each.pk)
        elif is_cut and corrected.pk in meant and each.order_id not in meant and begins_alike(each.order):
            others.append(each.pk)
    _unlink(invoice, invoice.links.filter(pk__in=former), reason=LinkReason.CORRECTED, by=by, at=at)
    _unlink(invoice, invoice.links.filter(pk__in=others), reason=LinkReason.OTHER_ORDER, by=by, at=at)
    settled = _settled(invoice)
    link([(invoice, each.order, each.reason) for each in named.orders if each.order.pk not in settled], by=by, at=at)


@dataclass(frozen=True)
class CutReference:
    """A stored invoice that means a new order by a cut reference, and the orders that it was thought to mean."""

    invoice: Invoice
    others: list[Order]

    def link(self, order: Order, *, is_linked: bool, by: str, at: datetime) -> None:
        """Link the new order, unless it is linked for another reason, and nothing else by this reference."""
        if not is_linked:
            link([(self.invoice, order, LinkReason.CUT_REFERENCE)], by=by, at=at)
        others = self.invoice.links.filter(order__in=self.others, reason=LinkReason.CUT_REFERENCE)
        _unlink(self.invoice, others, reason=LinkReason.OTHER_ORDER, by=by, at=at)


def meaning_by_cut_reference(order: Order, *, among: Collection[int]) -> list[CutReference]:
    """Which of the stored invoices `among`, which have the beginning of a new order's code, mean that order."""
    reference = beginning(order.code)
    alike = _alike(order.seller_id, order.environment, [reference]).get(reference, [])
    if any(composed(each.code) == reference for each in alike):
        return []
    found = Invoice.objects.of(order.seller_id, order.environment).filter(pk__in=among, is_void=False).defer("raw")
    return [CutReference(invoice, alike) for invoice in found if order_that_agrees(invoice, [*alike, order]) is order]


def meaning_by_name(order: Order, naming: Sequence[Invoice]) -> list[Invoice]:
    """Of the stored invoices `naming` a new order those that mean it: all, unless they leave its number sign out.

    With those something else has to agree, as `_named_orders` says.
    """
    if not naming or NUMBER_SIGN not in order.code:
        return [*naming]
    references = InvoiceReference.objects.filter(invoice__in=naming).alias(compact=compact_code("value"))
    whole = {*references.filter(compact=compact_code(Value(order.code))).values_list("invoice", flat=True)}
    read = Invoice.objects.defer("raw").in_bulk([invoice.pk for invoice in naming])
    return [each for each in naming if each.pk in whole or order_that_agrees(read[each.pk], [order]) is order]


def unlink_alike(order: Order, *, named_by: Iterable[Invoice], by: str, at: datetime) -> None:
    """Unlink from the invoices that name a new order exactly the orders that its code meant before (`meant_by`)."""
    invoices = {invoice.pk: invoice for invoice in named_by}
    if not invoices:  # as for most orders, of which building the query below would take a third of the CPU time
        return
    own = InvoiceReference.objects.filter(invoice=OuterRef("invoice"), value__composed=OuterRef("order__code"))
    links = InvoiceLink.objects.filter(invoice__in=invoices, reason=LinkReason.REFERENCE).exclude(order=order)
    links = links.alias(compact=compact_code("order__code")).filter(
        ~Exists(own), compact__in=meant_by(Value(order.code))
    )
    others = links.order_by("invoice").values_list("invoice", "pk")
    for key, found in groupby(others, key=itemgetter(0)):
        linked = invoices[key].links.filter(pk__in=[link for _invoice, link in found])
        _unlink(invoices[key], linked, reason=LinkReason.OTHER_ORDER, by=by, at=at)


def doubts_of_order(order: Order, *, linked: Iterable[Invoice], is_void: bool) -> list[Doubt]:
    """What is doubtful about the invoice that a new order names. `is_void`: it is stored, and void."""
    if not order.invoice_key:
        return []
    if is_void:
        return [Doubt(DoubtCode.VOID_INVOICE)]
    others = [invoice.access_key for invoice in linked if invoice.access_key != order.invoice_key]
    return [Doubt(DoubtCode.DIFFERENT_INVOICE_KEY, others[0])] if others else []


def _check_storage(seller: Seller, environment: str, *, size: int) -> None:
    """Raise InvoiceStorageFull if a file of `size` bytes would be over the seller's quota in the environment.

    `seller` is the locked row (`Seller.locked`), whose byte count no other transaction can change meanwhile.
    """
    quota_mb = _limit(seller.invoice_quota_mb, settings.INVOICE_QUOTA_MB)
    if quota_mb and seller.bytes_in(environment) + size > quota_mb * _MB:
        raise InvoiceStorageFull(most_mb=quota_mb)


def _check_number(seller: Seller, environment: str, *, at: datetime) -> None:
    """Raise TooManyInvoices if a new invoice would be over the seller's quota in the environment."""
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
