"""Creating and correcting orders, and changing their status, which is written in one transaction with its log entry."""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any, NotRequired, TypedDict

from django.contrib.postgres.expressions import ArraySubquery
from django.contrib.postgres.fields import ArrayField
from django.core.serializers.json import DjangoJSONEncoder
from django.db import transaction
from django.db.models import Exists, F, Func, OuterRef, Q, QuerySet, Subquery, TextField
from django.db.models.functions import Cast, Coalesce
from django.db.models.lookups import Exact
from django.utils import timezone

from common.accounts import Environment
from common.actors import is_person
from common.brazil import business_days
from common.brazil.states import region_of
from common.fields import any_of, composed, composed_column, decomposed_column, spellings
from common.observability import log_context
from common.postgresql import prepared
from common.postgresql.compiled_queries import CompiledQuery, Parameter, insert_together, loaded, row_of
from common.webhooks.models import ENDPOINT_COLUMNS
from common.workers import wake_up
from integration import lifecycle, task_names, tracking_codes
from integration.errors import (
    CompanyNotFound,
    CorrectedMeanwhile,
    DuplicateOrder,
    ForeignCompany,
    InvalidDocument,
    InvalidStatusReport,
    NoCoverage,
    OrderForgotten,
    OrderNotPending,
    TooManySimulations,
)
from integration.freight import calculation as freight
from integration.freight import quotes
from integration.freight.calculation import ORDER_SERVICES, Price
from integration.invoices import actions as invoices
from integration.invoices.actions import Doubt
from integration.invoices.models import Invoice, InvoiceReference, LinkReason
from integration.lifecycle import Reason, Status
from integration.models import (
    Assignment,
    CarrierRule,
    Company,
    Correction,
    ManifestEntry,
    Order,
    SearchCode,
    Seller,
    Simulation,
    StatusLog,
    WebhookEndpoint,
    compact_document,
    is_document,
)
from integration.models.order import LONGEST_PLACE, LONGEST_REASON, MOVED, beginning, compact_code, references_to
from integration.receivers import mails as receiver_mails
from integration.simulation_steps import ACTOR
from integration.webhooks import outbox

# How far back the moment of a move may be, and how far a carrier's clock may be ahead.
_OLDEST_REPORT, _CLOCK_ERROR = timedelta(days=30), timedelta(minutes=2)
# A move without a moment that says what an entry has said is one of the same thing for so long: parcels are scanned
# twice, and a second attempt takes longer.
_SAME_THING = timedelta(hours=1)
# Who assigns a new order to a carrier, in its history.
BY_RULE = "rule of assignment"
# A larger freight is one of sides or a value that are mistakes.
_MOST_CENTAVOS = 10**11
# Invoices with one cut reference that are looked at for a new order.
_MOST_BEGINNING = 20
_SERVICES = {name: service for service, name in ORDER_SERVICES.items()}


class Item(TypedDict):
    """`dimensions`: three integers and a weight, `10x20x30,1.5`. `price` in BRL."""

    description: str
    dimensions: str
    quantity: int
    price: Decimal


class Address(TypedDict):
    """The receiver's address, with the specification's names."""

    state: str
    city: str
    zipCode: str
    street: str
    streetNumber: str
    neighborhood: str
    complement: NotRequired[str | None]


class Receiver(TypedDict):
    """Keys that the seller did not send are absent."""

    name: str
    address: Address
    phone: NotRequired[str | None]
    cellphone: NotRequired[str | None]
    email: NotRequired[str | None]
    document: NotRequired[str | None]


class InvoiceData(TypedDict, total=False):
    """The invoice that an order names. `issueDate` is `YYYY-MM-DD HH:MM:SS`, `value` in BRL."""

    series: str | None
    number: str | None
    issueDate: str | None
    value: Decimal | None
    key: str | None


@dataclass(frozen=True)
class Details:
    """What is reported of a change of status beside the status. `happened_at`: None is the moment of the change."""

    reason_code: str = ""
    reason: str = ""
    place: str = ""
    happened_at: datetime | None = None

    def fitting(self, status: Status) -> "Details":
        """As it is recorded of this status: a reason in words alone has the code OTHER. Raises InvalidStatusReport."""
        details = self
        if status in lifecycle.WITH_REASON and not self.reason_code:
            if not self.reason.strip():
                raise InvalidStatusReport("code_missing", "code", codes=", ".join(_REASON_CODES))
            details = replace(self, reason_code=Reason.OTHER.value)
        details._check(status)  # noqa: SLF001  # its own
        return details

    def repeats(self, entry: StatusLog, *, at: datetime) -> bool:
        """Whether it says nothing else than an entry of the same status has said. What it leaves out is nothing else.

        `at`: when it is reported, which is its moment if it has none.
        """
        said = (
            (self.reason_code, entry.reason_code),
            (self.reason, entry.reason),
            (self.place, entry.place),
        )
        if any(new and new != old for new, old in said):
            return False
        if self.happened_at is None:
            return at - entry.created_at < _SAME_THING
        return self.happened_at == entry.occurred_at

    def _check(self, status: Status) -> None:
        if self.reason_code and self.reason_code not in _REASON_CODES:
            raise InvalidStatusReport("unknown_code", "code", codes=", ".join(_REASON_CODES))
        if (self.reason_code or self.reason) and status not in lifecycle.WITH_REASON:
            name = "code" if self.reason_code else "reason"
            raise InvalidStatusReport("no_reason_here", name, statuses=" e ".join(lifecycle.WITH_REASON))
        if self.reason_code == Reason.OTHER and not self.reason.strip():
            raise InvalidStatusReport("text_missing", "reason")
        for name, text, most in (("reason", self.reason, LONGEST_REASON), ("place", self.place, LONGEST_PLACE)):
            if len(text) > most:
                raise InvalidStatusReport("too_long", name, most=most)
            if "\0" in text:
                raise InvalidStatusReport("nul", name)


NOTHING_MORE = Details()
# Of an order: its price, why it has none, or None without the postcode of its company.
Freight = Price | NoCoverage | None
_REASON_CODES = [reason.value for reason in Reason]


@dataclass(frozen=True)
class NewOrder:
    """A valid order create request. An empty `tracking_code` is generated. `cost` in BRL."""

    company_document: str
    code: str
    tracking_code: str
    service: str
    cost: Decimal
    items: list[Item]
    receiver: Receiver
    invoice: InvoiceData | None
    volumes: int = 1

    @classmethod
    def of(cls, order: Order) -> "NewOrder":
        """What an order with its company says now, as if it had been sent so."""
        sent: Any = order.invoice_data
        value = (sent or {}).get("value")
        invoice: Any = sent if value is None else {**sent, "value": Decimal(str(value))}
        items: Any = [{**item, "price": Decimal(str(item["price"]))} for item in order.items]
        return cls(
            company_document=order.company.document,
            code=order.code,
            tracking_code=order.tracking_code,
            service=order.service,
            cost=order.cost,
            items=items,
            receiver=order.receiver,
            invoice=invoice,
            volumes=order.freight_volumes,
        )

    @property
    def columns(self) -> dict[str, Any]:
        """Those columns of the order that can be corrected while it waits for collection."""
        return {
            "service": self.service,
            "cost": self.cost,
            "items": self.items,
            "stated_volumes": self.volumes,
            "receiver_name": self.receiver["name"],
            "receiver_document": compact_document(self.receiver.get("document") or ""),
            "receiver": self.receiver,
            "invoice_data": self.invoice,
            "invoice_key": self.invoice_key,
        }

    @property
    def invoice_key(self) -> str:
        return invoices.compact_key((self.invoice or {}).get("key") or "")

    @property
    def invoice_number(self) -> str:
        return (self.invoice or {}).get("number") or ""

    @property
    def postcode(self) -> str:
        """The receiver's, as it was sent."""
        return self.receiver["address"]["zipCode"]

    @property
    def declared(self) -> Decimal:
        """The value in BRL that its freight insures."""
        value = (self.invoice or {}).get("value")
        return self.cost if value is None else value


def create(
    *,
    seller: Seller,
    environment: str,
    payload: NewOrder,
    by: str,
    at: datetime,
    simulation_speed: float | None = None,
    on_doubts: Callable[[list[Doubt]], None] = lambda _doubts: None,
    on_freight: Callable[[Freight], None] = lambda _freight: None,
) -> Order:
    """Create an order, and link the invoices that name it and were received before it.

    With a `simulation_speed` (1 to 120; in the sandbox only) a simulated carrier moves it so fast. `on_doubts` is
    called with what is doubtful about the order's invoice, `on_freight` with its freight, before anything is committed;
    what they raise undoes all of it.

    Raises CompanyNotFound, InvalidDocument, ForeignCompany, DuplicateOrder or TooManySimulations, and then writes
    nothing.
    """
    document = compact_document(payload.company_document)
    with transaction.atomic():
        # Serialises with invoices and further orders of this seller. Otherwise an invoice received at the same time
        # could miss this order while this order misses the invoice, and the check for duplicates would be a race.
        numbers = prepared.execute(_LOCK, [not payload.tracking_code, document, seller.pk]).fetchone()
        if numbers is None:
            if Company.objects.filter(document=document).exists():
                raise ForeignCompany
            raise CompanyNotFound if is_document(document) else InvalidDocument
        company_id, origin, order_id, tracking_number = numbers
        tracking_code, facts = _checked(seller, environment, payload, tracking_number)
        naming = [Invoice(pk=int(pk), access_key=key, number=number) for pk, key, number in facts.naming]
        if facts.with_code is not None or facts.with_tracking_code is not None:
            naming += _give_up_codes(facts, payload, naming, by=by, at=at)
        quoted = freight_of(payload, origin)
        on_freight(quoted)
        price = quoted if isinstance(quoted, Price) else None
        order = Order(
            pk=order_id,
            seller_id=seller.pk,
            environment=environment,
            company_id=company_id,
            code=payload.code,
            tracking_code=tracking_code,
            **payload.columns,
            freight_centavos=price.amount if price else None,
            freight_days=price.deadline if price else None,
            created_at=at,
            created_by=by,
            updated_at=at,
            carrier_id=facts.carrier,
        )
        naming = invoices.meaning_by_name(order, naming)
        keys = {invoice.access_key for invoice in naming}
        assigned = []
        if facts.carrier:
            assigned = [Assignment(order=order, carrier_id=facts.carrier, assigned_at=at, assigned_by=BY_RULE)]
        simulation = [] if simulation_speed is None else Simulation.first_rows(order, speed=simulation_speed, at=at)
        if simulation:
            if Simulation.objects.is_full(seller.pk):
                raise TooManySimulations
            wake_up.send_on_commit(task_names.ADVANCE_SIMULATIONS)
        meaning = invoices.meaning_by_cut_reference(order, among=facts.beginning) if facts.beginning else []
        named = [*naming, *(each.invoice for each in meaning if each.invoice.access_key not in keys)]
        entry = _log_entry(order, Status.PENDING, via_api=not is_person(by), by=by, at=at)
        told = outbox.rows_of_first(
            order=order,
            entry=entry,
            found=facts.told,
            invoices=[invoice.access_key for invoice in named],
            at=at,
        )
        log_context.note_change("order", order.pk, at)
        insert_together(order, entry, *_search_codes(order, payload), *simulation, *assigned, *told)
        invoices.link([(invoice, order, _reason(invoice, order)) for invoice in naming], by=by, at=at)
        invoices.unlink_alike(order, named_by=naming, by=by, at=at)
        for each in meaning:
            each.link(order, is_linked=each.invoice.access_key in keys, by=by, at=at)
        on_doubts(invoices.doubts_of_order(order, linked=named, is_void=facts.is_void))
    return order


def _may_be_used_again(key: int) -> bool:
    """Whether the codes of an order may be those of a new one: it was cancelled before it was collected."""
    is_cancelled = Order.objects.filter(pk=key, status=Status.CANCELLED).exists()
    never_left = ~Q(status__in=[Status.PENDING, Status.CANCELLED])
    return is_cancelled and not StatusLog.objects.filter(never_left, order=key).exists()


def _give_up_codes(facts: Any, payload: NewOrder, naming: Iterable[Invoice], *, by: str, at: datetime) -> list[Invoice]:
    """Let the cancelled orders whose codes a new order has be found by them no more, nor by the invoices it gets.

    What remains are their shipping ids, and the receiver's document. Returns the invoices that name the new one, beside
    those that are found to be `naming` it.
    """
    found: list[Invoice] = []
    if (key := facts.with_code) is not None:
        Order.objects.filter(pk=key).update(code_reused=True)
        SearchCode.objects.filter(order=key, kind=SearchCode.Kind.ORDER).delete()
        found = invoices.give_up(key, key=payload.invoice_key, by=by, at=at)
    if (key := facts.with_tracking_code) is not None:
        Order.objects.filter(pk=key).update(tracking_code_reused=True)
        SearchCode.objects.filter(order=key, kind=SearchCode.Kind.TRACKING_CODE).delete()
    known = {invoice.pk for invoice in naming}
    return [invoice for invoice in found if invoice.pk not in known]


def _reason(invoice: Invoice, order: Order) -> LinkReason:
    return LinkReason.ACCESS_KEY if invoice.access_key == order.invoice_key else LinkReason.REFERENCE


@transaction.atomic
def correct(
    *,
    order: Order,
    changes: Mapping[str, Any],
    by: str,
    at: datetime,
    seen: int | None = None,
    on_doubts: Callable[[list[Doubt]], None] = lambda _doubts: None,
    on_freight: Callable[[Freight], None] = lambda _freight: None,
) -> None:
    """Replace what was sent of an order that waits for collection, and record by whom and when it was done.

    `changes`: valid values by names of NewOrder's fields, of what can be corrected (`NewOrder.columns`). Freight and
    codes follow, and so do links of invoices, but those made or removed by hand, and a carrier that a rule has chosen.
    Its log gets no entry, so that there is no event. If everything is so already, nothing is written. `seen`: how many
    corrections the order had when a person saw it. For `on_doubts` and `on_freight` see `create`.

    Raises OrderNotPending, OrderForgotten or CorrectedMeanwhile.
    """
    # Its lock first, as whoever links invoices takes it.
    order.seller.locked()
    locked = Order.objects.select_related("company").select_for_update(of=("self",), no_key=True).get(pk=order.pk)
    if locked.status != Status.PENDING:
        raise OrderNotPending(order=locked.code, status=locked.status)
    if locked.forgotten_at is not None:
        raise OrderForgotten(OrderForgotten.of_correction, order=locked.code)
    if seen is not None and locked.corrections.count() != seen:
        raise CorrectedMeanwhile
    before = NewOrder.of(locked)
    after = replace(before, **changes)
    quoted = freight_of(after, locked.company.postcode)
    on_freight(quoted)
    price = quoted if isinstance(quoted, Price) else None
    # Of an order from before it could say them, they stay unsaid until they are sent.
    volumes = changes.get("volumes", locked.stated_volumes)
    columns = {
        **after.columns,
        "stated_volumes": volumes,
        "freight_centavos": price.amount if price else None,
        "freight_days": price.deadline if price else None,
    }
    paths = _differing("", _as_sent(before, locked.stated_volumes), _as_sent(after, volumes))
    if corrected := sorted(paths):
        for name, value in columns.items():
            setattr(locked, name, value)
        locked.save(update_fields=list(columns))
        Correction.objects.create(order=locked, fields=corrected, corrected_at=at, corrected_by=by)
        SearchCode.objects.bulk_create(_search_codes(locked, after), ignore_conflicts=True)
        invoices.match_corrected(locked, by=by, at=at)
        _assign_again(locked, before, after, at=at)
    if "invoice" in changes:
        linked = [link.invoice for link in locked.invoice_links.select_related("invoice").defer("invoice__raw")]
        void = Invoice.objects.of(locked.seller_id, locked.environment).filter(
            access_key=after.invoice_key, is_void=True
        )
        on_doubts(invoices.doubts_of_order(locked, linked=linked, is_void=void.exists()))


def _as_sent(order: NewOrder, volumes: int | None) -> dict[str, Any]:
    """What can be corrected, by the keys of a body."""
    sent = {
        "receiver": order.receiver,
        "items": order.items,
        "volumes": volumes,
        "service": order.service,
        "invoice": order.invoice,
    }
    # As it is stored, so that what is read and what was sent can be compared.
    return {**json.loads(json.dumps(sent, cls=DjangoJSONEncoder)), "orderCost": order.cost}


def _differing(path: str, before: Any, after: Any) -> Iterator[str]:
    """The dotted paths of the keys whose values differ; of lists as a whole."""
    if isinstance(before, dict) and isinstance(after, dict):
        for key in before.keys() | after.keys():
            yield from _differing(f"{path}.{key}" if path else key, before.get(key), after.get(key))
    elif before != after:
        yield path


def _assign_again(order: Order, before: NewOrder, after: NewOrder, *, at: datetime) -> None:
    """Assign a live order by the rules, if they look at what was corrected and nobody has assigned it."""
    conditions = _conditions(after)
    if order.environment != Environment.LIVE or conditions == _conditions(before):
        return
    if order.assignments.exclude(assigned_by=BY_RULE).exists():
        return
    rule = _rules(**conditions).first()
    key = None if rule is None else rule.carrier_id
    if key != order.carrier_id:
        Order.objects.filter(pk=order.pk).update(carrier=key)
        Assignment.objects.create(order=order, carrier_id=key, assigned_at=at, assigned_by=BY_RULE)


def cancel(*, order: Order, by: str, at: datetime) -> Order:
    """Cancel an order for its seller. Raises AlreadyDelivered or AlreadyCancelled."""
    return move(order=order, to=Status.CANCELLED, via_api=True, by=by, at=at)


@transaction.atomic
def move(
    *, order: Order, to: Status, by: str, at: datetime, via_api: bool = False, details: Details = NOTHING_MORE
) -> Order:
    """Change the status to `to` and log it with what is reported of it. No other function writes a status.

    A status of a carrier may be that of now, if the details say something else than each of its entries. The first
    one after the collection sets the promised day of an order with a freight. The texts of the details are not kept
    of an order that is anonymised.

    Raises MoveRefused if `lifecycle.TABLE` does not allow it, InvalidStatusReport if the details do not fit it.
    """
    locked = Order.objects.select_related("seller").select_for_update(of=("self",), no_key=True).get(pk=order.pk)
    before = Status(locked.status)
    details = check_move(before, to, details, locked.status_log.filter(status=to), at=at)
    locked.status = to.value
    if locked.forgotten_at is not None:
        details = replace(details, reason="", place="")  # nothing would make them forgotten later
    entry = _log_entry(locked, to, via_api=via_api, by=by, at=at, details=details)
    happened_at = entry.occurred_at
    if details.happened_at is not None:
        check_moment(happened_at, last=locked.status_log.latest("pk").occurred_at, at=at)
        # A clock that is ahead must not put the next entry before this one.
        entry.happened_at = happened_at = min(happened_at, at)
    if to is Status.DELIVERED and before is not to:
        locked.delivered_at = happened_at
    # Carriers miss the scan of the collection, so that any other status of a parcel under way counts as it.
    if locked.promised_on is None and locked.freight_days is not None and to is not Status.CANCELLED:
        locked.promised_on = business_days.after(timezone.localdate(happened_at), locked.freight_days)
    entry.save(force_insert=True)
    log_context.note_change("order", locked.pk, at)
    outbox.record(order=locked, at=at)
    locked.save(update_fields=MOVED)
    if locked.environment == Environment.SANDBOX and by != ACTOR:  # the carrier leaves what somebody else moves
        Simulation.objects.filter(pk=locked.pk).delete()
    if locked.seller.mails_receivers and before is not to:  # they are told of each status once
        receiver_mails.record(locked, entry, before=before, at=at)
    if to is Status.CANCELLED:
        # It is not handed over. A closed manifest keeps it: there it was.
        ManifestEntry.objects.filter(order=locked, manifest__closed_at=None).delete()
    return locked


def check_move(before: Status, to: Status, details: Details, entries: Iterable[StatusLog], *, at: datetime) -> Details:
    """What is recorded of a move. `entries`: those of the order's log with the status `to`.

    Raises MoveRefused or InvalidStatusReport, as `move` does.
    """
    is_again = before is to and to in lifecycle.BY_CARRIER
    if not is_again:
        lifecycle.move(before, to)
    fitting = details.fitting(to)
    if is_again and any(fitting.repeats(entry, at=at) for entry in entries):
        lifecycle.move(before, to)
    return fitting


def check_moment(happened_at: datetime, *, last: datetime, at: datetime) -> None:
    """Raises InvalidStatusReport unless it is in the 30 days before `at`, and not before `last`, the entry before.

    A moment in whole seconds, as files and clocks of readers have it, may be in the second of the entry before.
    """
    if not at - _OLDEST_REPORT <= happened_at <= at + _CLOCK_ERROR:
        raise InvalidStatusReport("moment_out_of_bounds", "occurredAt")
    if happened_at < (last if happened_at.microsecond else last.replace(microsecond=0)):
        raise InvalidStatusReport("moment_before_the_last", "occurredAt", last=last.isoformat())


def _checked(seller: Seller, environment: str, payload: NewOrder, number: int | None) -> tuple[str, Any]:
    """The tracking code, the payload's or one made of `number` that the seller has not used, and the row of `_facts`.

    Its `naming` are the invoices to link: keys, access keys and numbers. `beginning`: those that may mean the order by
    a cut reference. `is_void`: the invoice that the order names is stored and void. Its `carrier` is that of the rules
    of assignment, which hold for live orders.

    Raises DuplicateOrder if the seller has an order with the payload's `orderId` or tracking code, unless it was
    cancelled before it was collected: `with_code` and `with_tracking_code` are the keys of such orders. Needs the
    seller's lock. The unique constraints alone would do, but for a violated one PostgreSQL logs the statement, which
    holds personal data.
    """
    conditions = _conditions(payload)
    while True:
        code = payload.tracking_code if number is None else tracking_codes.encode(number)
        (found,) = _FACTS.all(
            seller=seller.pk,
            environment=environment,
            code=payload.code,
            codes=spellings(payload.code),
            tracking_code=code,
            cuts=spellings(cut) if (cut := beginning(payload.code)) != composed(payload.code) else [],
            invoice_key=payload.invoice_key,
            **conditions,
        )
        earlier = {"orderId": found.with_code, "trackingCode": found.with_tracking_code if number is None else None}
        if taken := [field for field, key in earlier.items() if key is not None and not _may_be_used_again(key)]:
            raise DuplicateOrder(*taken)
        if number is None or found.with_tracking_code is None:  # a generated one is that of no other order
            found.told = [loaded(WebhookEndpoint, ENDPOINT_COLUMNS, row) for row in found.told]
            if environment != Environment.LIVE:
                found.carrier = None
            return code, found
        (number,) = prepared.execute("SELECT nextval('integration_tracking_code')", []).fetchone()


def _conditions(payload: NewOrder) -> dict[str, str]:
    """What rules of assignment look at."""
    region = region_of(payload.postcode)
    return {
        "state": region.state if region else "",
        "region": region.kind.value if region else "",
        "service": payload.service,
    }


def holder_of_codes(*, seller: Seller, environment: str, payload: NewOrder) -> Order | None:
    """The order because of which `create` would raise DuplicateOrder now."""
    own = Order.objects.of(seller, environment).order_by()
    for name, code in (("code", payload.code), ("tracking_code", payload.tracking_code)):
        held = own.filter(any_of(name, spellings(code)), **{f"{name}_reused": False}) if code else own.none()
        if (found := held.first()) and not _may_be_used_again(found.pk):
            return found
    return None


def freight_of(payload: NewOrder, origin: str) -> Freight:
    """The quote of this moment for the order's service and volumes."""
    if not origin:
        return None
    try:
        return _quoted(payload, origin)
    except NoCoverage as reason:
        return reason


def _quoted(payload: NewOrder, origin: str) -> Price:
    """Raises NoCoverage or TooHeavy."""
    service = _SERVICES.get(payload.service)
    if service is None:
        raise NoCoverage(f"O serviço {payload.service} não tem tarifa de frete")
    package = freight.package_of(payload.items, declared=payload.declared, volumes=payload.volumes)
    one = quotes.of_service(origin=origin, destination=payload.postcode, service=service, package=package)
    if one.amount * payload.volumes > _MOST_CENTAVOS:
        raise NoCoverage("As medidas ou o valor são grandes demais para um frete")
    return Price(amount=one.amount * payload.volumes, deadline=one.deadline)


def _log_entry(
    order: Order, status: Status, *, via_api: bool, by: str, at: datetime, details: Details = NOTHING_MORE
) -> StatusLog:
    return StatusLog(
        order=order,
        company_id=order.company_id,
        status=status.value,
        via_api=via_api,
        by=by,
        created_at=at,
        updated_at=at,
        reason_code=details.reason_code,
        reason=details.reason,
        place=details.place,
        happened_at=details.happened_at,
    )


def _search_codes(order: Order, payload: NewOrder) -> list[SearchCode]:
    """The unsaved codes by which tracking finds an order that says this."""
    kind = SearchCode.Kind
    values = {
        kind.TRACKING_CODE: order.tracking_code,
        kind.ORDER: order.code,
        kind.SHIPPING: str(order.pk),
        kind.INVOICE_KEY: order.invoice_key,
        kind.INVOICE_NUMBER: payload.invoice_number,
    }
    return [
        SearchCode(
            seller_id=order.seller_id, environment=order.environment, order_id=order.pk, kind=kind.value, value=value
        )
        for kind, value in values.items()
        if value
    ]


# Locks the seller as `Seller.locked` does, if it has the company, and takes the numbers of a new order.
_LOCK = """
    SELECT
        company.id,
        company.postcode,
        nextval(pg_get_serial_sequence('integration_order', 'id')),
        CASE WHEN %s THEN nextval('integration_tracking_code') END
    FROM integration_company company JOIN integration_seller seller ON seller.id = company.seller_id
    WHERE company.document = %s AND seller.id = %s
    FOR NO KEY UPDATE OF seller
"""


def _facts() -> QuerySet[Seller]:
    seller, environment, key = Parameter("seller"), Parameter("environment"), Parameter("invoice_key")
    orders = Order.objects.of(seller, environment).order_by()
    conditions = {name: Parameter(name) for name in ("state", "region", "service")}
    return (
        Seller.objects.filter(pk=seller)
        .only("pk")
        .annotate(
            with_code=_holding(orders, "code"),
            with_tracking_code=_holding(orders, "tracking_code"),
            naming=ArraySubquery(_naming(seller, environment).values("texts")),
            beginning=ArraySubquery(_beginning(seller)),
            is_void=Exists(Invoice.objects.of(seller, environment).filter(access_key=key, is_void=True)),
            told=ArraySubquery(WebhookEndpoint.objects.of(seller, environment).values_list(row_of(ENDPOINT_COLUMNS))),
            carrier=Subquery(_rules(**conditions).values("carrier")[:1]),
        )
        .order_by()
    )


def _holding(orders: QuerySet[Order], name: str) -> Coalesce:
    """The key of the order that has a code in use, which is a Parameter, in one of its spellings (`spellings`).

    Each is looked for by itself, unless it is the code. For a list, whose length it does not know, PostgreSQL would
    rather read all orders of the seller where sellers have few on average.
    """
    code, held = Parameter(name), orders.filter(**{f"{name}_reused": False})
    forms = (composed_column(code), decomposed_column(code))
    found = [held.filter(**{name: code}), *(held.filter(~Exact(form, code), **{name: form}) for form in forms)]
    return Coalesce(*(Subquery(each.values("pk")[:1]) for each in found))


def _rules(**conditions: Any) -> QuerySet[CarrierRule]:
    """The rules of assignment that hold, the one that decides first. As specified in `CarrierRule`.

    `conditions`: the `state`, `region` and `service` of an order, or expressions of them.
    """
    rules = CarrierRule.objects.filter(carrier__active=True)
    for name, value in conditions.items():
        rules = rules.filter(**{f"{name}__in": ["", value]})
    return rules.order_by("-state", "-region", "-service")


def _beginning(seller: Parameter) -> QuerySet[Any]:
    """The newest of the seller's invoices that have the beginning of the order's code as a cut reference."""
    references = InvoiceReference.objects.filter(any_of("value", Parameter("cuts")), seller=seller)
    # By an expression, so that PostgreSQL does not read references in this sequence until some have the value.
    return references.order_by((F("invoice") + 0).desc()).values("invoice")[:_MOST_BEGINNING]


def _naming_alike(seller: Parameter, environment: Parameter) -> QuerySet[InvoiceReference]:
    """The references that mean the order's code (`references_to`), and no other order's; none that may be a cut one.

    As `invoices.receive` finds the order of such a reference.
    """
    orders = Order.objects.of(seller, environment)
    codes = SearchCode.objects.filter(seller=seller, environment=environment, kind=SearchCode.Kind.ORDER)
    references = InvoiceReference.objects.filter(seller=seller).alias(compact=compact_code("value"))
    return references.filter(
        # Of the reference, so that PostgreSQL looks for them only if there is one: a plan that was made while the table
        # was small reads all of the seller's codes.
        ~Exists(codes.meant_by(OuterRef("value")).order_by()),
        ~Exists(orders.beginning_with(composed_column(OuterRef("value")))),
        compact__in=references_to(Parameter("code")),
    ).order_by()


def _naming(seller: Parameter, environment: Parameter) -> QuerySet[Any]:
    """The seller's invoices, but void ones, that name the order or whose access key it names, with their `texts`."""
    named = InvoiceReference.objects.filter(any_of("value", Parameter("codes")), seller=seller).order_by()
    texts: Func = Func(
        Cast("pk", TextField()),
        "access_key",
        "number",
        template="ARRAY[%(expressions)s]",
        output_field=ArrayField(TextField()),
    )
    found = Invoice.objects.filter(
        any_of("pk", ArraySubquery(named.values("invoice")))
        | any_of("pk", ArraySubquery(_naming_alike(seller, environment).values("invoice")))
        | Q(seller=seller, access_key=Parameter("invoice_key")),  # no invoice has an empty access key
        environment=environment,
        is_void=False,
    )
    return found.annotate(texts=texts).order_by()


_FACTS: CompiledQuery[Any] = CompiledQuery(_facts)
