"""Device cookies, which identify a browser that a user has logged in from before.

Based on OWASP's "Slow Down Online Guessing Attacks with Device Cookies".
"""

import secrets
from datetime import timedelta
from typing import Any

from allauth.account.internal.userkit import get_user_by_username
from allauth.account.signals import user_logged_in
from allauth.mfa.models import Authenticator
from django.conf import settings
from django.contrib.auth.models import User
from django.core.signing import BadSignature, TimestampSigner
from django.dispatch import receiver
from django.http import HttpRequest, HttpResponse

LIFETIME = timedelta(days=90)
_PATH = "/account/"  # of the forms that check passwords and codes


def known(request: HttpRequest, name: str) -> str:
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
    return TimestampSigner(salt=f"{__name__}:{user.get_session_auth_hash()}:{list(factors)}")
