"""Manifests: what a seller hands over together, from the first list of orders to the collection."""

import logging
from collections.abc import Sequence
from datetime import datetime

from django.db import transaction
from django.db.models import QuerySet

from integration.actions import orders as order_actions
from integration.errors import (
    InOpenManifest,
    ManifestClosed,
    ManifestEmpty,
    ManifestFull,
    ManifestNotFound,
    OrderCancelled,
    OrderNotFound,
    OrderNotPending,
)
from integration.lifecycle import Status
from integration.models import Manifest, ManifestEntry, Order, Seller
from integration.models.manifest import MOST_ORDERS
from integration.webhooks import outbox

_log = logging.getLogger(__name__)


@transaction.atomic
def create(*, seller: Seller, environment: str, orders: Sequence[Order], by: str, at: datetime) -> Manifest:
    """Open a manifest with these orders of the seller in the environment, which wait for collection.

    Raises OrderNotFound, OrderCancelled, InOpenManifest or OrderNotPending, and then writes nothing.
    """
    chosen = _free(Order.objects.of(seller, environment), orders)
    manifest = Manifest.objects.create(seller=seller, environment=environment, created_at=at, created_by=by)
    ManifestEntry.objects.bulk_create(ManifestEntry(manifest=manifest, order=order) for order in chosen)
    _log.info("manifest %s of seller %s opened by %s with %s orders", manifest.pk, seller.reference, by, len(chosen))
    return manifest


@transaction.atomic
def add(*, manifest: Manifest, orders: Sequence[Order], by: str) -> None:
    """Put further orders at the end of an open manifest.

    Raises ManifestClosed, ManifestNotFound, ManifestFull and what `create` raises, and then writes nothing.
    """
    locked = _open(manifest)
    chosen = _free(Order.objects.of(locked.seller_id, locked.environment), orders)
    if locked.entries.count() + len(chosen) > MOST_ORDERS:
        raise ManifestFull(most=MOST_ORDERS)
    ManifestEntry.objects.bulk_create(ManifestEntry(manifest=locked, order=order) for order in chosen)
    _log.info("%s orders added to manifest %s by %s", len(chosen), manifest.pk, by)


def _free(own: QuerySet[Order], orders: Sequence[Order]) -> list[Order]:
    """These orders as they are now, locked. Raises OrderNotFound for one that is not among `own`, and see `create`."""
    locked = {order.pk: order for order in _locked(own.filter(pk__in=[order.pk for order in orders]))}
    entries = ManifestEntry.objects.filter(order__in=locked.values(), manifest__closed_at=None)
    standing = dict(entries.values_list("order", "manifest"))
    for order in orders:
        if order.pk not in locked:
            raise OrderNotFound
        _check_free(locked[order.pk], standing.get(order.pk))
    return [locked[order.pk] for order in orders]


def _check_free(order: Order, manifest: int | None) -> None:
    if manifest is not None:
        raise InOpenManifest(order=order.code, manifest=manifest)
    if order.status == Status.CANCELLED:
        raise OrderCancelled(order=order.code)
    if order.status != Status.PENDING:
        raise OrderNotPending(order=order.code, status=order.status)


@transaction.atomic
def close(*, manifest: Manifest, by: str, at: datetime, via_api: bool = False) -> None:
    """Close a manifest: its orders that still wait are collected. Does nothing to a closed one.

    Orders that were moved meanwhile, by the scan of a carrier, keep their status and stay in it. Raises ManifestEmpty
    or ManifestNotFound.
    """
    orders, locked = _locked_with_orders(manifest)
    if locked.closed_at:
        return
    if not orders:
        raise ManifestEmpty
    outbox.lock_queue(orders)
    for order in orders:
        if order.status == Status.PENDING:
            order_actions.move(order=order, to=Status.COLLECTED, by=by, at=at, via_api=via_api)
    locked.closed_at, locked.closed_by = at, by
    locked.save(update_fields=["closed_at", "closed_by"])
    _log.info("manifest %s closed by %s", locked.pk, by)


@transaction.atomic
def remove(*, manifest: Manifest, orders: Sequence[Order], by: str) -> None:
    """Take orders out of an open manifest. Does nothing about others. Raises ManifestClosed or ManifestNotFound."""
    _open(manifest)
    gone, _models = manifest.entries.filter(order__in=orders).delete()
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
