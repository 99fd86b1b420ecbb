"""Enforces the second factor and the change of initial passwords on the panel, the admin and the account pages."""

from collections.abc import Callable
from functools import cache
from typing import Any
from urllib.parse import urlencode

from allauth.account.internal.flows.login import get_authentication_records
from allauth.account.signals import password_changed, password_reset
from django.conf import settings
from django.contrib import messages
from django.contrib.auth.models import User
from django.contrib.auth.signals import user_logged_in
from django.dispatch import receiver
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.translation import gettext

from access import enrolment
from access.models import InitialPassword
from access.rights import has_privileges

_PAGES = ("/panel/", "/admin/")
_ACCOUNT = "/account/"
_NEW_PASSWORD = "account_change_password"  # noqa: S105  # pragma: allowlist secret  # nosec B105  # a URL's name
_INITIAL_PASSWORD = "initial_password"  # noqa: S105  # pragma: allowlist secret  # nosec B105  # a session's key


class SecondFactorMiddleware:
    """Redirects sessions that lack a second factor, or whose password somebody else has set, to the page for it.

    With REQUIRE_TWO_FACTOR privileged users need the second factor for every page. Users who have one always need it
    for the pages that change it or the password, because the session may be older than the second factor.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        is_page = request.path.startswith(_PAGES)
        is_protected = is_page or (request.path.startswith(_ACCOUNT) and request.path not in _open_paths())
        if is_protected and (page := _missing_step(request, is_page)):
            if page == _NEW_PASSWORD:
                text = gettext("Your password was set by somebody else. Choose one that only you know.")
                messages.info(request, text)
            return redirect(f"{reverse(page)}?{urlencode({'next': request.path})}")
        return self.get_response(request)


@cache
def _open_paths() -> frozenset[str]:
    """Account pages that need no second factor: those of log-in, log-out and of the second factor itself."""
    names = (
        "account_login", "account_logout", "account_inactive", "account_reauthenticate",
        "mfa_authenticate", "mfa_reauthenticate", "mfa_activate_totp",
    )  # fmt: skip  # a list
    return frozenset(reverse(name) for name in names)


def _missing_step(request: HttpRequest, is_page: bool) -> str:
    """URL name of the page that this session has to visit first; empty if there is none."""
    user = request.user
    if not user.is_authenticated:
        return ""
    if not _used_second_factor(request):
        is_required = settings.REQUIRE_TWO_FACTOR and has_privileges(user)
        if (is_required or not is_page) and enrolment.has_second_factor(user):
            return "mfa_reauthenticate"
        if is_required:
            return "mfa_activate_totp"
    if settings.REQUIRE_TWO_FACTOR and is_page and request.session.get(_INITIAL_PASSWORD):
        return _NEW_PASSWORD
    return ""


def is_held(request: HttpRequest) -> bool:
    """Whether the pages of the panel and of the admin lead this session to another page first.

    On those pages never: the middleware would have led there already.
    """
    return not request.path.startswith(_PAGES) and bool(_missing_step(request, is_page=True))


def _used_second_factor(request: HttpRequest) -> bool:
    return any(record["method"] == "mfa" for record in get_authentication_records(request, request.user))


@receiver(user_logged_in)
def _mark_session(request: HttpRequest, user: User, **_more: Any) -> None:
    """Once per log-in is enough: setting a password ends the user's existing sessions."""
    if InitialPassword.objects.filter(user=user).exists():
        request.session[_INITIAL_PASSWORD] = True


@receiver(password_changed)
@receiver(password_reset)
def _unmark_session(request: HttpRequest, user: User, **_more: Any) -> None:
    InitialPassword.objects.filter(user=user).delete()
    request.session.pop(_INITIAL_PASSWORD, None)
