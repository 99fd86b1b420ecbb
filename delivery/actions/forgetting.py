"""Anonymising deliveries: all of one that ended long ago, or what one person was in closed ones. Drivers too.

Statuses, money, distances, ids and the externalId stay. Each batch is one transaction, which locks the deliveries
first, as moves do. Open deliveries are never changed.
"""

import json
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from datetime import datetime, timedelta
from decimal import ROUND_HALF_UP, Decimal
from functools import partial
from itertools import groupby
from typing import Any
from uuid import UUID

from django.conf import settings
from django.contrib.admin.models import LogEntry
from django.contrib.contenttypes.models import ContentType
from django.db import connection, transaction
from django.db.models import Exists, OuterRef, Q, QuerySet

from common.brazil.phones import with_phone
from common.postgresql import batches
from common.postgresql.forgetting import forgetting
from delivery import lifecycle
from delivery.actions import proofs
from delivery.lifecycle import Trigger
from delivery.models import (
    Delivery,
    Driver,
    DriverDevice,
    DriverLogInLink,
    DriverMove,
    DriverPosition,
    DropoffOptions,
    DutyChange,
    GoodsInHand,
    LatestPosition,
    ProofPhoto,
    ReceiverLink,
    ReceiverNote,
    Stop,
    StopProof,
    Transition,
    WebhookAttempt,
    WebhookEvent,
    WebhookQueueItem,
)
from delivery.models.delivery import FORGOTTEN_DRIVER
from delivery.models.stop import LABELS
from delivery.receivers import actions as receivers

BATCH = 500
MOST_BATCHES = 20  # of one run of a task, which takes a process of the workers meanwhile
# For so long the webhooks of a delivery that has ended are retried, with the bytes that were signed first.
_EVENTS_ARE_SENT = timedelta(days=4)

_KEPT_OF_ADDRESS = ("city", "state", "country")
_KEPT_PAIRS = ", ".join(f"'{key}', address->'{key}'" for key in _KEPT_OF_ADDRESS)
# What is left of a contact at an address, in the columns of stops and deliveries.
_FORGET_CONTACT = f"""contact_name = '', contact_phone = '',
    address = jsonb_strip_nulls(jsonb_build_object({_KEPT_PAIRS})),
    latitude = round(latitude::numeric, 1), longitude = round(longitude::numeric, 1)"""
_FORGET_STOPS = f"""
UPDATE delivery_stop SET {_FORGET_CONTACT}, failure_reason = '', forgotten_at = %s
WHERE id = ANY(%s) AND forgotten_at IS NULL
"""  # noqa: S608  # nosec B608  # constants
_FORGET_PICKUPS = f"UPDATE delivery_delivery SET {_FORGET_CONTACT}, cancel_reason = '' WHERE id = ANY(%s)"  # noqa: S608  # nosec B608  # constants
_WRITE_BODIES = """
UPDATE delivery_webhookevent event SET body = new.body
FROM unnest(%s::uuid[], %s::text[]) AS new (id, body) WHERE event.id = new.id
"""
_FORGOTTEN_NAME = "\N{EN DASH}"
_NOBODY = {"name": "", "phone": "", "coordinates": {"latitude": None, "longitude": None}}
_DEGREES = Decimal("0.1")  # about eleven kilometres


def forget_ended(*, at: datetime) -> int:
    """Anonymise deliveries that ended FORGET_DELIVERY_DAYS ago, in at most MOST_BATCHES batches. Returns how many."""
    if not settings.FORGET_DELIVERY_DAYS:
        return 0
    before = at - timedelta(days=settings.FORGET_DELIVERY_DAYS)
    due = Delivery.objects.filter(closed_at__lt=before, forgotten_at=None).order_by("closed_at")
    total, failed = 0, set[UUID]()
    for _number in range(MOST_BATCHES):
        known = len(failed)
        count = batches.work_on(
            due.values_list("pk", flat=True),
            partial(_forget_whole, at=at),
            most=BATCH,
            failed=failed,
            doing="anonymise the delivery",
        )
        if not count and len(failed) == known:
            break
        total += count
    return total


def forget_positions(*, at: datetime) -> None:
    """Delete positions of drivers that are older than FORGET_POSITION_DAYS."""
    if settings.FORGET_POSITION_DAYS:
        before = at - timedelta(days=settings.FORGET_POSITION_DAYS)
        batches.prune(DriverPosition, "recorded_at", before=before)
        LatestPosition.objects.filter(recorded_at__lt=before).delete()


def stops_of(phone: str, *, until: datetime) -> QuerySet[Stop]:
    """The stops whose receiver has this number, of deliveries requested until then."""
    stops = Stop.objects.filter(delivery__created_at__lte=until).exclude(contact_phone="")
    return with_phone(stops, "contact_phone", phone)


def pickups_of(phone: str, *, until: datetime) -> QuerySet[Delivery]:
    """The deliveries whose contact at A has this number."""
    return with_phone(Delivery.objects.filter(created_at__lte=until).exclude(contact_phone=""), "contact_phone", phone)


def forget_stops_of(phone: str, *, until: datetime, at: datetime, failed: set[int] | None = None) -> int:
    """Anonymise one batch of the closed stops of this number. Returns how many there were. `failed`: see `work_on`."""
    due = stops_of(phone, until=until).filter(may_be_forgotten("delivery__", at=at))
    work = partial(_forget_those, at=at)
    return batches.work_on(due, work, most=BATCH, failed=failed, doing="anonymise the stop")


def forget_pickups_of(phone: str, *, until: datetime, at: datetime, failed: set[UUID] | None = None) -> int:
    """Anonymise one batch of the contacts at A with this number, as `forget_stops_of` does."""
    due = pickups_of(phone, until=until).filter(may_be_forgotten("", at=at)).values_list("pk", flat=True)
    return batches.work_on(due, _forget_pickups, most=BATCH, failed=failed, doing="anonymise the pickup of")


def _forget_pickups(keys: list[UUID]) -> None:
    with forgetting():
        _lock(keys)
        _execute(_FORGET_PICKUPS, [keys])


def may_be_forgotten(prefix: str, *, at: datetime) -> Q:
    """The condition that a delivery has ended and, for some days, that no webhook of it waits."""
    closed = Q(**{f"{prefix}route_status__in": lifecycle.CLOSED})
    waiting = WebhookQueueItem.objects.filter(delivery=OuterRef(f"{prefix}pk"))
    return closed & (Q(**{f"{prefix}closed_at__lt": at - _EVENTS_ARE_SENT}) | ~Q(Exists(waiting)))


def _forget_whole(keys: list[UUID], *, at: datetime) -> None:
    stops = list(Stop.objects.filter(delivery__in=keys))
    _delete_files(ProofPhoto.objects.filter(stop__in=stops))
    with forgetting():
        _lock(keys)
        _forget_stops(stops, at=at)
        _execute(_FORGET_PICKUPS, [keys])
        Transition.objects.filter(delivery__in=keys).exclude(reason="").update(reason="")
        events = WebhookEvent.objects.filter(delivery__in=keys)
        _rewrite(events, lambda _delivery, body: _without_people(body, points=LABELS, driver=True))
        Delivery.objects.filter(pk__in=keys, forgotten_at=None).update(forgotten_at=at)


def _forget_those(stops: list[Stop], *, at: datetime) -> None:
    _delete_files(ProofPhoto.objects.filter(stop__in=stops))
    with forgetting():
        _lock({stop.delivery_id for stop in stops})
        _forget_stops(stops, at=at)
        _forget_in_events(stops)


def _forget_stops(stops: Collection[Stop], *, at: datetime) -> None:
    keys = [stop.pk for stop in stops]
    _delete_photos(keys)
    receivers.messages(stops).delete()
    DropoffOptions.objects.filter(pk__in=keys).delete()
    ReceiverLink.objects.filter(pk__in=keys).delete()
    ReceiverNote.objects.filter(pk__in=keys).delete()
    StopProof.objects.filter(pk__in=keys).exclude(received_by="").update(received_by="")
    _execute(_FORGET_STOPS, [at, keys])


def _delete_photos(stops: Collection[int]) -> None:
    """Delete rows of photos whose files are deleted: an interrupted deletion is repeated while its row exists.

    Files are deleted outside of the transaction, because the storage may be reached by HTTP.
    """
    # A photo is added under the lock of its delivery, which the caller holds: none is added after this list.
    photos = list(ProofPhoto.objects.filter(stop__in=stops))
    ProofPhoto.objects.filter(pk__in=[photo.pk for photo in photos]).delete()
    # Those that were added since. After an interruption `proofs.prune` finds them, because they are new.
    transaction.on_commit(partial(_delete_files, photos))


def _delete_files(photos: Iterable[ProofPhoto]) -> None:
    for photo in photos:
        proofs.files().delete(photo.name)


def _forget_in_events(stops: Collection[Stop]) -> None:
    """Anonymise what histories and events tell about these stops."""
    points: dict[UUID, set[str]] = {}
    for stop in stops:
        points.setdefault(stop.delivery_id, set()).add(stop.label)
    for delivery, labels in points.items():
        # The reason of a cancellation has no point: it may be about any of the receivers.
        told = Transition.objects.filter(delivery=delivery, point__in=[*labels, ""])
        told.exclude(reason="").update(reason="")
    Delivery.objects.filter(pk__in=points).exclude(cancel_reason="").update(cancel_reason="")
    events = WebhookEvent.objects.filter(delivery__in=points)
    _rewrite(events, lambda delivery, body: _without_people(body, points=points[delivery]))


def _rewrite(events: QuerySet[WebhookEvent], change: Callable[[UUID, str], str]) -> None:
    """Replace the bodies by what `change` makes of a delivery's key and a body. Within `forgetting`."""
    keys, bodies = [], []
    for key, delivery, body in events.values_list("pk", "delivery", "body"):
        assert delivery is not None  # noqa: S101  # nosec B101  # test events have none, and are not among these
        keys.append(key)
        bodies.append(change(delivery, body))
    _execute(_WRITE_BODIES, [keys, bodies])
    # What an endpoint has answered may repeat what it was sent.
    WebhookAttempt.objects.filter(event__in=keys).exclude(response_start="").update(response_start="")


def _lock(keys: Collection[UUID]) -> None:
    """Lock these deliveries, which have ended and stay so, in one order for all who lock several."""
    locked = Delivery.objects.select_for_update(no_key=True).filter(pk__in=keys).order_by("pk")
    list(locked.values_list("pk", flat=True))


def _execute(statement: str, parameters: list[Any]) -> None:
    with connection.cursor() as cursor:
        cursor.execute(statement, parameters)


def drivers_of(phone: str) -> QuerySet[Driver]:
    """The drivers with this number."""
    return with_phone(Driver.objects.exclude(phone=""), "phone", phone)


def forget_batch_of(phone: str, *, after: UUID | None, at: datetime) -> tuple[int, UUID | None]:
    """Anonymise one batch of what is stored of a driver with this number: deliveries by their keys, then the driver.

    The driver works for us no more, and all deliveries that the driver has held have ended. `after` is the last
    delivery of the batch before. Returns how many drivers were anonymised (1 or 0), and the last delivery of this
    batch; None if nothing follows it. A batch that is repeated changes nothing more.
    """
    driver = next((one for one in drivers_of(phone).filter(active=False).order_by("pk") if _may_go(one, at=at)), None)
    if driver is None:
        return 0, None
    deliveries = _held_by(driver).order_by("pk").values_list("pk", flat=True)
    keys = list((deliveries if after is None else deliveries.filter(pk__gt=after))[:BATCH])
    with forgetting():
        if keys:
            _lock(keys)
            _forget_in_deliveries(driver, keys)
            return 0, keys[-1]
        return _forget_rows(driver, at=at), None


def _may_go(driver: Driver, *, at: datetime) -> bool:
    return not _held_by(driver).exclude(may_be_forgotten("", at=at)).exists()


def _held_by(driver: Driver) -> QuerySet[Delivery]:
    """The deliveries whose route the driver has or had."""
    former = Transition.objects.filter(former_driver=driver).values_list("delivery", flat=True)
    return Delivery.objects.filter(Q(driver=driver) | Q(pk__in=list(former)))


def _forget_in_deliveries(driver: Driver, keys: Sequence[UUID]) -> None:
    """Anonymise the driver in the histories and events of these deliveries, where the driver held the route."""
    last = dict(Delivery.objects.filter(pk__in=keys).values_list("pk", "driver"))
    changes = Transition.objects.filter(delivery__in=keys).order_by("delivery_id", "pk")
    held = [
        (number, change)
        for key, history in groupby(changes, key=lambda change: change.delivery_id)
        for number, change, holder in _holders(list(history), last[key])
        if holder == driver.pk
    ]
    by_drivers = Transition.objects.filter(pk__in=[change.pk for _number, change in held], by__startswith="driver ")
    by_drivers.update(by=FORGOTTEN_DRIVER)
    # The nth change made the nth event.
    numbers = {(change.delivery_id, number) for number, change in held}
    events = WebhookEvent.objects.filter(delivery__in=keys).values_list("pk", "delivery", "sequence")
    told = [key for key, delivery, number in events if (delivery, number) in numbers]
    _rewrite(WebhookEvent.objects.filter(pk__in=told), lambda _delivery, body: _without_people(body, driver=True))


def _holders(history: Sequence[Transition], last: UUID | None) -> Iterator[tuple[int, Transition, UUID | None]]:
    """Each change of a delivery, latest first, with its number and the driver who held the route after it."""
    holder = last
    for number, change in reversed(list(enumerate(history, start=1))):
        yield number, change, holder
        if change.trigger == Trigger.ACCEPT:
            holder = None
        elif change.former_driver_id is not None:
            holder = change.former_driver_id


def _forget_rows(driver: Driver, *, at: datetime) -> int:
    # An acceptance locks the driver too, so none comes between the check and the deletion.
    locked = Driver.objects.select_for_update(no_key=True).get(pk=driver.pk)
    if locked.active or not _may_go(locked, at=at):
        return 0
    DriverPosition.objects.filter(driver=driver).delete()
    LatestPosition.objects.filter(driver=driver).delete()
    DutyChange.objects.filter(driver=driver).delete()
    GoodsInHand.objects.filter(driver=driver).delete()
    DriverDevice.objects.filter(driver=driver).delete()
    DriverLogInLink.objects.filter(driver=driver).delete()
    DriverMove.objects.filter(driver=driver).exclude(refusal_detail="").update(refusal_detail="")
    LogEntry.objects.filter(content_type=ContentType.objects.get_for_model(Driver), object_id=str(driver.pk)).update(
        object_repr=_FORGOTTEN_NAME
    )
    Driver.objects.filter(pk=driver.pk).update(name=_FORGOTTEN_NAME, phone="")
    return 1


def _without_people(body: str, *, points: Collection[str] = (), driver: bool = False) -> str:
    """The body of an event without the receivers at these points (B, C, D), and without the driver if asked for."""
    event = json.loads(body)
    event["orders"] = [_order(order) if order["point"] in points else order for order in event["orders"]]
    if driver:
        event["driver"] = _NOBODY
    return json.dumps(event, ensure_ascii=False, separators=(",", ":"))


def _order(order: dict[str, Any]) -> dict[str, Any]:
    address = {
        key: value if key in _KEPT_OF_ADDRESS else _rounded(value) if isinstance(value, float | int) else ""
        for key, value in order["address"].items()
    }
    coordinates = {key: _rounded(value) for key, value in order["coordinates"].items()}
    return {**order, "coordinates": coordinates, "address": address}


def _rounded(degrees: float | None) -> float | None:
    """Degrees, rounded as PostgreSQL rounds the columns."""
    return None if degrees is None else float(Decimal(str(degrees)).quantize(_DEGREES, ROUND_HALF_UP))
