"""What becomes of the orders that shops' platforms post.

A platform posts an order many times, out of sequence and for days: a draft is found by the platform's id of the order,
under a lock. An area says in a subclass of `Drafts` what it writes into a draft and what it makes of it.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from decimal import Decimal, InvalidOperation
from enum import StrEnum
from functools import cached_property, partial
from typing import Any, ClassVar, Generic, TypeVar
from uuid import UUID

from django.db import transaction
from django.db.models import F, Q, QuerySet

from common.actors import RETENTION
from common.brazil.phones import with_phone
from common.errors import DomainError
from common.fields import folded
from common.postgresql import batches
from common.postgresql.compiled_queries import CompiledQuery, Parameter, insert_unless_there, update_row
from common.shops.models import DraftStatus, ShopConnection, ShopDraft
from common.shops.order import ShopOrder, Stage

_BATCH = 500
_CLOCKS_DIFFER = timedelta(days=1)  # at most: a moment that is farther ahead has a wrong year
_MOST_BATCHES = 20  # of one run of the task, which takes a process of the workers meanwhile
Connection = TypeVar("Connection", bound=ShopConnection)
Draft = TypeVar("Draft", bound=ShopDraft)


class Result(StrEnum):
    """What has become of an order that a platform has posted. `REFUSED` is answered as an error."""

    DRAFT = "draft"
    REQUESTED = "requested"
    ORDER = "order"
    UPDATED = "updated"
    CANCELLED = "cancelled"
    IGNORED = "ignored"
    REFUSED = "refused"


class Reason(StrEnum):
    """Why an order was ignored or refused."""

    NONE = ""
    UNPAID = "unpaid"
    OTHER_METHOD = "other_shipping_method"
    NOTHING_TO_SHIP = "nothing_to_ship"
    ALREADY_REQUESTED = "already_requested"
    DROPPED = "dropped"
    OUT_OF_DATE = "out_of_date"
    UNKNOWN_FORM = "unknown_form"


@dataclass(frozen=True)
class Outcome:
    """`draft`: the order's."""

    result: Result
    reason: Reason = Reason.NONE
    draft: Any = None

    @property
    def id(self) -> str | None:
        """That the platform is answered with."""
        return self.draft.answered_id if self.draft else None


def decimal(text: str) -> Decimal:
    """A number of a platform's JSON. Raises ValueError, as `read_object` expects."""
    try:
        return Decimal(text)
    except InvalidOperation as error:
        raise ValueError(text) from error


class Drafts(Generic[Connection, Draft]):
    """The drafts of an area."""

    model: type[Draft]
    # Whose rows a draft that is locked brings along.
    related: ClassVar[tuple[str, ...]] = ("connection",)
    # Raised for a draft that is not open any more.
    ended: type[DomainError]
    # The values that columns of the area have in a draft that is anonymised.
    forgotten: ClassVar[Mapping[str, Any]] = {}

    def new(self, connection: Connection) -> Draft:
        """An unsaved draft of the connection's account."""
        raise NotImplementedError

    def fill(self, draft: Draft, connection: Connection, order: ShopOrder, at: datetime) -> None:
        """Write what the shop says now into the draft, beside what people have changed."""
        raise NotImplementedError

    def look_again(self, draft: Draft, at: datetime) -> None:
        """Its payload has changed: what was computed of it does not hold."""
        raise NotImplementedError

    def cancel_made(self, draft: Draft, at: datetime) -> None:
        """The shop has cancelled the order of which something was made."""

    def is_made_again(self, draft: Draft) -> bool:
        """Whether the shop may take the cancellation back of an order of which something was made."""
        return False

    def settle(self, draft: Draft, result: Result, at: datetime) -> Result:
        """Called with a draft that is saved; what is answered, in place of `result`."""
        raise NotImplementedError

    def take(self, *, connection: Connection, order: ShopOrder, at: datetime) -> Outcome:
        """Make, change or drop the draft of an order that the platform has posted. Within a transaction."""
        draft = self._locked(connection, order)
        if draft is None:
            if reason := _ignored(connection, order):
                return Outcome(Result.IGNORED, reason)
            made = self._new(connection, order, at)
            if insert_unless_there(made):  # waits for one that is made at the same time
                result = Result.CANCELLED if order.stage is Stage.CANCELLED else Result.DRAFT
                return Outcome(self.settle(made, result, at), draft=made)
            draft = self._locked(connection, order)
            assert draft is not None  # noqa: S101  # nosec B101  # drafts are not deleted
        outcome = self._take_again(draft, connection, order, at)
        if outcome.reason is Reason.NONE:
            return replace(outcome, result=self.settle(draft, outcome.result, at))
        return outcome

    @property
    def _rows(self) -> QuerySet[Draft]:
        return self.model._default_manager.all()

    def _locked(self, connection: Connection, order: ShopOrder) -> Draft | None:
        if draft := self._by_order.first(connection=connection.pk, order=order.id):
            draft.connection = connection
        return draft

    @cached_property
    def _by_order(self) -> CompiledQuery[Draft]:
        return CompiledQuery(
            lambda: (
                self._rows.select_for_update()
                .filter(connection=Parameter("connection"), order_id=Parameter("order"))
                .order_by()
            )
        )

    def _new(self, connection: Connection, order: ShopOrder, at: datetime) -> Draft:
        draft = self.new(connection)
        draft.connection = connection
        draft.environment = connection.environment
        draft.order_id, draft.external_id = order.id, order.number or order.id
        draft.payload = {}
        draft.edited_by = draft.dropped_by = ""
        draft.shop_changed_at, draft.is_test, draft.created_at = order.changed_at, order.is_test, at
        if order.stage is Stage.CANCELLED:
            draft.status, draft.ended_at, draft.shop_cancelled_at = DraftStatus.DROPPED, at, at
        else:
            self.fill(draft, connection, order, at)
        return draft

    def _take_again(self, draft: Draft, connection: Connection, order: ShopOrder, at: datetime) -> Outcome:
        """An order that has a draft."""
        known, told = _known_change(draft, order, at), order.changed_at
        is_made = draft.status == DraftStatus.REQUESTED
        if known and told and told < known:
            return Outcome(Result.IGNORED, Reason.ALREADY_REQUESTED if is_made else Reason.OUT_OF_DATE, draft)
        draft.shop_changed_at = told or known
        is_of_retention = draft.dropped_by == RETENTION
        since = known or draft.shop_cancelled_at or (draft.ended_at if is_of_retention else None)
        is_later = bool(since and told and told > since)
        is_taken_back = is_later and draft.shop_cancelled_at is not None
        if order.stage is Stage.CANCELLED:
            outcome = self._cancel(draft, at)
        elif is_made and not (is_taken_back and order.stage is Stage.PAID and self.is_made_again(draft)):
            if order.stage is Stage.PAID:
                draft.shop_cancelled_at = None
            outcome = Outcome(Result.IGNORED, Reason.ALREADY_REQUESTED, draft)
        elif reason := _ignored(connection, order):
            if draft.is_open:
                draft.automatic = False  # it was to be sent, and now is not: people decide
            outcome = Outcome(Result.IGNORED, reason, draft)
        elif draft.is_open:
            self.fill(draft, connection, order, at)
            outcome = Outcome(Result.UPDATED, draft=draft)
        elif is_taken_back or (is_later and is_of_retention):
            self.open_(draft)
            if is_of_retention:
                draft.automatic = False  # an old order: people decide
                draft.edited_by, draft.edited_at = "", None  # what they had changed is emptied
            self.fill(draft, connection, order, at)
            self.look_again(draft, at)
            outcome = Outcome(Result.DRAFT, draft=draft)
        else:
            outcome = Outcome(Result.IGNORED, Reason.DROPPED, draft)
        update_row(draft)
        return outcome

    def _cancel(self, draft: Draft, at: datetime) -> Outcome:
        draft.shop_cancelled_at = draft.shop_cancelled_at or at
        if draft.is_open:
            self.end(draft, DraftStatus.DROPPED, at)
        elif draft.status == DraftStatus.REQUESTED:
            self.cancel_made(draft, at)
        return Outcome(Result.CANCELLED, draft=draft)

    def end(self, draft: Draft, status: DraftStatus, at: datetime) -> None:
        draft.status, draft.ended_at = status, at
        draft.revision += 1

    def open_(self, draft: Draft) -> None:
        draft.status, draft.ended_at, draft.shop_cancelled_at, draft.forgotten_at = DraftStatus.OPEN, None, None, None
        draft.dropped_by = ""

    # What people do.

    def lock(self, draft: Draft) -> Draft:
        """The row of now, with a lock until the transaction ends."""
        rows = self._rows.select_for_update(of=["self"], no_key=True)
        return rows.select_related(*self.related).get(pk=draft.pk)

    @transaction.atomic
    def drop(self, *, draft: Draft, by: str, at: datetime) -> Draft:
        """Make nothing of it. Does nothing with one that is dropped already. Raises `ended` once something was made."""
        locked = self.lock(draft)
        if locked.status == DraftStatus.REQUESTED:
            raise self.ended
        if locked.is_open:
            self.end(locked, DraftStatus.DROPPED, at)
            locked.dropped_by = by
            locked.save()
        return locked

    @transaction.atomic
    def take_back(self, *, draft: Draft, by: str, at: datetime) -> Draft:
        """Open a dropped draft again. Raises `ended` once something was made of it, or it was forgotten."""
        locked = self.lock(draft)
        if locked.status == DraftStatus.REQUESTED or not locked.payload:
            raise self.ended
        if not locked.is_open:
            self.open_(locked)
            locked.automatic = False
            locked.edited_by, locked.edited_at = by, at
            self.look_again(locked, at)
            locked.save()
            self.settle(locked, Result.UPDATED, at)
        return locked

    # What is forgotten.

    def of_phone(self, phone: str, *, until: datetime) -> QuerySet[Draft]:
        """The drafts whose receiver has this number, of orders received until then."""
        rows = self._rows.filter(created_at__lte=until).exclude(contact_phone="")
        return with_phone(rows, "contact_phone", phone)

    def forget_of(self, rows: QuerySet[Draft], *, at: datetime, failed: set[UUID] | None = None) -> int:
        """Anonymise one batch of those that have ended. Returns how many there were. `failed`: see `work_on`."""
        return _forget_batch(rows.filter(ended_at__isnull=False), partial(self.forget, at=at), failed)

    def forget_old(self, *, at: datetime, days: int) -> int:
        """Anonymise drafts that ended so many days ago, and those that are open and untouched for so long. 0: none.

        In at most _MOST_BATCHES batches of each. Returns how many there were.
        """
        if not days:
            return 0
        since = at - timedelta(days=days)
        ended = self._rows.filter(ended_at__lt=since, forgotten_at=None).order_by("ended_at")
        open_ones = self._untouched(since=since, at=at).order_by("created_at")
        return _forget_batches(ended, partial(self.forget, at=at)) + _forget_batches(
            open_ones, partial(self._forget_open, since=since, at=at)
        )

    def _untouched(self, *, since: datetime, at: datetime) -> QuerySet[Draft]:
        """Open drafts that neither the shop nor people have changed since then.

        What the shop has changed has the moment that its platform tells. One to come does not count: with a wrong year
        the draft would stay.
        """
        to_come = Q(shop_changed_at__gt=at + _CLOCKS_DIFFER)
        by_shop = Q(shop_changed_at=None) | Q(shop_changed_at__lt=since) | to_come
        by_people = Q(edited_at=None) | Q(edited_at__lt=since)
        # `forgotten_at`, which an open one does not have: for the partial index.
        return self._rows.filter(by_shop, by_people, ended_at=None, forgotten_at=None, created_at__lt=since)

    def forget(self, keys: list[UUID], *, at: datetime) -> None:
        """Delete what ended drafts tell about people. That they have ended is kept, so that none is made again."""
        self._rows.filter(pk__in=keys, ended_at__isnull=False).update(**self._emptied(at))

    def _forget_open(self, keys: list[UUID], *, since: datetime, at: datetime) -> None:
        """Drop those that are untouched still, without what they tell about people."""
        dropped = {
            "status": DraftStatus.DROPPED,
            "ended_at": at,
            "dropped_by": RETENTION,
            "revision": F("revision") + 1,
        }
        self._untouched(since=since, at=at).filter(pk__in=keys).update(**dropped, **self._emptied(at))

    def _emptied(self, at: datetime) -> dict[str, Any]:
        return {"payload": {}, "contact_phone": "", "forgotten_at": at, **self.forgotten}


def _forget_batches(due: QuerySet[Any], work: Callable[[list[UUID]], None]) -> int:
    total, failed = 0, set[UUID]()
    for _number in range(_MOST_BATCHES):
        known = len(failed)
        count = _forget_batch(due, work, failed)
        if not count and len(failed) == known:
            break
        total += count
    return total


def _forget_batch(due: QuerySet[Any], work: Callable[[list[UUID]], None], failed: set[UUID] | None) -> int:
    keys, doing = due.values_list("pk", flat=True), "anonymise the order of a shop"
    return batches.work_on(keys, work, most=_BATCH, failed=failed, doing=doing)


def _known_change(draft: ShopDraft, order: ShopOrder, at: datetime) -> datetime | None:
    """When the shop has changed the order last, as far as that can be compared with what it tells now.

    A moment with a wrong year would be later than every right one.
    """
    known, told, latest = draft.shop_changed_at, order.changed_at, at + _CLOCKS_DIFFER
    return None if known and told and known > latest >= told else known


def _ignored(connection: ShopConnection, order: ShopOrder) -> Reason:
    """Why a new order makes no draft.

    One that is cancelled makes a dropped one: when it was paid may be told later.
    """
    text = folded(connection.shipping_method)
    if text and not any(text in folded(method) for method in order.shipping_methods):
        return Reason.OTHER_METHOD
    if order.stage is Stage.UNPAID:
        return Reason.UNPAID
    return Reason.NOTHING_TO_SHIP if order.stage is Stage.PAID and not order.items else Reason.NONE
