"""Limits on attempts at passwords and one-time codes. Which counters an attempt has, and why: docs/decisions.md."""

import logging
import unicodedata
from datetime import timedelta
from enum import StrEnum

from django.conf import settings
from django.http import HttpRequest

from access import devices
from common import attempts
from common.attempts import Attempt, Limit, TooManyAttempts
from common.http_requests import client_address

_log = logging.getLogger(__name__)


class Secret(StrEnum):
    """The kind of a secret. A code is a one-time code, a recovery code or an enrolment code."""

    PASSWORD = "password"  # noqa: S105  # pragma: allowlist secret  # nosec B105  # its name
    CODE = "code"
    RESET = "reset"  # no secret yet: the request of a link with which a forgotten password is replaced


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


def begin(request: HttpRequest, *, secret: Secret, name: str) -> Attempt:
    """Count an attempt at a secret of the user `name`, who may not exist. Raises TooManyAttempts.

    The caller checks the secret afterwards, and takes the attempt back if it was correct.
    """
    address = client_address(request.META, proxies=settings.TRUSTED_PROXIES)
    device = devices.known(request, name)
    try:
        return attempts.count_all(_counters(secret, name, address, device))
    except TooManyAttempts as refused:
        _log.warning("An attempt at a %s from %s was refused: %s", secret, address, refused)
        raise


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
