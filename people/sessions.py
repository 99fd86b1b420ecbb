"""How long a session lasts, and the list of somebody's sessions. The list itself is `allauth.usersessions`'."""

import logging
import time
from collections.abc import Callable
from typing import Any

from allauth.account.decorators import reauthentication_required
from allauth.account.signals import authentication_step_completed
from allauth.usersessions.models import UserSession
from allauth.usersessions.views import ListUserSessionsView
from django.conf import settings
from django.contrib.auth import SESSION_KEY, logout
from django.contrib.auth.models import User
from django.contrib.auth.signals import user_logged_in
from django.db.models import QuerySet
from django.dispatch import receiver
from django.http import HttpRequest, HttpResponse
from django.utils.decorators import method_decorator

_TIMES = "began_and_seen"
_SEEN_RESOLUTION_SECONDS = 60  # spares a write on every request
_log = logging.getLogger(__name__)


class SessionLifetimeMiddleware:
    """End sessions that began SESSION_COOKIE_AGE ago, and those without a request for SESSION_IDLE_SECONDS.

    Django alone counts from the last change of a session's data, and has no limit for idle ones.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        if not request.path.startswith("/api/") and SESSION_KEY in request.session:
            _keep_or_end(request)
        return self.get_response(request)


def _keep_or_end(request: HttpRequest) -> None:
    began, seen = request.session.get(_TIMES, (0, 0))
    now = int(time.time())
    if now - began >= settings.SESSION_COOKIE_AGE or now - seen >= settings.SESSION_IDLE_SECONDS:
        _log.info("A session of %s has reached its end", request.user.get_username())
        logout(request)
    elif now - seen >= _SEEN_RESOLUTION_SECONDS:
        request.session[_TIMES] = [began, now]


@receiver(user_logged_in)
def _begin(request: HttpRequest, **_more: Any) -> None:
    now = int(time.time())
    request.session[_TIMES] = [now, now]


@receiver(authentication_step_completed)
def _renew_key(request: HttpRequest, reauthenticated: bool = False, **_more: Any) -> None:
    """Give the session another key once its person has proved again who they are, and end the old one."""
    if reauthenticated:
        old = request.session.session_key
        request.session.cycle_key()
        UserSession.objects.filter(session_key=old).update(session_key=request.session.session_key)


def end_sessions(people: QuerySet[User]) -> int:
    """Log people out everywhere. Returns how many sessions ended."""
    sessions = list(UserSession.objects.filter(user__in=people))
    for session in sessions:
        session.end()
    return len(sessions)


@method_decorator(reauthentication_required(allow_get=True), name="dispatch")
class SessionsView(ListUserSessionsView):
    """One's own sessions. Ending the others asks for the password or a code, unless that was just given."""
