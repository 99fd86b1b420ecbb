"""Limits on attempts at passwords and one-time codes, counted in PostgreSQL.

An attempt is counted before its secret is checked, in one statement per counter, so that concurrent attempts cannot
exceed a limit; a correct secret takes the attempt back. Which counters an attempt has, and why: docs/decisions.md.
"""

import hashlib
import logging
import unicodedata
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any

from django.conf import settings
from django.db import connection, transaction
from django.db.models import F
from django.http import HttpRequest

from access import devices
from access.addresses import client_address
from access.models import AttemptCount

_log = logging.getLogger(__name__)


class Secret(StrEnum):
    """The kind of a secret. A code is a one-time code, a recovery code or an enrolment code."""

    PASSWORD = "password"  # noqa: S105  # pragma: allowlist secret  # nosec B105  # its name
    CODE = "code"
    RESET = "reset"  # no secret yet: the request of a link with which a forgotten password is replaced


@dataclass(frozen=True)
class Limit:
    """At most `amount` failed attempts within `window`, which begins with the first of them."""

    name: str
    amount: int
    window: timedelta


PER_DEVICE = Limit("device", 10, timedelta(hours=1))
PER_ADDRESS = Limit("address", 20, timedelta(minutes=10))
PER_NAME_AND_ADDRESS = Limit("name and address", 5, timedelta(minutes=5))
# All unknown devices together. A one-time code has 6 digits, so its limit keeps guesses to 2 % a year.
PER_NAME = {
    Secret.PASSWORD: Limit("name", 100, timedelta(hours=1)),
    Secret.CODE: Limit("name", 50, timedelta(days=1)),
    # Every request counts, so this is also the most messages that a mailbox is sent.
    Secret.RESET: Limit("name", 5, timedelta(hours=1)),
}


class TooManyAttempts(Exception):
    """A limit is reached. The secret was not checked, and the attempt was not counted."""

    def __init__(self, limit: Limit) -> None:
        super().__init__(f"{limit.amount} attempts per {limit.name} within {limit.window}")
        self.limit = limit


@dataclass(frozen=True)
class Attempt:
    """A counted attempt: the key and the end of the window of each of its counters."""

    counted: tuple[tuple[str, datetime], ...]

    def forgive(self) -> None:
        """Take the attempt back, because the secret was correct.

        One statement per row, in the order in which `begin` locks them; a single statement could deadlock with it.
        """
        for key, expires_at in self.counted:
            AttemptCount.objects.filter(key=key, expires_at=expires_at, count__gt=0).update(count=F("count") - 1)


def begin(request: HttpRequest, *, secret: Secret, name: str) -> Attempt:
    """Count an attempt at a secret of the user `name`, who may not exist. Raises TooManyAttempts."""
    address = client_address(request.META, proxies=settings.TRUSTED_PROXIES)
    device = devices.known(request, name)
    try:
        with transaction.atomic():  # a refused attempt is counted nowhere
            return Attempt(tuple(_count(limit, key) for limit, key in _counters(secret, name, address, device)))
    except TooManyAttempts as refused:
        _log.warning("An attempt at a %s from %s was refused: %s", secret, address, refused)
        raise


def count(limit: Limit, *parts: str) -> Attempt:
    """Count something that is limited for what `parts` name. Raises TooManyAttempts."""
    return Attempt((_count(limit, parts),))


def prune() -> int:
    """Delete the counters whose window is over. Returns how many there were.

    Skips locked rows: waiting for them could deadlock with `begin`.
    """
    with connection.cursor() as cursor:
        cursor.execute(_PRUNE)
        return cursor.rowcount


def _counters(secret: Secret, name: str, address: str, device: str) -> list[tuple[Limit, tuple[str, ...]]]:
    if device:
        return [(PER_DEVICE, (secret, device))]
    # The address first: its refusal inserts no row, which bounds the rows that one address can cause.
    # Every attempt locks in this order, so two attempts cannot deadlock.
    name = _normalized(name)
    return [
        (PER_ADDRESS, (address,)),
        (PER_NAME_AND_ADDRESS, (secret, address, name)),
        (PER_NAME[secret], (secret, name)),
    ]


def _normalized(name: str) -> str:
    """One key for all spellings of a name; log-in ignores case."""
    return unicodedata.normalize("NFKC", name).casefold()


_COUNT = """
INSERT INTO access_attemptcount AS held (key, count, expires_at) VALUES (%(key)s, 1, now() + %(window)s)
ON CONFLICT (key) DO UPDATE SET
    count = CASE WHEN held.expires_at <= now() THEN 1 ELSE held.count + 1 END,
    expires_at = CASE WHEN held.expires_at <= now() THEN now() + %(window)s ELSE held.expires_at END
WHERE held.expires_at <= now() OR held.count < %(amount)s
RETURNING expires_at
"""

_PRUNE = """
DELETE FROM access_attemptcount
WHERE key IN (SELECT key FROM access_attemptcount WHERE expires_at <= now() FOR UPDATE SKIP LOCKED)
"""


def _count(limit: Limit, parts: tuple[str, ...]) -> tuple[str, datetime]:
    key = hashlib.sha256("\0".join((limit.name, *parts)).encode()).hexdigest()
    parameters: dict[str, Any] = {"key": key, "window": limit.window, "amount": limit.amount}
    with connection.cursor() as cursor:
        cursor.execute(_COUNT, parameters)
        row = cursor.fetchone()
    if row is None:
        raise TooManyAttempts(limit)
    return key, row[0]
