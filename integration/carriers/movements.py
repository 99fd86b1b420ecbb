"""Events of parcels that a carrier, a person who scans, or a file reports: each changes the status of one order."""

from collections import defaultdict
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, NamedTuple

from django.db import connection, transaction
from django.db.models import QuerySet
from django.utils.translation import gettext as _

from common.brazil.states import region_of
from common.postgresql import prepared
from integration import lifecycle, refusals, words
from integration.actions import orders as order_actions
from integration.actions.orders import Details
from integration.errors import (
    MOST_NAMED,
    AmbiguousTrackingCode,
    EventIdReused,
    IntegrationError,
    MoveRefused,
    UnknownTrackingCode,
)
from integration.invoices import nfe
from integration.invoices.actions import compact_key
from integration.lifecycle import Status
from integration.models import MovementRecord, Order, StatusLog
from integration.models.order import RECEIVERS_PAGES, compact_sql, key_of_token

MOST_EVENTS = 100  # of a call
KEPT = timedelta(days=40)  # longer than the moment of an event may be back
MOVED, ALREADY = "moved", "already"
_MESSAGES = {MOVED: "Registrado: %(status)s", ALREADY: "O pedido já estava em %(status)s"}


@dataclass(frozen=True)
class Movement:
    """An event as it was reported. `seller`: the reference of the order's seller, or empty. `status`: as it was sent.

    The database can store the texts: they hold neither NUL nor surrogates. An `event_id` has 1 to 100 characters.
    `content`: a digest of what was sent under it; empty if an id of the source always stands for the same.
    """

    event_id: str
    tracking_code: str
    status: Status
    seller: str = ""
    reason_code: str = ""
    reason: str = ""
    place: str = ""
    happened_at: datetime | None = None
    content: bytes = b""

    @property
    def details(self) -> Details:
        return Details(self.reason_code, self.reason, self.place, self.happened_at)


@dataclass(frozen=True)
class Outcome:
    """What has become of an event. `code`: MOVED, ALREADY, or the code of the refusal.

    `message` is the API's, in Portuguese; `text` is in the reader's language. `was_done_before`: the same event was
    recorded by an earlier call, whose answer this is.
    """

    event_id: str
    status: Status
    order: Order | None = None
    was_already: bool = False
    was_done_before: bool = False
    refusal: IntegrationError | None = None

    @property
    def succeeded(self) -> bool:
        return self.refusal is None

    @property
    def code(self) -> str:
        if self.refusal is not None:
            return self.refusal.code
        return ALREADY if self.was_already else MOVED

    @property
    def message(self) -> str:
        return str(self.refusal) if self.refusal is not None else _MESSAGES[self.code] % {"status": self.status}

    @property
    def text(self) -> str:
        if self.refusal is not None:
            return refusals.refusal(self.refusal)
        text = _("Already: %(status)s") if self.was_already else _("Now: %(status)s")
        return text % {"status": words.STATUSES[self.status]}

    @property
    def sellers(self) -> Sequence[tuple[str, str]]:
        """Reference and name of the sellers to choose from, by name, if the tracking code is ambiguous."""
        return self.refusal.sellers if isinstance(self.refusal, AmbiguousTrackingCode) else ()


def record(
    movements: Sequence[Movement],
    *,
    orders: QuerySet[Order],
    source: str,
    by: str,
    at: datetime,
    most_sellers: int = MOST_NAMED,
) -> list[Outcome]:
    """Move the orders that the events are about, one event after the other, and say what has become of each.

    `orders`: those that the source may move, at the moment of this call. `source` identifies a carrier or a person
    (`Carrier.source`), whose events have ids of their own: one that was recorded within KEPT changes nothing again. A
    refused one has had no effect, and may be sent again under its id.

    Each event is a transaction of its own, so that none undoes another; must not be called within a transaction. An
    order of whose status an entry says the same already is left as it is, which is a success.

    `most_sellers`: how many there are to choose from, at most, if a tracking code is ambiguous.
    """
    found = find(movements, orders, most_sellers=most_sellers)
    ids = [movement.event_id for movement in movements]
    records = {record.event_id: record for record in MovementRecord.objects.filter(source=source, event_id__in=ids)}
    outcomes = []
    for movement in movements:
        record = records.get(movement.event_id)
        is_new = record is None
        try:
            order: Order | None
            if record is None:
                order = found.order_of(movement)
                record, is_new = _record(movement, order, source=source, by=by, at=at)
                records[movement.event_id] = record
            else:
                # The answer to a repeated event stays what it was, also when the order is another carrier's since.
                order = found.order_if_any(movement)
            _check_same(record, movement, order)
        except IntegrationError as refusal:
            outcomes.append(Outcome(movement.event_id, movement.status, refusal=refusal))
        else:
            outcomes.append(
                Outcome(movement.event_id, movement.status, order, record.was_already, was_done_before=not is_new)
            )
    return outcomes


def _check_same(record: MovementRecord, movement: Movement, order: Order | None) -> None:
    """Raises EventIdReused if the record is of another event than this one."""
    content = bytes(record.content)
    is_other = movement.content != content and movement.content and content
    if is_other or record.status != movement.status or (order and order.pk != record.order_id):
        raise EventIdReused(event_id=movement.event_id)


def foresee(movements: Sequence[Movement], *, orders: QuerySet[Order], source: str, at: datetime) -> list[Outcome]:
    """What `record` would answer now. Writes nothing, so that it waits for nobody. The ids of the events differ."""
    found = find(movements, orders)
    ids = [movement.event_id for movement in movements]
    records = {record.event_id: record for record in MovementRecord.objects.filter(source=source, event_id__in=ids)}
    logs: dict[int, list[StatusLog]] = defaultdict(list)
    for entry in StatusLog.objects.filter(order__in=found.orders).order_by("pk"):
        logs[entry.order_id].append(entry)
    outcomes = []
    for movement in movements:
        try:
            order = found.order_of(movement)
            record = records.get(movement.event_id)
            was_already = record.was_already if record else not _foreseen(movement, order, logs[order.pk], at=at)
        except IntegrationError as refusal:
            outcomes.append(Outcome(movement.event_id, movement.status, refusal=refusal))
        else:
            outcomes.append(
                Outcome(movement.event_id, movement.status, order, was_already, was_done_before=record is not None)
            )
    return outcomes


def _foreseen(movement: Movement, order: Order, log: list[StatusLog], *, at: datetime) -> bool:
    """Whether an event would write an entry, which is then added to the log.

    Raises MoveRefused or InvalidStatusReport.
    """
    last, status = log[-1], movement.status
    _check_target(movement, last.status)
    alike = [entry for entry in log if entry.status == status]
    try:
        details = order_actions.check_move(Status(last.status), status, movement.details, alike, at=at)
    except MoveRefused as refusal:
        if refusal.values["current"] != status:
            raise
        return False
    if movement.happened_at is not None:
        order_actions.check_moment(movement.happened_at, last=last.occurred_at, at=at)
    log.append(StatusLog(order=order, status=status.value, created_at=at, **vars(details)))
    return True


def _check_target(movement: Movement, current: str) -> None:
    """Raises MoveRefused unless it is a status that is reported."""
    if movement.status not in lifecycle.BY_CARRIER:
        raise MoveRefused(current=current, target=movement.status, possible=", ".join(lifecycle.BY_CARRIER))


def _record(movement: Movement, order: Order, *, source: str, by: str, at: datetime) -> tuple[MovementRecord, bool]:
    """The record of an event, and whether it is new. Raises MoveRefused or InvalidStatusReport."""
    refused: IntegrationError | None = None
    try:
        new = _move(movement, order, source=source, by=by, at=at)
    except IntegrationError as error:
        new, refused = None, error
    if new is not None:
        return new, True
    # Another call may have recorded it since, and also what makes it impossible now.
    known = MovementRecord.objects.filter(source=source, event_id=movement.event_id).first()
    if known is not None:
        return known, False
    assert refused is not None  # noqa: S101  # nosec B101  # otherwise a record was in the way
    raise refused


def _move(movement: Movement, order: Order, *, source: str, by: str, at: datetime) -> MovementRecord | None:
    """Move the order and record the event. None, and nothing is written, if another call has recorded it meanwhile.

    Raises MoveRefused or InvalidStatusReport.
    """
    _check_target(movement, order.status)
    record = MovementRecord(
        source=source,
        event_id=movement.event_id,
        order=order,
        status=movement.status.value,
        was_already=False,
        recorded_at=at,
        content=movement.content,
    )
    with transaction.atomic(durable=True):
        try:
            order_actions.move(order=order, to=movement.status, by=by, at=at, details=movement.details)
        except MoveRefused as refusal:
            if refusal.values["current"] != movement.status:
                raise
            record.was_already = True
        # Last, because a call with the same event waits here for the end of this one.
        if not _inserted(record):
            transaction.set_rollback(True)
            return None
    order.status = record.status
    return record


_INSERT = """
    INSERT INTO integration_movementrecord (source, event_id, order_id, status, was_already, recorded_at, content)
    VALUES (%s, %s, %s, %s, %s, %s, %s)
    ON CONFLICT (source, event_id) DO NOTHING RETURNING id
"""


def _inserted(record: MovementRecord) -> bool:
    """Whether the record was inserted. False: there is one of this event, also one that was being written."""
    values = [
        record.source, record.event_id, record.order_id, record.status, record.was_already, record.recorded_at,
        record.content,
    ]  # fmt: skip  # in the order of the columns
    return prepared.execute(_INSERT, values).fetchone() is not None


class _Candidate(NamedTuple):
    """An order with the tracking code of an event: equal, or equal when compact."""

    order: int
    is_equal: bool
    reference: str
    name: str


# The comparison of `tracking.find`. Few rows are read for each code, however many are equal to it when compact, because
# the index has them in the sequence of their codes. One that is equal exists once of each seller.
_FIND = """
    SELECT sent.code, sent.seller, alike.id, alike.is_equal, seller.reference, seller.name
    FROM unnest(%s::text[], %s::text[]) AS sent (code, seller)
    CROSS JOIN LATERAL (
        (SELECT id, seller_id, TRUE AS is_equal FROM ({orders}) o
         WHERE {of_order} = {of_event}
           AND o.tracking_code = sent.code AND {of_seller} ORDER BY o.tracking_code, o.seller_id LIMIT {most})
        UNION ALL
        (SELECT id, seller_id, FALSE FROM ({orders}) o
         WHERE {of_order} = {of_event}
           AND o.tracking_code <> sent.code AND {of_seller} ORDER BY o.tracking_code, o.seller_id LIMIT {most})
    ) alike
    JOIN integration_seller seller ON seller.id = alike.seller_id
"""
_OF_SELLER = (
    "(sent.seller = '' OR o.seller_id = (SELECT id FROM integration_seller WHERE reference = UPPER(sent.seller)))"
)


# The orders that have a scanned access key, two at most for each.
_OF_INVOICE = """
    SELECT sent.code, sent.seller, array_agg(alike.id)
    FROM unnest(%s::text[], %s::text[], %s::text[]) AS sent (code, seller, key)
    CROSS JOIN LATERAL (
        SELECT o.id FROM integration_searchcode c JOIN ({orders}) o ON o.id = c.order_id
        WHERE c.kind = 'invoice_key' AND c.value = sent.key AND {of_seller} LIMIT 2
    ) alike
    GROUP BY sent.code, sent.seller
"""
_Sent = tuple[str, str]  # a code as it was sent, and the reference of its seller, or an empty text


class Found:
    """The orders that events are about, each once, with their sellers."""

    def __init__(
        self,
        candidates: dict[_Sent, list[_Candidate]],
        others: dict[_Sent, int | str],
        orders: dict[int, Order],
        most_sellers: int,
    ) -> None:
        self._candidates, self._others, self._orders = candidates, others, orders
        self._most_sellers = most_sellers
        self.orders = list(orders.values())

    def order_of(self, movement: Movement) -> Order:
        """Raises UnknownTrackingCode or AmbiguousTrackingCode."""
        candidates = self._candidates.get((movement.tracking_code, movement.seller), [])
        if not candidates:
            return self._named_by_another_code(movement)
        if len(candidates) > 1:
            sellers = dict.fromkeys((each.reference, each.name) for each in candidates)
            if len(sellers) == 1:  # alike, but none is the code: naming the seller would not help
                raise UnknownTrackingCode(code=movement.tracking_code)
            by_name = sorted(sellers, key=lambda seller: (seller[1].casefold(), seller[0]))
            raise AmbiguousTrackingCode(
                code=movement.tracking_code,
                sellers=by_name[: self._most_sellers],
                has_more=len(candidates) > self._most_sellers,
            )
        return self._orders[candidates[0].order]

    def order_if_any(self, movement: Movement) -> Order | None:
        with suppress(UnknownTrackingCode, AmbiguousTrackingCode):
            return self.order_of(movement)
        return None

    def _named_by_another_code(self, movement: Movement) -> Order:
        other = self._others.get((movement.tracking_code, movement.seller))
        order = self._orders.get(other) if isinstance(other, int) else None
        if order is None:
            fault = other if isinstance(other, str) else "address_read" if other else "unknown_tracking_code"
            raise UnknownTrackingCode(code=movement.tracking_code, fault=fault)
        return order


def find(movements: Sequence[Movement], orders: QuerySet[Order], *, most_sellers: int = MOST_NAMED) -> Found:
    """Those of `orders` that the events are about, by two statements.

    An order whose tracking code is equal goes before one whose code is equal without regard to case, spaces, dots and
    dashes. A code that is none may be another one of an order's label: the address in its QR code, or the access key of
    its invoice, which takes a statement more.
    """
    orders = orders.filter(tracking_code_reused=False)
    sent = sorted({(movement.tracking_code, movement.seller) for movement in movements})
    # A code of nothing but spaces, dots and dashes is none.
    wanted = [(code, seller) for code, seller in sent if code.strip(" .-")]
    if not wanted:
        return Found({}, {}, {}, most_sellers)
    candidates: dict[_Sent, list[_Candidate]] = {}
    for code, seller, *columns in _rows(_FIND, [*zip(*wanted, strict=True)], orders, most=most_sellers + 1):
        candidates.setdefault((code, seller), []).append(_Candidate(*columns))
    for sent_code, alike in candidates.items():
        candidates[sent_code] = [each for each in alike if each.is_equal] or alike
    single = [alike[0].order for alike in candidates.values() if len(alike) == 1]
    others = _others([each for each in wanted if each not in candidates], orders)
    keys = [*single, *(other for other in others.values() if isinstance(other, int))]
    return Found(candidates, others, orders.select_related("seller").in_bulk(keys), most_sellers)


def _others(sent: Sequence[_Sent], orders: QuerySet[Order]) -> dict[_Sent, int | str]:
    """What codes are that are no tracking codes: the key of an order, or a key of `UnknownTrackingCode.MESSAGES`."""
    found: dict[_Sent, int | str] = {}
    keys: dict[_Sent, str] = {}
    for code, seller in sent:
        if "://" in code:
            found[code, seller] = key_of_token(code.rpartition(RECEIVERS_PAGES)[2]) or "address_read"
        elif nfe.ACCESS_KEY.fullmatch(key := compact_key(code)):
            found[code, seller], keys[code, seller] = "unknown_invoice_key", key
        elif region_of(code):
            found[code, seller] = "postcode_read"
    if keys:
        columns = [*zip(*keys, strict=True), [*keys.values()]]
        for code, seller, named in _rows(_OF_INVOICE, columns, orders):
            found[code, seller] = named[0] if len(named) == 1 else "ambiguous_invoice_key"
    return found


def _rows(statement: str, columns: Sequence[Sequence[str]], orders: QuerySet[Order], **values: int) -> list[Any]:
    """What a statement about codes that were sent finds among `orders`, which it reads as a subquery."""
    subquery, parameters = orders.order_by().values("id", "tracking_code", "seller_id").query.sql_with_params()
    compact = {"of_order": compact_sql("o.tracking_code"), "of_event": compact_sql("sent.code")}
    text = statement.format(orders=subquery, of_seller=_OF_SELLER, **compact, **values)
    with connection.cursor() as cursor:
        cursor.execute(text, [*map(list, columns), *parameters * statement.count("{orders}")])
        return list(cursor.fetchall())
