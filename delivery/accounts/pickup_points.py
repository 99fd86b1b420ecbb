"""Pickup points that the members of an account register for themselves, and their approval by staff."""

from datetime import datetime

from django.db import transaction

from delivery.accounts.integrators import record_audit
from delivery.errors import PointChanged, TooManyPickupPoints
from delivery.geo.distance import Point
from delivery.models import AuditAction, Integrator, PickupPoint

MOST_POINTS = 200  # of an account


@transaction.atomic
def add(*, integrator: Integrator, name: str, point: Point, by_staff: bool, by: str, at: datetime) -> PickupPoint:
    """A new pickup point, which waits for approval if the account's do, unless staff add it.

    Raises TooManyPickupPoints or AccountSuspended.
    """
    integrator.check_active()
    if integrator.pickup_points.count() >= MOST_POINTS:
        raise TooManyPickupPoints("An account has at most %(most)s pickup points.", most=MOST_POINTS)
    added = PickupPoint(integrator=integrator, name=name, latitude=point.latitude, longitude=point.longitude)
    _use(added, integrator, by_staff=by_staff)
    added.save()
    record_audit(integrator, AuditAction.POINT_ADDED, name, by=by, at=at)
    return added


@transaction.atomic
def change(*, pickup: PickupPoint, name: str, point: Point, by_staff: bool, by: str, at: datetime) -> PickupPoint:
    """Rename and move. One that is moved waits for approval again, as in `add`. Raises AccountSuspended."""
    locked = _lock(pickup)
    has_moved = _shown(locked.point) != _shown(point)
    if not has_moved and locked.name == name:
        return locked
    locked.name = name
    if has_moved:
        locked.latitude, locked.longitude = point
    if has_moved and locked.active:
        _use(locked, locked.integrator, by_staff=by_staff)
    locked.save(update_fields=["name", "latitude", "longitude", "active", "awaits_approval"])
    record_audit(locked.integrator, AuditAction.POINT_CHANGED, name, by=by, at=at)
    return locked


@transaction.atomic
def activate(*, pickup: PickupPoint, by_staff: bool, by: str, at: datetime) -> PickupPoint:
    """Let requests start there again, after an approval as in `add`. Raises AccountSuspended."""
    locked = _lock(pickup)
    if not locked.active and not locked.awaits_approval:
        _use(locked, locked.integrator, by_staff=by_staff)
        locked.save(update_fields=["active", "awaits_approval"])
        record_audit(locked.integrator, AuditAction.POINT_ACTIVATED, locked.name, by=by, at=at)
    return locked


@transaction.atomic
def deactivate(*, pickup: PickupPoint, by: str, at: datetime) -> PickupPoint:
    """Refuse requests from there, and no longer ask for an approval."""
    locked = _lock(pickup)
    if locked.active or locked.awaits_approval:
        locked.active = locked.awaits_approval = False
        locked.save(update_fields=["active", "awaits_approval"])
        record_audit(locked.integrator, AuditAction.POINT_DEACTIVATED, locked.name, by=by, at=at)
    return locked


@transaction.atomic
def approve(*, pickup: PickupPoint, by: str, at: datetime) -> None:
    """Let requests start at the waiting pickup point, where `pickup` has it. Raises PointChanged."""
    as_seen = PickupPoint.objects.filter(
        pk=pickup.pk, awaits_approval=True, latitude=pickup.latitude, longitude=pickup.longitude
    )
    if not as_seen.update(active=True, awaits_approval=False):
        raise PointChanged
    record_audit(pickup.integrator, AuditAction.POINT_APPROVED, pickup.name, by=by, at=at)


@transaction.atomic
def remove(*, pickup: PickupPoint, by: str, at: datetime) -> None:
    """Delete the pickup point. Deliveries keep the coordinates that they were requested with."""
    locked = _lock(pickup)
    locked.delete()
    record_audit(locked.integrator, AuditAction.POINT_REMOVED, locked.name, by=by, at=at)


def _lock(pickup: PickupPoint) -> PickupPoint:
    """The row as it is now, locked. Raises PointChanged if it was removed, and AccountSuspended."""
    locked = (
        PickupPoint.objects.select_for_update(of=["self"]).select_related("integrator").filter(pk=pickup.pk).first()
    )
    if locked is None:
        raise PointChanged
    locked.integrator.check_active()
    return locked


def _shown(point: Point) -> tuple[float, float]:
    """As pages show it, to a tenth of a metre: what is not touched there comes back so."""
    return round(point.latitude, 6), round(point.longitude, 6)


def _use(pickup: PickupPoint, integrator: Integrator, *, by_staff: bool) -> None:
    """Make it active, or have it wait for approval."""
    pickup.awaits_approval = integrator.approve_pickup_points and not by_staff
    pickup.active = not pickup.awaits_approval
