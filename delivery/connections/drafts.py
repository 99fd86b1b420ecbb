"""Orders of shops on their way to a delivery.

What asks others, the geocoder and the routing engine, is done by a worker, who finds what is due in the table. The
delivery is made in the transaction that ends the draft, so that there is one, whatever ends a process.
"""

import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from types import MappingProxyType
from typing import Any

from django.conf import settings
from django.db import transaction
from django.db.models import F, QuerySet

from common import clock
from common.brazil import phones
from common.postgresql import batches
from common.shops.bodies import Body, without_blanks
from common.shops.drafts import Drafts, Result
from common.shops.models import DraftStatus
from common.shops.order import ShopOrder
from common.workers import wake_up
from delivery import task_names
from delivery.actions import deliveries, quotes
from delivery.connections import payloads
from delivery.connections.models import Connection, Draft, Reception
from delivery.errors import (
    AccountSuspended,
    Closed,
    DeliveryError,
    DraftChanged,
    DraftEnded,
    DraftIncomplete,
    DraftPriceChanged,
    ExternalIdInUse,
    GeocoderUnavailable,
    PickupNotLinked,
)
from delivery.models import AccountScope, Delivery, Environment, PickupPoint
from delivery.places import addresses
from delivery.pricing import Quote

NEXT = F("revision") + 1
MISSING_NUMBER, TEST_ORDER = "missing_number", "test_order"
_LEASE = timedelta(minutes=1)
_AT_ONCE = 20
# When it is looked at again: what is closed now opens, and what did not answer may.
PAUSE = timedelta(minutes=10)
_TRIED_FOR = timedelta(days=3)
_NEWEST = 200  # deliveries of an account, among which the address of its pickup point is looked for
_NO_PHONE = "-"  # the API requires one
_log = logging.getLogger(__name__)


def wake() -> None:
    """Have a worker look at what is due, once the transaction is committed."""
    wake_up.send_on_commit(task_names.CHECK_DRAFTS)


class _Drafts(Drafts[Connection, Draft]):
    model = Draft
    related = ("connection__integrator", "connection__pickup")
    ended = DraftEnded
    forgotten = MappingProxyType({"source": {}, "due_at": None})

    def new(self, connection: Connection) -> Draft:
        return Draft(integrator_id=connection.integrator_id, automatic=connection.automatic, source={})

    def fill(self, draft: Draft, connection: Connection, order: ShopOrder, at: datetime) -> None:
        now, items, before = payloads.dropoff(order), payloads.packages(order), draft.payload
        here = before["dropoffs"][0] if before else {}
        found = payloads.merged_dropoff(now, before=draft.source, here=here)
        draft.source = now
        draft.payload = {
            "vehicleType": connection.vehicle_type,
            "pickup": _pickup_now(connection, before.get("pickup", {})),
            "dropoffs": [found],
            "orderPackages": items,
        }
        draft.contact_phone = _numbers(draft)
        if not before or (found, items) != (here, before.get("orderPackages")):
            self.look_again(draft, at)

    def look_again(self, draft: Draft, at: datetime) -> None:
        """Have its price computed anew."""
        dropoff = draft.payload["dropoffs"][0]
        draft.external_id = dropoff.get("externalId", "")
        draft.missing, draft.price, draft.seconds, draft.precision = [], None, None, ""
        draft.due_at, draft.tries = at, 0
        draft.revision += 1

    def end(self, draft: Draft, status: DraftStatus, at: datetime) -> None:
        super().end(draft, status, at)
        draft.due_at = None

    def settle(self, draft: Draft, result: Result, at: datetime) -> Result:  # as a method of the base
        if draft.due_at:
            wake()
        return result


DRAFTS = _Drafts()
drop, take_back, of_phone, forget = DRAFTS.drop, DRAFTS.take_back, DRAFTS.of_phone, DRAFTS.forget


def _numbers(draft: Draft) -> str:
    """The receiver's, as the shop tells it and as people have corrected it."""
    return phones.together(*(each.get("contacts", {}).get("phoneNumber", "") for each in (draft.dropoff, draft.source)))


def pickup_of(connection: Connection, address: Mapping[str, str] = MappingProxyType({})) -> dict[str, Any]:
    """A, as request-delivery takes it; without a place if the pickup point was removed. `address`: what is known."""
    point = connection.pickup
    contacts = {"name": connection.name, "phoneNumber": connection.contact_phone or _NO_PHONE}
    place = {**address, "latitude": point.latitude, "longitude": point.longitude} if point else {}
    return {"contacts": contacts, "address": place}


def _pickup_now(connection: Connection, before: Body) -> Body:
    """A, with the words of its address that were found `before` if it is still at the same place."""
    pickup = pickup_of(connection)
    if payloads.point_of(before) == payloads.point_of(pickup) is not None:
        pickup["address"] = before["address"]
    return pickup


def _address_of(point: PickupPoint, environment: str) -> dict[str, str]:
    """That of the last delivery from there, as in the form of a request, because a pickup point has none itself."""
    deliveries = Delivery.objects.filter(integrator=point.integrator_id, environment=environment)
    newest = deliveries.order_by("-created_at", "-id").values_list("latitude", "longitude", "address")[:_NEWEST]
    here = (address for *place, address in newest if place == [point.latitude, point.longitude])
    return next((without_blanks(address) for address in here if address.get("street")), {})


# What people do.


def edit(*, draft: Draft, seen: int, dropoff: dict[str, Any], by: str, at: datetime) -> Draft:
    """Change the drop-off of an open draft, as `dropoffs` of the API has it. `seen`: the revision that was changed.

    It is no longer requested by itself: who has changed it sees its price first. Raises DraftEnded and DraftChanged.
    """
    with transaction.atomic():
        locked = DRAFTS.lock(draft)
        if not locked.is_open:
            raise DraftEnded
        before = locked.payload["dropoffs"][0]
        if not payloads.is_same_address(before, dropoff) and payloads.point_of(before) == payloads.point_of(dropoff):
            dropoff = payloads.at_place(dropoff, None)
        if (dropoff := without_blanks(dropoff)) == before:  # also of a form that is sent twice
            return locked
        if locked.revision != seen:
            raise DraftChanged
        locked.payload = {**locked.payload, "dropoffs": [dropoff]}
        locked.contact_phone = _numbers(locked)
        locked.automatic = False
        locked.edited_by, locked.edited_at = by, at
        DRAFTS.look_again(locked, at)
        locked.save()
    return locked


def request(*, draft: Draft, seen: int | None, by: str, at: datetime) -> tuple[Delivery, bool]:
    """The delivery of a draft, and whether it had been requested before.

    `seen`: the revision that a person saw, which is requested at its price; None: at any price.

    Raises DraftEnded, DraftChanged, DraftIncomplete, DraftPriceChanged, AccountSuspended, and the errors of
    `deliveries.request`.
    """
    if draft.status == DraftStatus.REQUESTED:
        return _delivery_of(draft), True
    if not draft.is_open:
        raise DraftEnded
    if seen is not None and draft.revision != seen:
        raise DraftChanged
    scope = AccountScope(draft.connection.integrator, draft.environment)
    scope.integrator.check_active()
    if not draft.is_ready:
        raise DraftIncomplete
    payload = payloads.delivery_request(draft.payload)
    quote = quotes.quote_for_request(token=scope, payload=payload, quote_id=None, at=at)
    if seen is not None and quote.value != draft.price:
        _of_now(draft).update(price=quote.value, revision=NEXT)
        raise DraftPriceChanged(before=draft.price, now=quote.value)
    with transaction.atomic():
        locked = DRAFTS.lock(draft)
        if locked.status == DraftStatus.REQUESTED:
            return _delivery_of(locked), True
        if locked.revision != draft.revision or not locked.is_open:  # changed since it was read
            raise DraftChanged
        locked.delivery = deliveries.request(
            token=scope,
            payload=payload,
            quote=quote,
            by=by,
            at=at,
            simulation_speed=1 if draft.environment == Environment.SANDBOX else None,
        )
        locked.price = quote.value
        DRAFTS.end(locked, DraftStatus.REQUESTED, at)
        locked.save()
    return locked.delivery, False


def _delivery_of(draft: Draft) -> Delivery:
    assert draft.delivery is not None  # noqa: S101  # nosec B101  # by a constraint
    return draft.delivery


def _of_now(draft: Draft) -> QuerySet[Draft]:
    """The row, if it is open and has not changed since `draft` was read."""
    return Draft.objects.filter(pk=draft.pk, revision=draft.revision, price=draft.price, status=DraftStatus.OPEN)


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
    price = found.quote.value if found.quote else None
    values = {
        "payload": found.payload,
        "missing": found.missing,
        "price": price,
        # The first price of a revision is its own: who changes the drop-off meanwhile overlooks nothing.
        "revision": draft.revision + (draft.price not in (None, price)),
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
        delivery, _is_earlier = request(draft=draft, seen=None, by=f"shop {draft.connection.name}", at=at)
    except DraftChanged:
        return  # its change has made it due again, or ended it
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
    point = connection.pickup
    address = _address_of(point, draft.environment) if point else {}
    vehicle = {"vehicleType": connection.vehicle_type, "pickup": pickup_of(connection, address)}
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
        if point is None:
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
    told = (draft.created_at, draft.edited_at, draft.shop_changed_at)
    since = max((moment for moment in told if moment and moment <= at), default=draft.created_at)
    return at + PAUSE if may_pass and at < since + _TRIED_FOR else None


def forget_old(*, at: datetime) -> int:
    """Anonymise drafts that ended, or were touched last, FORGET_DELIVERY_DAYS ago. Returns how many."""
    return DRAFTS.forget_old(at=at, days=settings.FORGET_DELIVERY_DAYS)
