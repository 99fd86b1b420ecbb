"""Django's middleware of sessions, users and messages, which calls of the APIs pass without it."""

from typing import Any

from django.conf import settings
from django.contrib.auth.middleware import AuthenticationMiddleware
from django.contrib.messages.middleware import MessageMiddleware
from django.contrib.sessions.middleware import SessionMiddleware
from django.http import HttpRequest, HttpResponseBase
from django.utils.deprecation import MiddlewareMixin

from config.areas import area_of


class _OfPages:
    get_response: Any

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        middleware: Any = self.get_response if area_of(request.path) else super().__call__  # type: ignore[misc]  # a mixin
        response: HttpResponseBase = middleware(request)
        return response


class PageSessionMiddleware(_OfPages, SessionMiddleware):
    """Sets `request.session`."""


class PageUserMiddleware(_OfPages, AuthenticationMiddleware):
    """Sets `request.user`."""


class VersionMiddleware(_OfPages, MiddlewareMixin):
    """Tells staff who are logged in the version of this service, and nobody else."""

    def process_response(self, request: HttpRequest, response: HttpResponseBase) -> HttpResponseBase:
        user = getattr(request, "_cached_user", None)  # Django's, if a view has read `request.user`
        if user and user.is_authenticated and user.is_staff:
            response["X-Rota-Version"] = settings.VERSION
        return response


class PageMessageMiddleware(_OfPages, MessageMiddleware):
    """Keeps messages for the next page."""
