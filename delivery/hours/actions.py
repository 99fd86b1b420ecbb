"""Hours of service: whether a delivery may be picked up at a moment, and changes of them."""

from datetime import datetime, timedelta

import pghistory
from django.db import transaction

from common.brazil import zones
from delivery.errors import Closed
from delivery.hours.models import ServiceHours
from delivery.models import Environment, Requester
from delivery.payload import DeliveryRequest
from delivery.simulation_steps import CLOSED_PREFIX


def check(*, token: Requester, payload: DeliveryRequest, at: datetime) -> None:
    """Raise Closed if nothing is picked up at A at `at`, or when the driver can begin if that is later.

    The sandbox is open at every hour. Deliveries that ask to be refused are, unless they are ready at the next full
    hour or later; or at the beginning of this one, which a call before it was told.
    """
    ready_at = payload.ready[0]
    begins_at = max(at, ready_at or at)
    if token.environment == Environment.SANDBOX:
        this_hour = at.replace(minute=0, second=0, microsecond=0)
        next_hour = this_hour + timedelta(hours=1)
        asks = payload.dropoffs[0].external_id.startswith(CLOSED_PREFIX)
        is_told = ready_at is not None and (ready_at == this_hour or ready_at >= next_hour)
        opens_at: datetime | None = next_hour if asks and not is_told else begins_at
    else:
        opens_at = ServiceHours.in_force().opens_at(token.integrator_id, at=begins_at)
    if opens_at is None:
        raise Closed("Nothing is picked up there at this hour, nor within the next 60 days.")
    if opens_at != begins_at:
        pickup = payload.pickup
        zone = zones.of_place(pickup.point.latitude, pickup.point.longitude, pickup.address)
        opens = opens_at.astimezone(zone)
        raise Closed("Nothing is picked up there at this hour. It opens %(opens)s.", opens=opens)


@transaction.atomic
def save(*, hours: ServiceHours, by: str) -> ServiceHours:
    """Write new or changed hours. They hold at once in this process, in others within five seconds.

    The history records them with `by`, and with the database's clock. Raises ValidationError.
    """
    hours.full_clean()
    with pghistory.context(by=by):
        hours.save()
    transaction.on_commit(ServiceHours.forget_in_force)
    return hours


@transaction.atomic
def delete(*, hours: ServiceHours, by: str) -> None:
    """Remove hours: those of the installation hold then, or it is open at every hour."""
    with pghistory.context(by=by):
        hours.delete()
    transaction.on_commit(ServiceHours.forget_in_force)
