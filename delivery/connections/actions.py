"""Connecting shops, and receiving what their platforms post."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db import transaction

from common import credentials
from common.shops import receptions
from common.shops.drafts import Outcome
from common.shops.models import LONGEST_SECRET
from common.shops.platforms import Platform
from common.shops.receptions import MOST_CONNECTIONS, Receptions
from delivery.connections import drafts
from delivery.connections.models import Connection, Draft, Reception
from delivery.errors import ConnectionNotFound, InvalidSecret, InvalidSignature, TooManyConnections, UnknownOrderForm
from delivery.models import AuditAction, AuditEntry, Integrator, PickupPoint, VehicleType

_RECEPTIONS = Receptions(Reception, drafts.DRAFTS, UnknownOrderForm, "a JSON object")
receive = _RECEPTIONS.receive


@dataclass(frozen=True)
class Settings:
    """What people choose of a connection. See its columns."""

    name: str
    pickup: PickupPoint
    contact_phone: str = ""
    vehicle_type: str = VehicleType.MOTORCYCLE
    shipping_method: str = ""
    automatic: bool = False


@transaction.atomic
def connect(
    *,
    integrator: Integrator,
    environment: str,
    platform: Platform,
    settings: Settings,
    secret: str = "",
    by: str,
    at: datetime,
) -> tuple[Connection, str]:
    """A new connection and its secret, which is made unless the platform has made one.

    Raises TooManyConnections, InvalidSecret or AccountSuspended.
    """
    integrator.check_active()
    Integrator.objects.select_for_update(no_key=True).get(pk=integrator.pk)
    if Connection.objects.filter(integrator=integrator, removed_at=None).count() >= MOST_CONNECTIONS:
        raise TooManyConnections("An account has at most %(most)s connected shops.", most=MOST_CONNECTIONS)
    secret = _checked(secret) if secret else receptions.new_secret()
    made = Connection.objects.create(
        integrator=integrator,
        environment=environment,
        platform=platform,
        secret_ciphertext=credentials.encrypt(secret),
        created_at=at,
        created_by=by,
        **vars(settings),
    )
    _record_audit(made, AuditAction.SHOP_CONNECTED, made.name, by=by, at=at)
    return made, secret


@transaction.atomic
def change(*, connection: Connection, settings: Settings, by: str, at: datetime) -> None:
    """Change what was chosen. Open orders are computed anew, from the pickup point and for the vehicle of now.

    They wait for people once orders are not to be requested by themselves.
    """
    if not _rows(connection).exclude(**vars(settings)).update(**vars(settings)):
        return
    open_ones = Draft.objects.filter(connection=connection, ended_at=None)
    open_ones.update(due_at=at, price=None, revision=drafts.NEXT)
    if not settings.automatic:
        open_ones.update(automatic=False)
    drafts.wake()
    _record_audit(connection, AuditAction.SHOP_CHANGED, settings.name, by=by, at=at)


@transaction.atomic
def change_secret(*, connection: Connection, secret: str = "", by: str, at: datetime) -> str:
    """What is the secret from now on: `secret`, or one that is made. The one before is refused from now on.

    Raises InvalidSecret, and ConnectionNotFound of a shop that was removed.
    """
    secret = _checked(secret) if secret else receptions.new_secret()
    if not _rows(connection).update(secret_ciphertext=credentials.encrypt(secret)):
        raise ConnectionNotFound
    _record_audit(connection, AuditAction.SHOP_SECRET_SET, connection.name, by=by, at=at)
    return secret


@transaction.atomic
def remove(*, connection: Connection, by: str, at: datetime) -> None:
    """Take no more orders of the shop. Those that it has sent stay, and wait for people."""
    Draft.objects.filter(connection=connection, ended_at=None).update(automatic=False)
    removed = _rows(connection).update(removed_at=at, secret_ciphertext="")  # nosec B106  # none is left
    if removed:
        _record_audit(connection, AuditAction.SHOP_REMOVED, connection.name, by=by, at=at)


def _record_audit(connection: Connection, action: AuditAction, name: str, *, by: str, at: datetime) -> None:
    AuditEntry.objects.create(
        integrator_id=connection.integrator_id,
        environment=connection.environment,
        action=action,
        subject=name,
        by=by,
        at=at,
    )


def _rows(connection: Connection) -> Any:
    return Connection.objects.filter(pk=connection.pk, removed_at=None)


def _checked(secret: str) -> str:
    """Raises InvalidSecret."""
    if not (secret := receptions.clean_secret(secret)):
        raise InvalidSecret("A secret has 1 to %(most)s characters.", most=LONGEST_SECRET)
    return secret


def check_signature(connection: Connection, *, body: bytes, signature: str) -> None:
    """Raise InvalidSignature unless the platform has signed exactly this body."""
    if not receptions.is_signed(connection, body=body, signature=signature):
        raise InvalidSignature(
            "The header %(header)s is not the signature of this body with the secret of the connection.",
            header=receptions.header_of(connection),
        )


def try_out(*, connection: Connection, at: datetime) -> Outcome:
    """Receive an order of an invented customer at the pickup point. Raises AccountSuspended."""
    connection.integrator.check_active()
    place = connection.pickup.point if connection.pickup else (None, None)
    return _RECEPTIONS.try_out(connection=connection, at=at, place=place)
