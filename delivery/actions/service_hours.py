"""Hours of service: whether a delivery may be picked up at a moment, and changes of them."""

from datetime import datetime, timedelta

import pghistory
from django.db import transaction
from django.utils import timezone

from delivery.errors import Closed
from delivery.models import Environment, Requester, ServiceHours
from delivery.payload import DeliveryRequest
from delivery.simulation.steps import CLOSED_PREFIX


def check(*, token: Requester, payload: DeliveryRequest, at: datetime) -> None:
    """Raise Closed if nothing is picked up at A at `at`, or when the driver can begin if that is later.

    The sandbox is open at every hour, but from the next full hour on for deliveries that ask to be refused.
    """
    begins_at = max(at, payload.ready[0] or at)
    if token.environment == Environment.SANDBOX:
        is_refused = payload.dropoffs[0].external_id.startswith(CLOSED_PREFIX)
        opens_at: datetime | None = max(begins_at, _next_full_hour(at)) if is_refused else begins_at
    else:
        opens_at = ServiceHours.in_force().opens_at(token.integrator_id, payload.pickup.point, at=begins_at)
    if opens_at is None:
        raise Closed("Nothing is picked up there at this hour, nor within the next 60 days.")
    if opens_at != begins_at:
        opens = timezone.localtime(opens_at)
        raise Closed("Nothing is picked up there at this hour. It opens %(opens)s.", opens=opens)


def _next_full_hour(at: datetime) -> datetime:
    # Not an hour after `at`: a second call, for the moment that the first one was told, would be too early again.
    return at.replace(minute=0, second=0, microsecond=0) + timedelta(hours=1)


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
    """Remove hours: those of the city or of the installation hold then, or it is open at every hour."""
    with pghistory.context(by=by):
        hours.delete()
    transaction.on_commit(ServiceHours.forget_in_force)
