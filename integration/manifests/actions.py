"""Manifests: what a seller hands over together, from the first list of orders to the collection."""

import logging
from collections.abc import Callable, Sequence
from datetime import datetime
from typing import TypeVar

from django.db import transaction
from django.db.models import QuerySet

from common.accounts import Environment
from common.workers import wake_up
from integration import task_names
from integration.actions import orders as order_actions
from integration.errors import (
    InOpenManifest,
    IntegrationError,
    ManifestClosed,
    ManifestEmpty,
    ManifestFull,
    ManifestNotFound,
    OrderCancelled,
    OrderNotFound,
    OrderNotPending,
    by_path,
    refuse,
)
from integration.lifecycle import Status
from integration.models import Manifest, ManifestEntry, Order, Seller, Simulation
from integration.models.manifest import MOST_ORDERS
from integration.webhooks import outbox

_log = logging.getLogger(__name__)
_Made = TypeVar("_Made")


@transaction.atomic
def create(*, seller: Seller, environment: str, orders: Sequence[Order | str], by: str, at: datetime) -> Manifest:
    """Open a manifest with these orders of the seller in the environment, which wait for collection.

    A text is an `orderId` that no order has, see `by_codes`. Raises by `refuse` OrderNotFound, OrderCancelled,
    InOpenManifest, OrderNotPending or ManifestFull for each that is at fault, and then writes nothing.
    """
    chosen = _free(Order.objects.of(seller, environment), orders, room=MOST_ORDERS)
    manifest = Manifest.objects.create(seller=seller, environment=environment, created_at=at, created_by=by)
    ManifestEntry.objects.bulk_create(ManifestEntry(manifest=manifest, order=order) for order in chosen)
    _log.info("manifest %s of seller %s opened by %s with %s orders", manifest.pk, seller.reference, by, len(chosen))
    return manifest


@transaction.atomic
def add(*, manifest: Manifest, orders: Sequence[Order | str], by: str) -> None:
    """Put further orders at the end of an open manifest.

    Raises ManifestClosed, ManifestNotFound and what `create` raises, and then writes nothing.
    """
    locked = _open(manifest)
    own = Order.objects.of(locked.seller_id, locked.environment)
    chosen = _free(own, orders, room=MOST_ORDERS - locked.entries.count())
    ManifestEntry.objects.bulk_create(ManifestEntry(manifest=locked, order=order) for order in chosen)
    _log.info("%s orders added to manifest %s by %s", len(chosen), manifest.pk, by)


def leaving_out(
    act: Callable[[Sequence[Order]], _Made], orders: Sequence[Order]
) -> tuple[_Made, list[IntegrationError]]:
    """What `act`, which is `create` or `add`, makes of these orders without those at fault, and their faults.

    Raises what `act` raises if all of them are at fault.
    """
    try:
        return act(orders), []
    except IntegrationError as error:
        fit = [order for path, order in by_path(orders) if path not in error.faults]
        if not error.faults or not fit:
            raise
        return act(fit), [*error.faults.values()]


def _free(own: QuerySet[Order], orders: Sequence[Order | str], *, room: int) -> list[Order]:
    """These orders as they are now, locked, each once, for a manifest that has room for so many.

    Raises what `create` raises, OrderNotFound also for those that are not in `own`.
    """
    keys = [each.pk for each in orders if isinstance(each, Order)]
    locked = {order.pk: order for order in _locked(own.filter(pk__in=keys))}
    entries = ManifestEntry.objects.filter(order__in=locked.values(), manifest__closed_at=None)
    standing = dict(entries.values_list("order", "manifest"))
    free: dict[int, Order] = {}
    faults: dict[str, IntegrationError] = {}
    for path, order in by_path(orders):
        if isinstance(order, str):
            faults[path] = OrderNotFound.named(order)
        elif order.pk not in locked:
            faults[path] = OrderNotFound.named(order.code)
        elif fault := _fault(locked[order.pk], standing.get(order.pk)):
            faults[path] = fault
        elif order.pk not in free and len(free) == room:
            faults[path] = ManifestFull(most=MOST_ORDERS)
        else:
            free[order.pk] = locked[order.pk]
    refuse(faults)
    return [*free.values()]


def _fault(order: Order, manifest: int | None) -> IntegrationError | None:
    if manifest is not None:
        return InOpenManifest(order=order.code, manifest=manifest)
    if order.status == Status.CANCELLED:
        return OrderCancelled(order=order.code)
    if order.status != Status.PENDING:
        return OrderNotPending(order=order.code, status=order.status)
    return None


@transaction.atomic
def close(*, manifest: Manifest, by: str, at: datetime, via_api: bool = False) -> None:
    """Close a manifest: its orders that still wait are collected. Does nothing to a closed one.

    Orders that were moved meanwhile, by the scan of a carrier, keep their status and stay in it. The simulated carrier
    goes on with those of the sandbox that have waited for it. Raises ManifestEmpty or ManifestNotFound.
    """
    orders, locked = _locked_with_orders(manifest)
    if locked.closed_at:
        return
    if not orders:
        raise ManifestEmpty
    outbox.lock_queue(orders)
    pending = [order for order in orders if order.status == Status.PENDING]
    simulations = Simulation.that_wait(pending) if locked.environment == Environment.SANDBOX else {}
    for order in pending:
        moved = order_actions.move(order=order, to=Status.COLLECTED, by=by, at=at, via_api=via_api)
        if simulation := simulations.get(order.pk):  # which the move has deleted, as one by hand does
            simulation.plan(moved, at=at)
    if simulations:
        Simulation.objects.bulk_create(simulations.values())
        wake_up.send_on_commit(task_names.ADVANCE_SIMULATIONS)
    locked.closed_at, locked.closed_by = at, by
    locked.save(update_fields=["closed_at", "closed_by"])
    _log.info("manifest %s closed by %s", locked.pk, by)


@transaction.atomic
def remove(*, manifest: Manifest, orders: Sequence[Order | str], by: str) -> None:
    """Take orders out of an open manifest. Does nothing about others.

    Raises ManifestClosed, ManifestNotFound, or by `refuse` OrderNotFound for each text, see `create`.
    """
    _open(manifest)
    refuse({path: OrderNotFound.named(each) for path, each in by_path(orders) if isinstance(each, str)})
    gone, _models = manifest.entries.filter(order__in=[each for each in orders if isinstance(each, Order)]).delete()
    _log.info("%s orders removed from manifest %s by %s", gone, manifest.pk, by)


@transaction.atomic
def delete(*, manifest: Manifest, by: str) -> None:
    """Delete an open manifest; its orders can be put into another one. Raises ManifestClosed or ManifestNotFound."""
    _open(manifest).delete()
    _log.info("manifest %s deleted by %s", manifest.pk, by)


def _open(manifest: Manifest) -> Manifest:
    """The locked manifest. Raises ManifestClosed, or ManifestNotFound."""
    _orders, locked = _locked_with_orders(manifest)
    if locked.closed_at:
        raise ManifestClosed
    return locked


def _locked_with_orders(manifest: Manifest) -> tuple[list[Order], Manifest]:
    """The orders that stand in the manifest, by their keys, and itself, as they are now, locked: first it.

    So none is added meanwhile, and queue items of several orders are inserted in the sequence of replays.

    Raises ManifestNotFound if it was deleted meanwhile.
    """
    locked = Manifest.objects.select_for_update(no_key=True).filter(pk=manifest.pk).first()
    if locked is None:
        raise ManifestNotFound
    _locked(Order.objects.filter(manifest_entries__manifest=manifest))
    return list(Order.objects.filter(manifest_entries__manifest=manifest).order_by("pk")), locked


def _locked(orders: QuerySet[Order]) -> list[Order]:
    """In one sequence, so that two manifests with the same orders cannot wait for each other."""
    return list(orders.select_for_update(of=("self",), no_key=True).order_by("pk"))
