"""Connecting shops of sellers, and receiving what their platforms post."""

import logging
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
from integration.connections import drafts
from integration.connections.models import DEFAULT_DIMENSIONS, Connection, Reception
from integration.errors import ConnectionNotFound, InvalidSecret, InvalidSignature, TooManyConnections, UnknownOrderForm
from integration.models import Company, Seller

_log = logging.getLogger(__name__)
_RECEPTIONS = Receptions(Reception, drafts.DRAFTS, UnknownOrderForm, "um objeto JSON")
receive = _RECEPTIONS.receive


@dataclass(frozen=True)
class Settings:
    """What people choose of a connection. See its columns."""

    name: str
    company: Company
    service: str = "base"
    dimensions: str = DEFAULT_DIMENSIONS
    shipping_method: str = ""


@transaction.atomic
def connect(
    *,
    seller: Seller,
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
    seller.check_active()
    seller.locked()
    if Connection.objects.filter(seller=seller, removed_at=None).count() >= MOST_CONNECTIONS:
        raise TooManyConnections(most=MOST_CONNECTIONS)
    secret = _checked(secret) if secret else receptions.new_secret()
    made = Connection.objects.create(
        seller=seller,
        environment=environment,
        platform=platform,
        secret_ciphertext=credentials.encrypt(secret),
        created_at=at,
        created_by=by,
        **vars(settings),
    )
    _log.info("shop %s of seller %s connected by %s", made.pk, seller.reference, by)
    return made, secret


def change(*, connection: Connection, settings: Settings, by: str) -> None:
    """Change what was chosen. It holds for what the shop tells from now on."""
    if _rows(connection).exclude(**vars(settings)).update(**vars(settings)):
        _log.info("shop %s changed by %s", connection.pk, by)


def change_secret(*, connection: Connection, secret: str = "", by: str) -> str:
    """What is the secret from now on: `secret`, or one that is made. The one before is refused from now on.

    Raises InvalidSecret, and ConnectionNotFound of a shop that was removed.
    """
    secret = _checked(secret) if secret else receptions.new_secret()
    if not _rows(connection).update(secret_ciphertext=credentials.encrypt(secret)):
        raise ConnectionNotFound
    _log.info("secret of shop %s changed by %s", connection.pk, by)
    return secret


@transaction.atomic
def remove(*, connection: Connection, by: str, at: datetime) -> None:
    """Take no more orders of the shop. Those that it has sent stay."""
    removed = _rows(connection).update(removed_at=at, secret_ciphertext="")  # nosec B106  # none is left
    if removed:
        _log.info("shop %s removed by %s", connection.pk, by)


def _rows(connection: Connection) -> Any:
    return Connection.objects.filter(pk=connection.pk, removed_at=None)


def _checked(secret: str) -> str:
    """Raises InvalidSecret."""
    if not (secret := receptions.clean_secret(secret)):
        raise InvalidSecret(most=LONGEST_SECRET)
    return secret


def check_signature(connection: Connection, *, body: bytes, signature: str) -> None:
    """Raise InvalidSignature unless the platform has signed exactly this body."""
    if not receptions.is_signed(connection, body=body, signature=signature):
        raise InvalidSignature(header=receptions.header_of(connection))


def try_out(*, connection: Connection, at: datetime) -> Outcome:
    """Receive an order of an invented customer. Raises AccountSuspended."""
    connection.seller.check_active()
    return _RECEPTIONS.try_out(connection=connection, at=at)
