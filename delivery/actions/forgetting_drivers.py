"""Anonymising drivers who no longer work for us. Deliveries keep the row, and so who was paid for what."""

from collections.abc import Iterator, Sequence
from datetime import datetime
from itertools import groupby
from uuid import UUID

from django.contrib.admin.models import LogEntry
from django.contrib.contenttypes.models import ContentType
from django.db.models import Q, QuerySet

from common.forgetting import forgetting
from common.phones import with_phone
from delivery import anonymous
from delivery.actions.forgetting import BATCH, lock, may_be_forgotten, rewrite
from delivery.lifecycle import Trigger
from delivery.models import (
    Delivery,
    Driver,
    DriverDevice,
    DriverLogInLink,
    DriverMove,
    DriverPosition,
    LatestPosition,
    Transition,
    WebhookEvent,
)
from delivery.models.transition import FORGOTTEN_DRIVER

FORGOTTEN_NAME = "\N{EN DASH}"
# Their data are needed still.
IS_WORKING = Q(active=True)


def drivers_of(phone: str) -> QuerySet[Driver]:
    """The drivers with this number."""
    return with_phone(Driver.objects.exclude(phone=""), "phone", phone)


def forget_batch_of(phone: str, *, after: UUID | None, at: datetime) -> tuple[int, UUID | None]:
    """Anonymise one batch of what is stored of a driver with this number: deliveries by their keys, then the driver.

    The driver works for us no more, and all deliveries that the driver has held have ended. `after` is the last
    delivery of the batch before. Returns how many drivers were anonymised (1 or 0), and the last delivery of this
    batch; None if nothing follows it. A batch that is repeated changes nothing more.
    """
    driver = next((one for one in drivers_of(phone).exclude(IS_WORKING).order_by("pk") if _may_go(one, at=at)), None)
    if driver is None:
        return 0, None
    deliveries = _held_by(driver).order_by("pk").values_list("pk", flat=True)
    keys = list((deliveries if after is None else deliveries.filter(pk__gt=after))[:BATCH])
    with forgetting():
        if keys:
            lock(keys)
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
    """In the histories and events of these deliveries, what was done and told while the driver held the route."""
    last = dict(Delivery.objects.filter(pk__in=keys).values_list("pk", "driver"))
    changes = Transition.objects.filter(delivery__in=keys).order_by("delivery_id", "pk")
    held = [
        (number, change)
        for key, history in groupby(changes, key=lambda change: change.delivery_id)
        for number, change, holder in _holders(list(history), last[key])
        if holder == driver.pk
    ]
    reported = Transition.objects.filter(pk__in=[change.pk for _number, change in held], by__startswith="driver ")
    reported.update(by=FORGOTTEN_DRIVER)
    # The nth change made the nth event.
    numbers = {(change.delivery_id, number) for number, change in held}
    events = WebhookEvent.objects.filter(delivery__in=keys).values_list("pk", "delivery", "sequence")
    told = [key for key, delivery, number in events if (delivery, number) in numbers]
    rewrite(WebhookEvent.objects.filter(pk__in=told), lambda _delivery, body: anonymous.without_driver(body))


def _holders(history: Sequence[Transition], last: UUID | None) -> Iterator[tuple[int, Transition, UUID | None]]:
    """Each change of a delivery, latest first, with its number and the driver who held the route after it."""
    holder = last
    for number, change in reversed(list(enumerate(history, start=1))):
        yield number, change, holder
        if change.trigger in (Trigger.RELEASE, Trigger.REASSIGN):
            holder = change.former_driver_id
        elif change.trigger == Trigger.ACCEPT:
            holder = None


def _forget_rows(driver: Driver, *, at: datetime) -> int:
    # An acceptance locks the driver too, so none comes between the check and the deletion.
    locked = Driver.objects.select_for_update(no_key=True).get(pk=driver.pk)
    if locked.active or not _may_go(locked, at=at):
        return 0
    DriverPosition.objects.filter(driver=driver).delete()
    LatestPosition.objects.filter(driver=driver).delete()
    DriverDevice.objects.filter(driver=driver).delete()
    DriverLogInLink.objects.filter(driver=driver).delete()
    DriverMove.objects.filter(driver=driver).exclude(refusal_detail="").update(refusal_detail="")
    LogEntry.objects.filter(content_type=ContentType.objects.get_for_model(Driver), object_id=str(driver.pk)).update(
        object_repr=FORGOTTEN_NAME
    )
    Driver.objects.filter(pk=driver.pk).update(name=FORGOTTEN_NAME, phone="")
    return 1
