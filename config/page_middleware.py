"""Django's middleware of sessions, users and messages, which calls of the APIs pass without it."""

from typing import Any

from django.contrib.auth.middleware import AuthenticationMiddleware
from django.contrib.messages.middleware import MessageMiddleware
from django.contrib.sessions.middleware import SessionMiddleware
from django.http import HttpRequest, HttpResponseBase

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


class PageMessageMiddleware(_OfPages, MessageMiddleware):
    """Keeps messages for the next page."""
