"""Carriers and their keys, and assigning orders to them."""

import logging
from collections.abc import Callable, Sequence
from datetime import datetime

from django.db import transaction
from django.db.models import QuerySet

from common import credentials
from common.accounts import Environment
from integration.accounts.keys import MOST_VALID
from integration.errors import CarrierInactive, CarrierNotFound, InvalidKey, TooManyKeys
from integration.models import Assignment, Carrier, CarrierKey, Order

_log = logging.getLogger(__name__)


def open_(*, name: str, by: str) -> Carrier:
    """Create a carrier. Raises ValidationError for a name that is taken, or is none."""
    carrier = Carrier(name=name)
    carrier.full_clean()
    carrier.save()
    _log.info("%s opened by %s", carrier.source, by)
    return carrier


def find(text: str) -> Carrier:
    """The carrier with this id. Raises CarrierNotFound."""
    is_id = text.isascii() and text.isdigit() and len(text) < len(str(2**63))
    found = Carrier.objects.filter(pk=int(text)).first() if is_id else None
    if found is None:
        raise CarrierNotFound(f"No carrier has the id '{text}'.")
    return found


@transaction.atomic
def issue_key(*, carrier: Carrier, by: str, at: datetime) -> tuple[CarrierKey, str]:
    """One more key of the carrier, and its clear text, which is not stored. Raises CarrierInactive or TooManyKeys."""
    # Serialises with the issue of other keys.
    locked = Carrier.objects.select_for_update(no_key=True).get(pk=carrier.pk)
    if not locked.active:
        raise CarrierInactive
    if locked.keys.filter(revoked_at=None).count() >= MOST_VALID:
        raise TooManyKeys
    text = credentials.random_token(credentials.CARRIER_KEY)
    key = CarrierKey.objects.create(
        carrier=locked,
        digest=credentials.digest(text),
        hint=credentials.hint(credentials.CARRIER_KEY, text),
        created_at=at,
        created_by=by,
    )
    _log.info("key %s of %s issued by %s", key.pk, locked.source, by)
    return key, text


def revoke_key(*, key: CarrierKey, by: str, at: datetime) -> bool:
    """Refuse a key from now on. Returns False, and changes nothing, for a key that is revoked already."""
    revoked = key.revoke(by=by, at=at)
    if revoked:
        _log.info("carrier key %s revoked by %s", key.pk, by)
    return revoked


def authenticate(
    clear_text: str, *, at: datetime, on_found: Callable[[CarrierKey], None] = lambda _key: None
) -> CarrierKey:
    """The valid key with this clear text, as `keys.authenticate` finds those of sellers.

    Raises InvalidKey or CarrierInactive.
    """
    key = CarrierKey.find(clear_text)
    if key is None:
        raise InvalidKey(InvalidKey.of_carrier)
    if key.revoked_at is not None:
        raise InvalidKey(InvalidKey.of_revoked_carrier)
    on_found(key)
    if not key.carrier.active:
        raise CarrierInactive
    key.record_use(at=at)
    return key


def orders_of(carrier: Carrier) -> QuerySet[Order]:
    """The orders that the carrier may move."""
    return Order.objects.filter(carrier=carrier, environment=Environment.LIVE)


@transaction.atomic
def assign(*, orders: Sequence[Order], carrier: Carrier | None, by: str, at: datetime) -> list[Order]:
    """Have a carrier move these orders, or none, whatever their status. Returns those that it was not assigned to yet.

    Raises CarrierInactive.
    """
    if carrier is not None and not carrier.active:
        raise CarrierInactive
    # In one sequence, so that two calls with the same orders cannot wait for each other.
    rows = Order.objects.filter(pk__in=[order.pk for order in orders]).only("code", "carrier").order_by("pk")
    key = carrier and carrier.pk
    changed = [row for row in rows.select_for_update(of=("self",), no_key=True) if row.carrier_id != key]
    Order.objects.filter(pk__in=[row.pk for row in changed]).update(carrier=carrier)
    Assignment.objects.bulk_create(
        Assignment(order=row, carrier=carrier, assigned_at=at, assigned_by=by) for row in changed
    )
    _log.info("%s orders assigned to %s by %s", len(changed), carrier.source if carrier else "nobody", by)
    return changed
