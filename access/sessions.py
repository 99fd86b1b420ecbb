"""Lifetime of sessions, the list of a user's sessions (`allauth.usersessions`), and the log of log-ins."""

import logging
from collections.abc import Callable
from datetime import timedelta
from typing import Any

from allauth.account.internal.flows.login import get_authentication_records
from allauth.account.signals import authentication_step_completed, password_changed, password_reset
from allauth.account.signals import user_logged_in as log_in_completed
from allauth.usersessions.models import UserSession
from django.conf import settings
from django.contrib.admin.models import CHANGE, LogEntry
from django.contrib.auth import SESSION_KEY, logout
from django.contrib.auth.models import User
from django.contrib.auth.signals import user_logged_in, user_logged_out, user_login_failed
from django.contrib.sessions.models import Session
from django.db.models import QuerySet
from django.dispatch import receiver
from django.http import HttpRequest, HttpResponse
from django.utils.translation import gettext

from common import clock
from common.clock import agreed_now
from common.http_requests import client_address
from common.postgresql import batches

_TIMES = "began_and_seen"  # key of the session: [log-in, last request] in seconds since 1970
_SEEN_RESOLUTION_SECONDS = 60  # avoids a write on every request
_log = logging.getLogger(__name__)


class SessionLifetimeMiddleware:
    """End sessions that began SESSION_COOKIE_AGE ago, and those without a request for SESSION_IDLE_SECONDS.

    Django counts from the last change of a session's data and has no idle limit.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        if hasattr(request, "session") and SESSION_KEY in request.session:  # calls of the APIs have no session
            _keep_or_end(request)
        return self.get_response(request)


def _keep_or_end(request: HttpRequest) -> None:
    began, seen = request.session.get(_TIMES, (0, 0))
    now = int(clock.now().timestamp())
    if now - began >= settings.SESSION_COOKIE_AGE or now - seen >= settings.SESSION_IDLE_SECONDS:
        logout(request)
    # A moment ahead of now is of a clock that was put back.
    elif not 0 <= now - seen < _SEEN_RESOLUTION_SECONDS and not _is_automatic(request):
        request.session[_TIMES] = [min(began, now), now]


def _is_automatic(request: HttpRequest) -> bool:
    """Whether an open page sends the request by itself to be up to date (`live.js`), which is no use of the session."""
    return "Rota-Automatic" in request.headers or request.headers.get("Accept") == "text/event-stream"


@receiver(user_logged_in)
def _begin(request: HttpRequest, user: User, **_more: Any) -> None:
    now = int(clock.now().timestamp())
    request.session[_TIMES] = [now, now]
    methods = " and ".join(record["method"] for record in get_authentication_records(request, user))
    _log.info("%s logged in from %s with %s", user.get_username(), _address(request), methods or "no secret")


@receiver(authentication_step_completed)
def _renew_key(request: HttpRequest, user: User, method: str, reauthenticated: bool = False, **_more: Any) -> None:
    """Renew the session's key after a reauthentication, which prevents session fixation."""
    if reauthenticated:
        _log.info("%s authenticated again from %s with %s", user.get_username(), _address(request), method)
        old = request.session.session_key
        request.session.cycle_key()
        UserSession.objects.filter(session_key=old).update(session_key=request.session.session_key)


@receiver(user_login_failed)
def _log_failure(credentials: dict[str, Any], request: HttpRequest | None = None, **_more: Any) -> None:
    """Log a wrong password. Unknown names are left out, because some are passwords typed into the wrong field."""
    name = str(credentials.get("username", ""))
    known = name if "\0" not in name and User.objects.filter(username__iexact=name).exists() else "an unknown name"
    _log.warning("A wrong password for %s from %s", known, _address(request))


@receiver(user_logged_out)
def _log_end(user: User | None, **_more: Any) -> None:
    if user is not None:
        _log.info("%s logged out or reached the end of the session", user.get_username())


@receiver(password_changed)
def _log_change(request: HttpRequest, user: User, **_more: Any) -> None:
    _log.warning("%s changed their password, from %s", user.get_username(), _address(request))


@receiver(password_reset)
def _log_reset(request: HttpRequest, user: User, **_more: Any) -> None:
    _log.warning("%s replaced a forgotten password by a link, from %s", user.get_username(), _address(request))
    text = gettext("Forgotten password replaced by a link, from address %(address)s.")
    people = User.objects.filter(pk=user.pk)
    LogEntry.objects.log_actions(user.pk, people, CHANGE, text % {"address": _address(request)}, single_object=True)


def _address(request: HttpRequest | None) -> str:
    return client_address(request.META, proxies=settings.TRUSTED_PROXIES) if request else "-"


def mark_browser(response: HttpResponse) -> None:
    """Tell the pages that the browser keeps that somebody has logged out or in, by a cookie that scripts can read.

    Such a page opens without a connection, and would show and name the person before.
    """
    response.set_cookie(
        settings.PERSON_CHANGED_COOKIE_NAME,
        "1",
        max_age=timedelta(days=365),
        secure=settings.SESSION_COOKIE_SECURE,
        samesite="Lax",
    )


def unmark_browser(request: HttpRequest, response: HttpResponse) -> None:
    """With an answer that tells such a page who is logged in."""
    if settings.PERSON_CHANGED_COOKIE_NAME in request.COOKIES:
        response.delete_cookie(settings.PERSON_CHANGED_COOKIE_NAME, samesite="Lax")


@receiver(log_in_completed)
def _mark_after_log_in(response: HttpResponse, **_more: Any) -> None:
    mark_browser(response)


def end_sessions(people: QuerySet[User]) -> int:
    """Log people out everywhere. Returns how many sessions ended."""
    listed = UserSession.objects.filter(user__in=people)
    ended, _by_model = Session.objects.filter(session_key__in=listed.values("session_key")).delete()
    listed.delete()
    return ended


def end_one(key: str, *, user: Any) -> None:
    """End the session of this user whose row in the list has this id. Does nothing if there is none."""
    found = UserSession.objects.filter(user=user, pk=int(key[:18])).first()
    if found is not None:
        found.end()


def prune() -> None:
    """Delete expired sessions, and the list's rows of sessions that cannot exist any more."""
    now = agreed_now()
    batches.prune(Session, "expire_date", before=now)
    # Whatever happens in a session, it ends SESSION_COOKIE_AGE after the log-in that created its row.
    batches.prune(UserSession, "created_at", before=now - timedelta(seconds=settings.SESSION_COOKIE_AGE))
