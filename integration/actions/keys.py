"""Life of an API key. Nothing is cached, so a revoked key is dead at once."""

import logging
from dataclasses import dataclass
from datetime import datetime

from django.db import transaction

from common import credentials
from integration import api_keys
from integration.actions import links
from integration.errors import InvalidKey, TooManyKeys
from integration.models import ApiKey, Seller

_log = logging.getLogger(__name__)
MOST_VALID = 20  # of one seller


@dataclass(frozen=True)
class Issued:
    """A new key and its text, which nobody can read again."""

    key: ApiKey
    clear_text: str


@transaction.atomic
def issue(*, seller: Seller, by: str, at: datetime) -> Issued:
    """A new key beside the seller's others. Raises AccountSuspended or TooManyKeys."""
    # Locked, so that a suspension and further keys wait for this one.
    links.lock(seller).check_active()
    if seller.keys.filter(revoked_at=None).count() >= MOST_VALID:
        raise TooManyKeys
    text = credentials.random_token(api_keys.PREFIX)
    key = ApiKey.objects.create(
        seller=seller,
        digest=credentials.digest(text),
        hint=credentials.hint(api_keys.PREFIX, text),
        created_at=at,
        created_by=by,
    )
    _log.info("key %s of seller %s issued by %s", key.pk, seller.reference, by)
    return Issued(key, text)


def revoke(*, key: ApiKey, by: str, at: datetime) -> None:
    """End a key now. Once revoked, it keeps the moment and the name of the first time."""
    ApiKey.objects.filter(pk=key.pk, revoked_at=None).update(revoked_at=at, revoked_by=by)
    _log.info("key %s revoked by %s", key.pk, by)


def authenticate(header: bytes, *, at: datetime) -> ApiKey:
    """The valid key in an Authorization header, its use noted at most once a minute.

    Raises InvalidKey or AccountSuspended.
    """
    text = api_keys.find(header)
    key = ApiKey.objects.find(text) if text else None
    if key is None:
        raise InvalidKey
    key.seller.check_active()
    if not key.used_lately(at=at):
        ApiKey.objects.filter(pk=key.pk).update(last_used_at=at)
    return key
