"""Anonymising drivers who no longer work for us. Deliveries keep the row, and so who was paid for what."""

from functools import partial
from uuid import UUID

from django.db.models import Q, QuerySet

from common.forgetting import forgetting
from common.phones import with_phone
from delivery import anonymous, lifecycle
from delivery.actions.forgetting import BATCH, lock, rewrite
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


def forget_one_of(phone: str) -> int:
    """Anonymise one driver with this number who works for us no more and whose deliveries have ended. 1, or 0."""
    holding = Delivery.objects.filter(route_status__in=lifecycle.HELD).values("driver")
    driver = drivers_of(phone).exclude(IS_WORKING).exclude(pk__in=holding).first()
    if driver is None:
        return 0
    _forget_in_deliveries(driver)
    with forgetting():
        DriverPosition.objects.filter(driver=driver).delete()
        LatestPosition.objects.filter(driver=driver).delete()
        DriverDevice.objects.filter(driver=driver).delete()
        DriverLogInLink.objects.filter(driver=driver).delete()
        DriverMove.objects.filter(driver=driver).exclude(refusal_detail="").update(refusal_detail="")
        Driver.objects.filter(pk=driver.pk).update(name=FORGOTTEN_NAME, phone="")
    return 1


def _forget_in_deliveries(driver: Driver) -> None:
    """In the histories and events of the deliveries that the driver has taken to their end, in batches."""
    deliveries = Delivery.objects.filter(driver=driver).order_by("pk")
    keys = list(deliveries.values_list("pk", flat=True)[:BATCH])
    while keys:
        with forgetting():
            lock(keys)
            named = Transition.objects.filter(delivery__in=keys, by=f"driver {driver.name}")
            named.update(by=FORGOTTEN_DRIVER)
            rewrite(WebhookEvent.objects.filter(delivery__in=keys), partial(_without, driver))
        keys = list(deliveries.filter(pk__gt=keys[-1]).values_list("pk", flat=True)[:BATCH])


def _without(driver: Driver, _delivery: UUID, body: str) -> str:
    return anonymous.without_driver(body, name=driver.name, phone=driver.phone)
