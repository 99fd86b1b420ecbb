"""The offer of scheduled routes: workers decide when, by the way that the nearest free drivers have to A."""

import logging
from collections.abc import Iterator
from datetime import datetime, timedelta
from functools import partial
from typing import NamedTuple

from django.conf import settings
from django.db import transaction

from common.pages.page_updates import publish_on_commit
from common.postgresql.batches import each
from delivery import page_updates, windows
from delivery.actions import deliveries, drivers, quotes, transitions
from delivery.lifecycle import RouteStatus
from delivery.models import Delivery, Environment
from delivery.models.delivery import DeliveryQuerySet

_log = logging.getLogger(__name__)
_BY = "system: scheduled offer"
# A smaller change of the expected offer is neither written nor told to pages.
_LEAST_CHANGE = timedelta(minutes=1)


class _Planned(NamedTuple):
    delivery: Delivery
    offer_at: datetime


def offer_due(*, at: datetime) -> int:
    """As `plan`, if one of the offers is expected by now. One statement otherwise.

    So an offer is made seconds after its moment, although drivers are looked for only once a minute before. A route
    whose driver has come nearer by less than `_LEAST_CHANGE` keeps its moment, and from then on all are planned at each
    call until it is offered.
    """
    is_due = _near(at).filter(offer_at__lte=at).exists()
    return plan(at=at) if is_due else 0


def plan(*, at: datetime) -> int:
    """Offer each scheduled route whose time has come, those that are ready first at first; note when the others are.

    The time is that of the way to A of the nearest free driver before the goods are ready, `OFFER_LEAD` at least and an
    hour at most. In the sandbox, whose drivers begin near A, it is `OFFER_LEAD`. All routes of the next hour are
    planned together, because a driver counts as near for one of them only; none is offered by the moment that was
    noted alone, because its driver may have come nearer since. Drivers who have moved away are noticed when this is
    called the next time. Each in its own transaction; an error of one is logged with its id and does not affect the
    others. A lost connection is raised. Several processes may do so at the same time. Returns how many were offered.
    """
    near = list(_near(at).prefetch_related("stops"))
    planned = [found for found in _planned(near, at) if found.offer_at <= at or _has_moved(found)]
    planned.sort(key=lambda found: (found.delivery.scheduled_for, found.delivery.pk))
    offered = sum(each(planned, partial(_offer_or_note, at=at), doing="offer the scheduled delivery"))
    if offered:
        _log.info("%d scheduled routes offered", offered)
    return offered


def _near(at: datetime) -> DeliveryQuerySet:
    """Those that may have to be offered."""
    return Delivery.objects.scheduled(until=at + windows.GREATEST_LEAD)


def _planned(near: list[Delivery], at: datetime) -> Iterator[_Planned]:
    live = [delivery for delivery in near if delivery.environment == Environment.LIVE]
    for delivery, candidates in drivers.nearest_of_each(live, at=at):
        driver_m = candidates[0].metres if candidates else None
        leg = quotes.leg_to_pickup(vehicle_type=delivery.vehicle_type, driver_m=driver_m)
        yield _plan(delivery, leg.seconds)
    for delivery in near:
        if delivery.environment == Environment.SANDBOX:
            yield _plan(delivery, 0)


def _plan(delivery: Delivery, seconds: float) -> _Planned:
    assert delivery.scheduled_for is not None  # noqa: S101  # nosec B101  # a constraint of scheduled routes
    return _Planned(delivery, delivery.scheduled_for - windows.lead(seconds, least=settings.OFFER_LEAD))


def _has_moved(planned: _Planned) -> bool:
    """Whether the offer is expected at another moment than the row says."""
    expected = planned.delivery.offer_at
    return expected is None or abs(planned.offer_at - expected) >= _LEAST_CHANGE


@transaction.atomic
def _offer_or_note(planned: _Planned, *, at: datetime) -> bool:
    """Whether the route was offered now, and not meanwhile by somebody else, or cancelled.

    One that somebody else has locked is left to the next time, so that the others do not wait for it.
    """
    locked = transitions.lock_unless_busy(planned.delivery)
    if locked is None or locked.route_status != RouteStatus.SCHEDULED:
        return False
    if planned.offer_at <= at:
        deliveries.offer_locked(locked, by=_BY, at=at)
        return True
    locked.offer_at, locked.offer_expires_at = planned.offer_at, planned.offer_at + settings.OFFER_TTL
    locked.save(update_fields=["offer_at", "offer_expires_at"])
    publish_on_commit(*page_updates.delivery_changed(locked.pk, locked.integrator_id, locked.environment))
    return False
