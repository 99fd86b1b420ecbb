"""The choice of streets for the maps. What copies them imports the HTTP client, and so is a module of its own."""

import logging

from django.db import transaction

from common.workers import wake_up
from delivery import task_names
from delivery.actions import dispatch_rules
from delivery.geo.distance import Point
from delivery.models import DispatchRules, PickupPoint
from delivery.streets.models import Choice, CopyState, Streets

_log = logging.getLogger(__name__)
AROUND_KM = 15
UNDER_WAY = (CopyState.WAITING, CopyState.COPYING)


def chosen() -> Streets | None:
    """None until a superuser has chosen."""
    return Streets.objects.first()


def places() -> list[Point]:
    """Where the pickup points in use are, those within about a kilometre of each other once."""
    points = PickupPoint.objects.active().values_list("latitude", "longitude")
    return [
        Point(*each) for each in sorted({(round(latitude, 2), round(longitude, 2)) for latitude, longitude in points})
    ]


@transaction.atomic
def choose(choice: Choice, *, by: str) -> None:
    """Decide for the maps of everybody. To copy wakes a worker; what is being copied already goes on."""
    if not Streets.objects.update(choice=choice):
        Streets.objects.create(choice=choice)
    if choice is not Choice.COPY:
        stop()
        is_on = choice is Choice.OPENSTREETMAP
        if DispatchRules.objects.filter(streets_from_openstreetmap=True).exists() != is_on:
            dispatch_rules.change(values={"streets_from_openstreetmap": is_on}, by=by)
    else:
        begun = Streets.objects.exclude(state__in=UNDER_WAY)
        begun.update(state=CopyState.WAITING, error="", source="", total_bytes=0, copied_bytes=0, leased_until=None)
        wake_up.send_on_commit(task_names.COPY_STREETS)
    _log.info("%s chose for the streets of maps: %s", by, choice)


def stop() -> None:
    """End the copying within one of its steps. What was copied is kept for the next time."""
    Streets.objects.filter(state__in=UNDER_WAY).update(state=CopyState.STOPPED, leased_until=None)
