"""Issuing, revoking and checking API keys. Nothing is cached, so a revoked key is refused at once."""

import logging
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime

from django.db import transaction

from common import credentials
from common.accounts import Environment
from integration.errors import InvalidKey, TooManyKeys
from integration.models import ApiKey, Seller

_log = logging.getLogger(__name__)
MOST_VALID = 20  # of one seller in one environment
_PREFIXES = {Environment.LIVE: credentials.LIVE_KEY, Environment.SANDBOX: credentials.SANDBOX_KEY}


def environment_of(clear_text: str) -> Environment:
    """The environment of a key, by its beginning."""
    return next(environment for environment, prefix in _PREFIXES.items() if clear_text.startswith(prefix))


@dataclass(frozen=True)
class Issued:
    """A new key with its clear text, which is not stored."""

    key: ApiKey
    clear_text: str


@transaction.atomic
def issue(
    *, seller: Seller, by: str, at: datetime, name: str = "", environment: Environment = Environment.LIVE
) -> Issued:
    """Issue one more key, of either environment. `name` is for people. Raises AccountSuspended or TooManyKeys."""
    # Serialises with a suspension and with the issue of other keys, so that neither condition changes meanwhile.
    seller.locked().check_active()
    if seller.keys.filter(environment=environment, revoked_at=None).count() >= MOST_VALID:
        raise TooManyKeys
    prefix = _PREFIXES[environment]
    text = credentials.random_token(prefix)
    key = ApiKey.objects.create(
        seller=seller,
        environment=environment,
        name=name,
        digest=credentials.digest(text),
        hint=credentials.hint(prefix, text),
        created_at=at,
        created_by=by,
    )
    _log.info("key %s of seller %s issued by %s", key.pk, seller.reference, by)
    return Issued(key, text)


def rename(*, key: ApiKey, name: str, by: str) -> None:
    """Give the key another name. Does nothing if the key has that name."""
    if ApiKey.objects.filter(pk=key.pk).exclude(name=name).update(name=name):
        key.name = name
        _log.info("key %s renamed by %s", key.pk, by)


def revoke(*, key: ApiKey, by: str, at: datetime) -> bool:
    """Refuse a key from now on. Returns False, and changes nothing, for a key that is revoked already."""
    revoked = key.revoke(by=by, at=at)
    if revoked:
        _log.info("key %s revoked by %s", key.pk, by)
    return revoked


def authenticate(clear_text: str, *, at: datetime, on_found: Callable[[ApiKey], None] = lambda _key: None) -> ApiKey:
    """The valid key with this clear text. Its time of last use is written at most once a minute.

    `on_found` is called before the seller is checked, and may refuse the key. Raises InvalidKey or AccountSuspended.
    """
    key = ApiKey.find(clear_text)
    if key is None:
        raise InvalidKey
    if key.revoked_at is not None:
        raise InvalidKey(InvalidKey.of_revoked)
    on_found(key)
    key.seller.check_active()
    key.record_use(at=at)
    return key
