"""Orders of shops on their way to a delivery.

A platform posts an order many times, out of sequence and for days: a draft is found by the platform's id of the order,
under a lock. What asks others, the geocoder and the routing engine, is done by a worker, who finds what is due in the
table. The delivery is made in the transaction that ends the draft, so that there is one, whatever ends a process.
"""

import logging
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal, InvalidOperation
from enum import StrEnum
from functools import partial
from typing import Any
from uuid import UUID

from django.conf import settings
from django.db import transaction
from django.db.models import F, QuerySet

from common import clock
from common.brazil.phones import with_phone
from common.fields import folded
from common.postgresql import batches
from common.shops.order import ShopOrder, Stage
from common.workers import wake_up
from delivery import task_names
from delivery.actions import deliveries, quotes
from delivery.actions.forgetting import BATCH, MOST_BATCHES
from delivery.connections import payloads
from delivery.connections.models import Connection, Draft, DraftStatus, Reception
from delivery.errors import (
    AccountSuspended,
    Closed,
    DeliveryError,
    DraftEnded,
    DraftIncomplete,
    DraftPriceChanged,
    ExternalIdInUse,
    GeocoderUnavailable,
    PickupNotLinked,
)
from delivery.models import AccountScope, Delivery, Environment
from delivery.places import addresses
from delivery.pricing import Quote

NEXT = F("revision") + 1
MISSING_NUMBER, TEST_ORDER = "missing_number", "test_order"
_LEASE = timedelta(minutes=1)
_AT_ONCE = 20
# When it is looked at again: what is closed now opens, and what did not answer may.
PAUSE = timedelta(minutes=10)
_TRIED_FOR = timedelta(days=3)
_NO_PHONE = "-"  # the API requires one
_log = logging.getLogger(__name__)


class Result(StrEnum):
    """What has become of an order that a platform has posted. `REFUSED` is answered as an error."""

    DRAFT = "draft"
    REQUESTED = "requested"
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
    """`draft`: the order's. The id that is answered is that of its delivery, once it has one."""

    result: Result
    reason: Reason = Reason.NONE
    draft: Draft | None = None

    @property
    def id(self) -> str | None:
        return str(self.draft.delivery_id or self.draft.pk) if self.draft else None


def decimal(text: str) -> Decimal:
    """A number of a platform's JSON. Raises ValueError, as `read_object` expects."""
    try:
        return Decimal(text)
    except InvalidOperation as error:
        raise ValueError(text) from error


def wake() -> None:
    """Have a worker look at what is due, once the transaction is committed."""
    wake_up.send_on_commit(task_names.CHECK_DRAFTS)


def take(*, connection: Connection, order: ShopOrder, at: datetime) -> Outcome:
    """Make, change or drop the draft of an order that the platform has posted. Within a transaction."""
    draft = _locked(connection, order)
    if draft is None:
        if reason := _ignored(connection, order):
            return Outcome(Result.IGNORED, reason)
        made = _new(connection, order, at)
        Draft.objects.bulk_create([made], ignore_conflicts=True)  # waits for one that is made at the same time
        if Draft.objects.filter(pk=made.pk).exists():
            wake()
            return Outcome(Result.CANCELLED if order.stage is Stage.CANCELLED else Result.DRAFT, draft=made)
        draft = _locked(connection, order)
        assert draft is not None  # noqa: S101  # nosec B101  # drafts are not deleted
    return _take_again(draft, order, at)


def _locked(connection: Connection, order: ShopOrder) -> Draft | None:
    return Draft.objects.select_for_update().filter(connection=connection, order_id=order.id).first()


def _ignored(connection: Connection, order: ShopOrder) -> Reason:
    """Why a new order makes no draft.

    One that is cancelled makes a dropped one: when it was paid may be told later.
    """
    text = folded(connection.shipping_method)
    if text and not any(text in folded(method) for method in order.shipping_methods):
        return Reason.OTHER_METHOD
    if order.stage is Stage.UNPAID:
        return Reason.UNPAID
    return Reason.NOTHING_TO_SHIP if order.stage is Stage.PAID and not order.items else Reason.NONE


def _new(connection: Connection, order: ShopOrder, at: datetime) -> Draft:
    draft = Draft(
        connection=connection,
        integrator_id=connection.integrator_id,
        environment=connection.environment,
        order_id=order.id,
        external_id=order.number or order.id,
        payload={},
        source={},
        shop_changed_at=order.changed_at,
        automatic=connection.automatic,
        is_test=order.is_test,
        created_at=at,
    )
    if order.stage is Stage.CANCELLED:
        draft.status, draft.ended_at, draft.shop_cancelled_at = DraftStatus.DROPPED, at, at
    else:
        _fill(draft, connection, order, at)
    return draft


def _fill(draft: Draft, connection: Connection, order: ShopOrder, at: datetime) -> bool:
    """Write what the shop says now into the draft, beside what people have changed. Whether that changed anything."""
    now, items, before = payloads.dropoff(order), payloads.packages(order), draft.payload
    here = before["dropoffs"][0] if before else {}
    found = payloads.merged(now, before=draft.source, here=here)
    draft.source = now
    draft.payload = {
        "vehicleType": connection.vehicle_type,
        "pickup": pickup_of(connection),
        "dropoffs": [found],
        "orderPackages": items,
    }
    is_changed = not before or (found, items) != (here, before.get("orderPackages"))
    if is_changed:
        _changed(draft, at)
    return is_changed


def _changed(draft: Draft, at: datetime) -> None:
    """Have its price computed anew."""
    dropoff = draft.payload["dropoffs"][0]
    draft.external_id = dropoff.get("externalId", "")
    draft.contact_phone = dropoff.get("contacts", {}).get("phoneNumber", "")
    draft.missing, draft.price, draft.seconds, draft.precision = [], None, None, ""
    draft.due_at, draft.tries = at, 0
    draft.revision += 1


def pickup_of(connection: Connection) -> dict[str, Any]:
    """A, as request-delivery takes it; without a place if the pickup point was removed."""
    point = connection.pickup
    contacts = {"name": connection.name, "phoneNumber": connection.contact_phone or _NO_PHONE}
    place = {"latitude": point.latitude, "longitude": point.longitude} if point else {}
    return {"contacts": contacts, "address": place}


def _take_again(draft: Draft, order: ShopOrder, at: datetime) -> Outcome:
    """An order that has a draft."""
    known, told = draft.shop_changed_at, order.changed_at
    if known and told and told < known:
        reason = Reason.ALREADY_REQUESTED if draft.delivery_id else Reason.OUT_OF_DATE
        return Outcome(Result.IGNORED, reason, draft)
    draft.shop_changed_at = told or known
    if order.stage is Stage.CANCELLED:
        outcome = _cancel(draft, at)
    elif draft.status == DraftStatus.REQUESTED:
        if order.stage is Stage.PAID:
            draft.shop_cancelled_at = None
        outcome = Outcome(Result.IGNORED, Reason.ALREADY_REQUESTED, draft)
    elif reason := _ignored(draft.connection, order):
        outcome = Outcome(Result.IGNORED, reason, draft)
    elif draft.is_open:
        _fill(draft, draft.connection, order, at)
        outcome = Outcome(Result.UPDATED, draft=draft)
    elif draft.shop_cancelled_at and known and told and told > known:  # the shop has taken its cancellation back
        _open(draft)
        _fill(draft, draft.connection, order, at)
        outcome = Outcome(Result.DRAFT, draft=draft)
    else:
        outcome = Outcome(Result.IGNORED, Reason.DROPPED, draft)
    draft.save()
    if draft.due_at:
        wake()
    return outcome


def _cancel(draft: Draft, at: datetime) -> Outcome:
    """The shop has cancelled the order. A delivery of it stays: only people can tell whether it may be stopped."""
    draft.shop_cancelled_at = draft.shop_cancelled_at or at
    if draft.is_open:
        _end(draft, DraftStatus.DROPPED, at)
    return Outcome(Result.CANCELLED, draft=draft)


def _end(draft: Draft, status: DraftStatus, at: datetime) -> None:
    draft.status, draft.ended_at, draft.due_at = status, at, None
    draft.revision += 1


def _open(draft: Draft) -> None:
    draft.status, draft.ended_at, draft.shop_cancelled_at, draft.forgotten_at = DraftStatus.OPEN, None, None, None


# What people do.


def edit(*, draft: Draft, dropoff: dict[str, Any], at: datetime) -> Draft:
    """Change the drop-off of an open draft, as `dropoffs` of the API has it. Raises DraftEnded.

    It is no longer requested by itself: who has changed it sees its price first.
    """
    with transaction.atomic():
        locked = _lock(draft)
        if not locked.is_open:
            raise DraftEnded
        before = locked.payload["dropoffs"][0]
        if not payloads.is_same_address(before, dropoff) and payloads.point_of(before) == payloads.point_of(dropoff):
            dropoff = payloads.at_place(dropoff, None)
        if (dropoff := payloads.without_blanks(dropoff)) == before:
            return locked
        locked.payload = {**locked.payload, "dropoffs": [dropoff]}
        locked.automatic = False
        _changed(locked, at)
        locked.save()
    return locked


def drop(*, draft: Draft, at: datetime) -> Draft:
    """Request no delivery of it. Does nothing with one that is dropped already. Raises DraftEnded once requested."""
    with transaction.atomic():
        locked = _lock(draft)
        if locked.status == DraftStatus.REQUESTED:
            raise DraftEnded
        if locked.is_open:
            _end(locked, DraftStatus.DROPPED, at)
            locked.save()
    return locked


def take_back(*, draft: Draft, at: datetime) -> Draft:
    """Open a dropped draft again. Raises DraftEnded for one that is requested, and for one that was forgotten."""
    with transaction.atomic():
        locked = _lock(draft)
        if locked.status == DraftStatus.REQUESTED or not locked.payload:
            raise DraftEnded
        if not locked.is_open:
            _open(locked)
            locked.automatic = False
            _changed(locked, at)
            locked.save()
            wake()
    return locked


def _lock(draft: Draft) -> Draft:
    rows = Draft.objects.select_for_update(of=["self"], no_key=True)
    return rows.select_related("connection__integrator", "connection__pickup").get(pk=draft.pk)


def request(*, draft: Draft, agreed: Decimal | None, by: str, at: datetime) -> tuple[Delivery, bool]:
    """The delivery of a draft, and whether it had been requested before. `agreed`: the price that was shown.

    Raises DraftEnded, DraftIncomplete, DraftPriceChanged, AccountSuspended, and the errors of `deliveries.request`.
    """
    if draft.status == DraftStatus.REQUESTED:
        return _delivery_of(draft), True
    if not draft.is_open:
        raise DraftEnded
    scope = AccountScope(draft.connection.integrator, draft.environment)
    scope.integrator.check_active()
    if not draft.is_ready:
        raise DraftIncomplete
    payload = payloads.delivery_request(draft.payload)
    quote = quotes.quote_for_request(token=scope, payload=payload, quote_id=None, at=at)
    if agreed is not None and quote.value != agreed:
        _of_now(draft).update(price=quote.value, revision=NEXT)
        raise DraftPriceChanged(before=agreed, now=quote.value)
    with transaction.atomic():
        locked = _lock(draft)
        if locked.status == DraftStatus.REQUESTED:
            return _delivery_of(locked), True
        if locked.revision != draft.revision or not locked.is_open:  # changed since it was read
            raise DraftIncomplete
        locked.delivery = deliveries.request(
            token=scope,
            payload=payload,
            quote=quote,
            by=by,
            at=at,
            simulation_speed=1 if draft.environment == Environment.SANDBOX else None,
        )
        locked.price = quote.value
        _end(locked, DraftStatus.REQUESTED, at)
        locked.save()
    return locked.delivery, False


def _delivery_of(draft: Draft) -> Delivery:
    assert draft.delivery is not None  # noqa: S101  # nosec B101  # by a constraint
    return draft.delivery


def _of_now(draft: Draft) -> QuerySet[Draft]:
    """The row, if it is open and has not changed since `draft` was read."""
    return Draft.objects.filter(pk=draft.pk, revision=draft.revision, status=DraftStatus.OPEN)


# What workers do.


def check_due(is_stopping: Callable[[], bool] = lambda: False) -> None:
    """Locate and price the drafts that are due, and request those that are complete and automatic."""
    waiting = Draft.objects.select_related("connection__integrator", "connection__pickup")
    while not is_stopping():
        rows = batches.claim(waiting, at=clock.now(), lease=_LEASE, most=_AT_ONCE)
        if not rows:
            return
        batches.each(rows, check, doing="check the order of a shop")


def check(draft: Draft) -> None:
    """Compute what is missing, and the price. Asks others, so it is called outside of transactions."""
    at = clock.now()
    found = _look(draft, at)
    is_requested = draft.automatic and not found.missing
    # One that is requested next stays due: whatever ends this process meanwhile, the next worker goes on.
    due_at = draft.due_at if is_requested else found.again_at
    values = {
        "payload": found.payload,
        "missing": found.missing,
        "price": found.quote.value if found.quote else None,
        "seconds": found.quote.seconds_until[-1] if found.quote else None,
        "precision": found.precision or draft.precision,
    }
    if not _of_now(draft).update(**values, due_at=due_at) or not is_requested:
        return
    for name, value in values.items():
        setattr(draft, name, value)
    _request_now(draft, at)


def _request_now(draft: Draft, at: datetime) -> None:
    try:
        delivery, _is_earlier = request(draft=draft, agreed=None, by=f"shop {draft.connection.name}", at=at)
    except DraftIncomplete:
        return  # changed meanwhile, and due again
    except DeliveryError as error:
        _of_now(draft).update(missing=[error.code], due_at=_again_at(draft, error, at))
        return
    _log.info("order %s of shop %s: delivery %s requested", draft.pk, draft.connection_id, delivery.pk)
    latest = Reception.objects.filter(connection=draft.connection_id, draft=draft.pk, result=Result.DRAFT)
    latest.update(result=Result.REQUESTED)


@dataclass
class _Found:
    payload: dict[str, Any]
    missing: list[str]
    quote: Quote | None = None
    precision: str = ""
    again_at: datetime | None = None


def _look(draft: Draft, at: datetime) -> _Found:
    connection = draft.connection
    (dropoff,) = draft.payload["dropoffs"]
    vehicle = {"vehicleType": connection.vehicle_type, "pickup": pickup_of(connection)}
    found = _Found({**draft.payload, **vehicle}, [])
    if draft.is_test and draft.environment == Environment.LIVE:
        found.missing.append(TEST_ORDER)
    if not dropoff.get("address", {}).get("number"):
        found.missing.append(MISSING_NUMBER)
    try:
        if payloads.point_of(dropoff) is None:
            asked = {0: payloads.address_of(dropoff)}
            place = addresses.locate(addresses=asked, account=draft.integrator_id, at=at)[0]
            found.payload["dropoffs"] = [payloads.at_place(dropoff, place.point)]
            found.precision = place.precision
        if connection.pickup is None:
            raise PickupNotLinked
        scope = AccountScope(connection.integrator, draft.environment)
        payload = payloads.delivery_request(found.payload)
        found.quote = quotes.quote_for_request(token=scope, payload=payload, quote_id=None, at=at)
    except DeliveryError as error:
        found.missing.append(error.code)
        found.again_at = _again_at(draft, error, at)
    return found


def _again_at(draft: Draft, error: DeliveryError, at: datetime) -> datetime | None:
    """When a draft is looked at again after a refusal that may pass by itself; None if it may not."""
    may_pass = isinstance(error, Closed | GeocoderUnavailable | ExternalIdInUse | AccountSuspended) or error.retryable
    return at + PAUSE if may_pass and at < draft.created_at + _TRIED_FOR else None


# What is forgotten.


def of_phone(phone: str, *, until: datetime) -> QuerySet[Draft]:
    """The drafts whose receiver has this number, of orders received until then."""
    rows = Draft.objects.filter(created_at__lte=until).exclude(contact_phone="")
    return with_phone(rows, "contact_phone", phone)


def forget_of(phone: str, *, until: datetime, at: datetime, failed: set[UUID] | None = None) -> int:
    """Anonymise one batch of the ended drafts of this number. Returns how many there were. `failed`: see `work_on`."""
    due = of_phone(phone, until=until).filter(ended_at__isnull=False).values_list("pk", flat=True)
    work = partial(forget, at=at)
    return batches.work_on(due, work, most=BATCH, failed=failed, doing="anonymise the order of a shop")


def forget_ended(*, at: datetime) -> int:
    """Anonymise drafts that ended FORGET_DELIVERY_DAYS ago, in at most MOST_BATCHES batches. Returns how many."""
    if not settings.FORGET_DELIVERY_DAYS:
        return 0
    due = Draft.objects.filter(ended_at__lt=at - timedelta(days=settings.FORGET_DELIVERY_DAYS), forgotten_at=None)
    keys, total, failed = due.order_by("ended_at").values_list("pk", flat=True), 0, set[UUID]()
    for _number in range(MOST_BATCHES):
        known, work = len(failed), partial(forget, at=at)
        count = batches.work_on(keys, work, most=BATCH, failed=failed, doing="anonymise the order of a shop")
        if not count and len(failed) == known:
            break
        total += count
    return total


def forget(keys: list[UUID], *, at: datetime) -> None:
    """Delete what ended drafts tell about people. That they have ended is kept, so that none is made again."""
    ended = Draft.objects.filter(pk__in=keys, ended_at__isnull=False)
    ended.update(payload={}, source={}, contact_phone="", forgotten_at=at)
