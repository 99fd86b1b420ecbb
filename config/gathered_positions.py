"""Positions of drivers' phones, which the web server answers several at a time.

Each would take several times as long by itself: most of it are the middlewares of pages and the round trips to the
database. Only where everything is as usual. The view of the path answers all others, so what is refused is refused
there.
"""

import json
import time
from collections.abc import Sequence
from functools import cached_property
from typing import Any, NamedTuple

from csp.constants import HEADER as CSP_HEADER
from django.conf import settings
from django.core.exceptions import DisallowedHost
from django.db import close_old_connections
from django.http import HttpRequest, HttpResponse
from django.middleware.csrf import CsrfViewMiddleware
from django.middleware.security import SecurityMiddleware
from django.urls import ResolverMatch, resolve

from common import clock
from common.pages.device_data import MOST_BYTES
from config.middleware import BEGAN, NO_STORE, POLICY_OF_ANSWERS, RequestIdMiddleware
from config.server import limits
from config.server.limits import Utf8Request
from delivery.drivers import positions
from delivery.drivers.positions import Sent

_PATH = "/driver/positions/"
# What a request is answered with, where its middlewares find it.
_FOUND = "rota.found"


class Answered(NamedTuple):
    status: int
    headers: list[tuple[str, str]]
    body: bytes


class GatheredPositions:
    def __init__(self) -> None:
        self._security = SecurityMiddleware(_answer)
        self._chain = RequestIdMiddleware(self._security)  # type: ignore[arg-type]  # nothing here is asynchronous
        self._csrf = _QuietCsrf(_answer)

    def takes(self, environ: dict[str, Any]) -> bool:
        """Whether `answer` may know the answer."""
        return (
            environ["PATH_INFO"] == _PATH
            and environ["REQUEST_METHOD"] == "POST"
            and limits.UNREAD_BODY not in environ
            and int(environ["CONTENT_LENGTH"]) <= MOST_BYTES
        )

    def answer(self, environs: Sequence[dict[str, Any]]) -> list[Answered | None]:
        """The answers to these requests; None for those that are to be answered as others are."""
        close_old_connections()
        try:
            return self.together(environs)
        finally:
            close_old_connections()

    def together(self, environs: Sequence[dict[str, Any]]) -> list[Answered | None]:
        """As `answer`, by the connection as it is."""
        began = time.perf_counter()
        requests = [self._allowed(environ) for environ in environs]
        allowed = [request for request in requests if request is not None]
        found = positions.receive([_sent(request) for request in allowed], at=clock.now())
        for request, body in zip(allowed, found, strict=True):
            request.META[_FOUND], request.META[BEGAN] = body, began
        return [self._answered(request) if request and request.META[_FOUND] else None for request in requests]

    def _allowed(self, environ: dict[str, Any]) -> HttpRequest | None:
        """The request, unless one of the middlewares would refuse it."""
        limits.enforce(environ)
        if limits.TOO_LONG in environ:
            return None
        request = Utf8Request(environ)
        try:
            request.get_host()
        except DisallowedHost:
            return None
        self._csrf.process_request(request)
        is_refused = self._security.process_request(request) or self._csrf.process_view(
            request, self._match.func, (), {}
        )
        return None if is_refused else request

    def _answered(self, request: HttpRequest) -> Answered:
        request.resolver_match = self._match
        response = self._chain(request)
        return Answered(
            response.status_code, [(name.lower(), value) for name, value in response.items()], response.content
        )

    @cached_property
    def _match(self) -> ResolverMatch:
        return resolve(_PATH)


class _QuietCsrf(CsrfViewMiddleware):
    """Says whether a request is forged. The one of Django, which such a request meets later, refuses and logs it."""

    def _reject(self, _request: HttpRequest, _reason: str) -> HttpResponse:
        return HttpResponse(status=403)


def _sent(request: HttpRequest) -> Sent:
    # Not read from, because the view may have to.
    content: bytes = request.META["wsgi.input"].getvalue()
    return Sent(request.COOKIES.get(settings.DRIVER_COOKIE_NAME, ""), content)


def _answer(request: HttpRequest) -> HttpResponse:
    headers = {
        "Cache-Control": NO_STORE,
        CSP_HEADER: POLICY_OF_ANSWERS,
        "X-Frame-Options": settings.X_FRAME_OPTIONS,
    }
    return HttpResponse(json.dumps(request.META[_FOUND]), content_type="application/json", headers=headers)
