"""Goods that a driver has collected of a route that is not the driver's any more: cancelled, or another's."""

from datetime import datetime

from django.db import transaction

from common.pages.page_updates import publish_on_commit
from delivery import lifecycle, page_updates
from delivery.actions import transitions
from delivery.errors import GoodsInDriversHand
from delivery.lifecycle import Mode, RouteStatus, Status
from delivery.models import Delivery, Driver, GoodsInHand


def are_out(*, delivery: Delivery, driver: Driver, point: str) -> bool:
    """Whether a collection that this driver sends is of a route which was cancelled or taken from the driver.

    False for a driver who never held the route, and where its goods were collected since: drivers have handed them
    over then. `point`: in mode REVERSE, where each stop has goods of its own.
    """
    own = point.upper() if delivery.mode == Mode.REVERSE else ""
    collections = delivery.transitions.filter(trigger__in=lifecycle.COLLECTIONS, point=own)
    if delivery.driver_id != driver.pk:
        taken = delivery.transitions.filter(former_driver=driver).order_by("-id").first()
        is_known = delivery.forgotten_at is None
        return is_known and taken is not None and not collections.filter(pk__gt=taken.pk).exists()
    if delivery.route_status == RouteStatus.RETURNING:
        is_cancelled_reverse = delivery.mode == Mode.REVERSE and delivery.cancelled_at is not None
        return is_cancelled_reverse and not collections.exists()
    return delivery.route_status == RouteStatus.CANCELLED and delivery.forgotten_at is None


def record(*, delivery: Delivery, driver: Driver, at: datetime, made_at: datetime) -> None:
    """Let dispatchers see that the goods are out. Raises GoodsInDriversHand, which tells the driver what to do.

    For goods that `are_out` of a route that may not be opened again, with the rows of the delivery and the driver
    locked.
    """
    _row, is_new = GoodsInHand.objects.get_or_create(
        delivery=delivery, driver=driver, defaults={"collected_at": made_at, "reported_at": at}
    )
    if is_new:
        _announce(delivery, driver)
    if delivery.mode == Mode.REVERSE:
        raise GoodsInDriversHand("This route is not yours any more. Bring back what you have collected: take it to A.")
    raise GoodsInDriversHand("This route is not yours any more. Bring the goods back to A.")


def may_open_again(*, delivery: Delivery, driver: Driver, made_at: datetime) -> bool:
    """Whether the driver can bring goods that `are_out` back on the route itself, having collected them at `made_at`.

    After a collection before the cancellation, unless the driver holds another route or could not be given this one any
    more.
    """
    if delivery.driver_id != driver.pk or delivery.cancelled_at is None:
        return False
    if delivery.route_status == RouteStatus.RETURNING:
        return True
    is_fit = driver.active and driver.fits(delivery) and driver.vehicle_type == delivery.vehicle_type
    return made_at < delivery.cancelled_at and is_fit and not Delivery.objects.held_by(driver).exists()


def hand_over(*, delivery: Delivery, by: str, at: datetime) -> None:
    """Record, after a collection, that goods which drivers were to bring back are with who has collected all of them.

    With the row of the delivery locked. In mode REVERSE nothing says of which stops the goods are, so none may be left.
    """
    if any(stop.status != Status.COLLECTED for stop in delivery.ordered_stops):
        return
    out = list(GoodsInHand.objects.out().filter(delivery=delivery).select_related("driver"))
    if out:
        GoodsInHand.objects.filter(pk__in=[goods.pk for goods in out], back_at=None).update(back_at=at, back_by=by)
    for goods in out:
        _announce(delivery, goods.driver)


@transaction.atomic
def record_back(*, goods: GoodsInHand, by: str, at: datetime) -> bool:
    """Record that the goods are back, or with whom they belong. False if that was recorded before."""
    is_first = bool(GoodsInHand.objects.filter(pk=goods.pk, back_at=None).update(back_at=at, back_by=by))
    if is_first:
        _announce(goods.delivery, goods.driver)
    return is_first


def _announce(delivery: Delivery, driver: Driver) -> None:
    """Once this transaction has committed, tell open pages: those of the delivery, and the driver's phone."""
    transitions.follow_up_on_commit(delivery)
    publish_on_commit(page_updates.route_changed(delivery.pk, driver.pk))
