"""Limits on attempts at passwords and one-time codes. Which counters an attempt has, and why: docs/decisions.md."""

import logging
import secrets
import unicodedata
from datetime import timedelta
from enum import StrEnum
from typing import Any

from allauth.account.internal.userkit import get_user_by_username
from allauth.account.signals import user_logged_in
from allauth.mfa.models import Authenticator
from django.conf import settings
from django.contrib.auth.models import User
from django.core.signing import BadSignature, TimestampSigner
from django.dispatch import receiver
from django.http import HttpRequest, HttpResponse

from common.http_requests import client_address
from common.pages import attempts
from common.pages.attempts import Attempt, Limit, TooManyAttempts

_log = logging.getLogger(__name__)
# Of a device cookie, which identifies a browser that a user has logged in from before. Based on OWASP's "Slow Down
# Online Guessing Attacks with Device Cookies".
LIFETIME = timedelta(days=90)
_PATH = "/account/"  # of the forms that check passwords and codes


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
    device = _known_device(request, name)
    try:
        return attempts.count_all(_counters(secret, name, address, device))
    except TooManyAttempts as refused:
        _log.warning("An attempt at a %s from %s was refused: %s", secret, address, refused)
        raise


def _counters(secret: Secret, name: str, address: str, device: str) -> list[tuple[Limit, tuple[str, ...]]]:
    if device:
        return [(PER_DEVICE, (secret, device))]
    key = unicodedata.normalize("NFKC", name).casefold()  # of all spellings of a name; log-in ignores case
    # The address first: its refusal inserts no row, which bounds the rows that one address can cause.
    # Every attempt locks in this order, so two attempts cannot deadlock.
    return [
        (PER_ADDRESS, (address,)),
        (PER_NAME_AND_ADDRESS, (secret, address, key)),
        (PER_NAME[secret], (secret, key)),
    ]


def _known_device(request: HttpRequest, name: str) -> str:
    """The id of the device if the user `name` has logged in from it before, else an empty string."""
    user = get_user_by_username(name)
    if user is None:
        return ""
    cookie = request.COOKIES.get(_cookie(user), "")
    try:
        return _signer(user).unsign(cookie, max_age=LIFETIME) if cookie else ""
    except BadSignature:
        return ""


@receiver(user_logged_in)  # allauth's, sent after the second factor with the response
def _remember(response: HttpResponse, user: User, **_more: Any) -> None:
    response.set_cookie(
        _cookie(user),
        _signer(user).sign(secrets.token_urlsafe(16)),
        max_age=LIFETIME,
        path=_PATH,
        secure=settings.SESSION_COOKIE_SECURE,
        httponly=True,
        samesite="Lax",
    )


def _cookie(user: User) -> str:
    """Name of the cookie. Each user has one of their own, so that users who share a browser do not replace it."""
    prefix = "__Secure-" if settings.SESSION_COOKIE_SECURE else ""  # "__Host-" would need the path "/"
    return f"{prefix}known_device_{user.pk}"


def _signer(user: User) -> TimestampSigner:
    """Signer for one user, password and second factor. A change of any of them invalidates the user's cookies.

    Otherwise an attacker with the password could collect cookies before the second factor is set up, each of which
    allows further attempts at its codes.
    """
    factors = Authenticator.objects.filter(user=user).order_by("pk").values_list("pk", flat=True)
    return TimestampSigner(salt=f"access.devices:{user.get_session_auth_hash()}:{list(factors)}")
