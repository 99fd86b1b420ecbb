"""Forgetting one person on request: what is closed at once, what is open when it ends."""

import json
import logging
from collections.abc import Callable
from dataclasses import asdict
from datetime import datetime
from functools import partial

from django.db import transaction

from access.models import PersonRequest, PersonRequestKind
from access.personal_data import search
from access.personal_data.search import Person
from common import credentials
from common.batches import each
from delivery.actions import forgetting
from delivery.actions import forgetting as in_deliveries
from integration.actions import forgetting as in_orders

_log = logging.getLogger(__name__)
_Step = Callable[[PersonRequest], int]
KINDS = ("orders", "stops", "pickups", "drivers")  # of rows, as `PersonRequest` counts them


def record(person: Person, *, kind: PersonRequestKind, by: str, at: datetime) -> PersonRequest:
    """Record who asks for what. The request of an export is finished at once."""
    is_export = kind == PersonRequestKind.EXPORT
    request = PersonRequest.objects.create(
        kind=kind,
        ciphertext="" if is_export else credentials.encrypt(json.dumps(asdict(person))),
        hint=person.hint,
        requested_by=by,
        requested_at=at,
        finished_at=at if is_export else None,
    )
    _log.info("%s recorded request %s about personal data: %s", by, request.pk, kind.value)
    return request


def carry_out(
    request: PersonRequest,
    *,
    at: datetime,
    most_batches: int | None = None,
    tell: Callable[[str, int], None] = lambda _what, _count: None,
) -> PersonRequest:
    """Anonymise what is closed, in batches that are committed one by one, and finish the request if nothing is left.

    Can be repeated and run twice at once. `tell` is called with the progress of each kind.
    """
    person = Person(**json.loads(credentials.decrypt(request.ciphertext)))
    until = request.requested_at
    steps: dict[str, _Step] = {
        "orders": lambda _: in_orders.forget_orders_of(
            document=person.document, phone=person.phone, until=until, at=at
        ),
    }
    if person.phone:
        steps |= {
            "stops": lambda _: in_deliveries.forget_stops_of(person.phone, until=until, at=at),
            "pickups": lambda _: in_deliveries.forget_pickups_of(person.phone, until=until, at=at),
            "drivers": lambda locked: _forget_driver(locked, person.phone, at=at),
        }
    left = most_batches
    for what, step in steps.items():
        while left is None or left > 0:
            with transaction.atomic():
                # A batch that two runs find at once would be counted twice.
                locked = PersonRequest.objects.select_for_update().get(pk=request.pk)
                before, count = locked.last_delivery, step(locked)
                setattr(locked, what, getattr(locked, what) + count)
                locked.save(update_fields=[what, "last_delivery"])
            if not count and locked.last_delivery == before:
                break
            left = None if left is None else left - 1
            if count:
                tell(what, count)
    _finish(request, person, at=at)
    request.refresh_from_db()
    return request


def finish_open(*, at: datetime) -> None:
    """Go on with each request that is not finished. Called by a task."""
    each(
        PersonRequest.objects.filter(finished_at=None).order_by("pk"),
        partial(carry_out, at=at, most_batches=in_deliveries.MOST_BATCHES),
        doing="go on with the request about personal data",
    )


def _forget_driver(request: PersonRequest, phone: str, *, at: datetime) -> int:
    """Anonymise the next batch of a driver, and keep in the request, which the caller saves, where it ended."""
    count, request.last_delivery = forgetting.forget_batch_of(phone, after=request.last_delivery, at=at)
    return count


def _finish(request: PersonRequest, person: Person, *, at: datetime) -> None:
    """Erase the number once no row of the person is left that existed at the request."""
    found = search.find(person, until=request.requested_at)
    if any(rows.exists() for rows in (found.stops, found.pickups, found.orders, found.drivers)):
        return
    finished = PersonRequest.objects.filter(pk=request.pk, finished_at=None).update(finished_at=at, ciphertext="")
    if finished:
        _log.info("request %s about personal data is finished", request.pk)
