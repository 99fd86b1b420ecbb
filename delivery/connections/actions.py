"""Connecting shops, and receiving what their platforms post."""

import secrets
from dataclasses import dataclass, replace
from datetime import datetime
from io import BytesIO
from typing import Any

from django.db import connection as database
from django.db import transaction

from common import credentials
from common.api import json_body
from common.shops import platforms, samples
from common.shops.order import Address, ShopOrder, UnknownForm
from common.shops.platforms import Platform
from delivery.connections import drafts
from delivery.connections.drafts import Outcome, Reason, Result
from delivery.connections.models import LONGEST_SECRET, Connection, Draft, Reception
from delivery.errors import ConnectionNotFound, InvalidSecret, InvalidSignature, TooManyConnections, UnknownOrderForm
from delivery.models import AuditAction, AuditEntry, Integrator, PickupPoint, VehicleType

MOST_CONNECTIONS = 10  # of an account
MOST_BYTES = 1024 * 1024
MOST_RECEPTIONS = 100  # of a connection, which are kept
_SECRET_BYTES = 32
_LONGEST_ABOUT = 300
_TRIED_AT = Address(
    postal_code="01310100",
    street="Avenida Paulista",
    number="1000",
    complement="",
    district="Bela Vista",
    city="São Paulo",
    state="SP",
    country="BR",
)
_PRUNE = """
DELETE FROM delivery_reception WHERE connection_id = %s AND id <= (
    SELECT id FROM delivery_reception WHERE connection_id = %s ORDER BY id DESC OFFSET %s LIMIT 1
)
"""


@dataclass(frozen=True)
class Settings:
    """What people choose of a connection. See its columns."""

    name: str
    pickup: PickupPoint
    contact_phone: str = ""
    vehicle_type: str = VehicleType.MOTORCYCLE
    shipping_method: str = ""
    automatic: bool = False


def new_secret() -> str:
    return secrets.token_urlsafe(_SECRET_BYTES)


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
    secret = _checked(secret) if secret else new_secret()
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
    """Change what was chosen. Open orders are computed anew, from the pickup point and for the vehicle of now."""
    if not _rows(connection).exclude(**vars(settings)).update(**vars(settings)):
        return
    open_ones = Draft.objects.filter(connection=connection, ended_at=None)
    open_ones.update(due_at=at, price=None, revision=drafts.NEXT)
    drafts.wake()
    _record_audit(connection, AuditAction.SHOP_CHANGED, settings.name, by=by, at=at)


@transaction.atomic
def change_secret(*, connection: Connection, secret: str = "", by: str, at: datetime) -> str:
    """What is the secret from now on: `secret`, or one that is made. The one before is refused from now on.

    Raises InvalidSecret, and ConnectionNotFound of a shop that was removed.
    """
    secret = _checked(secret) if secret else new_secret()
    if not _rows(connection).update(secret_ciphertext=credentials.encrypt(secret)):
        raise ConnectionNotFound
    _record_audit(connection, AuditAction.SHOP_SECRET_SET, connection.name, by=by, at=at)
    return secret


@transaction.atomic
def remove(*, connection: Connection, by: str, at: datetime) -> None:
    """Take no more orders of the shop. Those that it has sent stay."""
    if Draft.objects.filter(connection=connection).exists():
        removed = _rows(connection).update(removed_at=at, secret_ciphertext="")  # nosec B106  # none is left
    else:
        removed, _of_tables = _rows(connection).delete()
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
    """The secret without blanks around it, which come with what is copied. Raises InvalidSecret."""
    secret = secret.strip()
    if not secret or len(secret) > LONGEST_SECRET or not secret.isprintable():
        raise InvalidSecret("A secret has 1 to %(most)s characters.", most=LONGEST_SECRET)
    return secret


def check_signature(connection: Connection, *, body: bytes, signature: str) -> None:
    """Raise InvalidSignature unless the platform has signed exactly this body."""
    if not platforms.is_signed(secret=connection.secret, body=body, signature=signature):
        header = platforms.SIGNATURE_HEADERS[Platform(connection.platform)]
        raise InvalidSignature(
            "The header %(header)s is not the signature of this body with the secret of the connection.", header=header
        )


def try_out(*, connection: Connection, at: datetime) -> Outcome:
    """Receive a signed order of an invented customer at the pickup point, as the platform posts it.

    It is a test order with every shipping method. Raises AccountSuspended.
    """
    connection.integrator.check_active()
    platform, number = Platform(connection.platform), int(at.timestamp())
    posting = samples.posting(platform, secret=connection.secret, to=_TRIED_AT, number=number, at=at)
    signature = posting.headers[platforms.SIGNATURE_HEADERS[platform]]
    check_signature(connection, body=posting.body, signature=signature)
    return receive(connection=connection, body=posting.body, at=at, is_trial=True)


def receive(*, connection: Connection, body: bytes, at: datetime, is_trial: bool = False) -> Outcome:
    """Take the order in a body whose signature is right, and record what has become of it.

    Raises UnknownOrderForm, which is recorded too.
    """
    try:
        order = _read(Platform(connection.platform), body)
    except UnknownForm as error:
        missing = ", ".join(error.missing)
        refused = Outcome(Result.REFUSED, Reason.UNKNOWN_FORM)
        _record(connection, refused, at=at, about=missing[:_LONGEST_ABOUT], is_trial=is_trial)
        raise UnknownOrderForm(
            "This is not an order as %(platform)s posts it. Missing: %(missing)s.",
            platform=connection.get_platform_display(),
            missing=missing[:_LONGEST_ABOUT] or "a JSON object",
        ) from error
    if is_trial:
        point = connection.pickup.point if connection.pickup else (None, None)
        address = replace(order.address, latitude=point[0], longitude=point[1])
        order = replace(order, is_test=True, address=address, shipping_methods=(connection.shipping_method,))
    with transaction.atomic():
        outcome = drafts.take(connection=connection, order=order, at=at)
        _record(connection, outcome, at=at, number=order.number or order.id, is_trial=is_trial)
    return outcome


def _read(platform: Platform, body: bytes) -> ShopOrder:
    """Raises UnknownForm, with no path if the body is not a JSON object."""
    try:
        found = json_body.read_object(
            BytesIO(body), most_bytes=MOST_BYTES, most_levels=platforms.MOST_LEVELS, parse_float=drafts.decimal
        )
    except (json_body.InvalidJSON, json_body.NotAnObject, json_body.BodyTooDeep) as error:
        raise UnknownForm(()) from error
    return platforms.read(platform, found)


def _record(
    connection: Connection, outcome: Outcome, *, at: datetime, number: str = "", about: str = "", is_trial: bool
) -> None:
    Reception.objects.create(
        connection=connection,
        at=at,
        number=number,
        result=outcome.result,
        reason=outcome.reason,
        about=about,
        draft=outcome.draft,
        is_trial=is_trial,
    )
    with database.cursor() as cursor:
        cursor.execute(_PRUNE, [connection.pk, connection.pk, MOST_RECEPTIONS])
