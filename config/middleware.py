"""Request ids, the access log, and checks before the views."""

import re
import time
from collections.abc import Callable
from http import HTTPStatus
from logging import DEBUG, INFO, getLogger
from typing import Any
from uuid import uuid4

from csp.constants import HEADER as CSP_HEADER
from csp.middleware import CSPMiddleware, PolicyParts
from django.conf import settings
from django.contrib.auth.middleware import AuthenticationMiddleware
from django.contrib.messages.middleware import MessageMiddleware
from django.contrib.sessions.exceptions import SessionInterrupted
from django.contrib.sessions.middleware import SessionMiddleware
from django.core.exceptions import BadRequest, SuspiciousOperation
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.middleware.locale import LocaleMiddleware
from django.utils import translation
from django.utils.deprecation import MiddlewareMixin

from common.api import rate_limit
from common.connections import is_unavailable
from common.http_requests import client_address
from common.observability import log_context
from common.pages import map_file
from common.postgresql.replica import CHANGED_SECONDS
from config import errors
from config.areas import area_of
from config.monitoring import requests
from config.monitoring.logs import BEFORE_SECRETS, REQUEST_ID
from config.server import limits
from delivery.models import DispatchRules

HEADER = "X-Request-Id"
# Key of the WSGI environ: when the work for a request began, where that was before the middlewares, on the clock of
# `perf_counter`.
BEGAN = "rota.began"
# The Content-Security-Policy of the APIs: JSON and photos load nothing. `sandbox`: what a browser shows of one has no
# origin and runs nothing.
POLICY_OF_ANSWERS = "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; sandbox"
NO_STORE = "no-store, private"
_WELL_FORMED = re.compile(r"[A-Za-z0-9_.:-]{8,128}")
_SAFE = frozenset({"GET", "HEAD", "OPTIONS"})

_access = getLogger("rota.access")
# Asked every few seconds.
_PROBES = frozenset({"/healthz", "/readyz"})


class RequestIdMiddleware:
    """Give every request an id (the caller's own when it is well-formed), return it and write the access log."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        sent = request.headers.get(HEADER, "")
        given = sent if _WELL_FORMED.fullmatch(sent) else str(uuid4())
        reset_token, scope = REQUEST_ID.set(given), log_context.begin()
        started = request.META.get(BEGAN) or time.perf_counter()
        try:
            response = self.get_response(request)
            response[HEADER] = given
            seconds = time.perf_counter() - started
            requests.answered(request, response.status_code, seconds)
            address = client_address(request.META, proxies=settings.TRUSTED_PROXIES)
            logged = (request.method, _path(request), response.status_code, seconds * 1000)
            level = DEBUG if request.path in _PROBES and response.status_code == HTTPStatus.OK else INFO
            _access.log(level, "%s %r %s %.1fms %s %s%s", *logged, address, _caller(request), _changed(request))
            return response
        finally:
            log_context.end(scope)
            REQUEST_ID.reset(reset_token)


def _path(request: HttpRequest) -> str:
    """The path without the token or signature that is the right to see what it leads to."""
    secret = next((prefix for prefix in BEFORE_SECRETS if request.path.startswith(prefix)), None)
    return f"{secret}…" if secret else request.path


def _person(request: HttpRequest) -> Any:
    """Who is logged in, if a view has read `request.user`; else None. Without a query."""
    user = getattr(request, "_cached_user", None)  # Django's
    return user if user and user.is_authenticated else None


def _caller(request: HttpRequest) -> str:
    """The hint of a token or key, a username or the id of a driver, as far as it is known."""
    if auth := getattr(request, "auth", None):  # REST framework's
        return str(auth)
    if person := _person(request):
        log_context.note("user", person.pk)
        return f"user {person.get_username()}"
    if driver := log_context.noted().get("driver"):
        return f"driver {driver}"
    return "-"


def _changed(request: HttpRequest) -> str:
    """The delivery or order that the request changes, and the moment of its change (`config.answered_calls`)."""
    if request.method in _SAFE:
        return ""
    noted = log_context.noted()
    return "".join(
        f" {kind} {noted[kind]} {noted.get('changed_at', '')}".rstrip()
        for kind in ("delivery", "order")
        if kind in noted
    )


class LimitMiddleware(MiddlewareMixin):
    """Refuse requests that are incomplete (`config.server.rsgi`) or that `config.server.limits` has cut."""

    def process_request(self, request: HttpRequest) -> HttpResponse | None:
        if reason := request.META.get(limits.UNREAD_BODY):
            return errors.late_body(request) if reason == "late" else errors.busy(request)
        if outcome := request.META.get(limits.HEAVY_CALL):
            return errors.heavy_call_running(request) if outcome == "running" else errors.away(request)
        limit: limits.TooLong | None = request.META.get(limits.TOO_LONG)
        return errors.too_long(request, limit) if limit else None


class RateLimitMiddleware(MiddlewareMixin):
    """Put the limits of the calling token or key on the answer, as far as they are known."""

    def process_response(self, request: HttpRequest, response: HttpResponseBase) -> HttpResponseBase:
        for name, value in rate_limit.headers(request.META).items():
            response[name] = value
        return response


class NoStoreMiddleware(MiddlewareMixin):
    """Forbid caching: answers and pages contain personal data and secrets."""

    def process_response(self, request: HttpRequest, response: HttpResponseBase) -> HttpResponseBase:
        response.headers.setdefault("Cache-Control", NO_STORE)
        return response


class ChangedCookieMiddleware(MiddlewareMixin):
    """Mark a browser that may have changed something, so that its next pages are read from the primary.

    In MIDDLEWARE only if there is a replica.
    """

    def process_response(self, request: HttpRequest, response: HttpResponseBase) -> HttpResponseBase:
        if request.method not in _SAFE and area_of(request.path) is None:
            response.set_cookie(
                settings.CHANGED_COOKIE_NAME,
                "1",
                max_age=CHANGED_SECONDS,
                secure=settings.SESSION_COOKIE_SECURE,
                httponly=True,
                samesite="Lax",
            )
        return response


class ContentSecurityPolicyMiddleware(CSPMiddleware):
    """The policy of the settings, and a constant one on answers of the APIs.

    To put the former together takes a tenth of the time that a call of an API takes.
    """

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        if area_of(request.path) is None:
            return super().__call__(request)  # type: ignore[return-value]  # nothing here is asynchronous
        response = self.get_response(request)
        response.headers[CSP_HEADER] = POLICY_OF_ANSWERS  # type: ignore[union-attr]  # see above
        return response  # type: ignore[return-value]  # see above

    def get_policy_parts(
        self, request: HttpRequest, response: HttpResponseBase, report_only: bool = False
    ) -> PolicyParts:
        """Pictures of openstreetmap.org too, once staff have decided so. A page with a map has read the rules."""
        parts = super().get_policy_parts(request, response, report_only)
        if (rules := DispatchRules.known()) and rules.streets_from_openstreetmap:
            parts.update = {**(parts.update or {}), "img-src": [map_file.origin_of_openstreetmap()]}
        return parts


class PageLocaleMiddleware(LocaleMiddleware):
    """The user's language on pages. API texts do not depend on the Accept-Language header."""

    def process_request(self, request: HttpRequest) -> None:
        if area_of(request.path):
            translation.activate(settings.LANGUAGE_CODE)
            return
        super().process_request(request)
        # A quoted cookie can hold one as `\000`.
        if "%00" in request.META.get("QUERY_STRING", "") or "\0" in "".join(request.COOKIES.values()):
            raise SuspiciousOperation("A query or a cookie holds a NUL, which no text in the database can.")
        if (request.encoding or "utf-8").lower() not in {"utf-8", "utf8"}:
            # Django refuses it for one kind of form and fails on some encodings for the other.
            raise BadRequest("Forms are read as UTF-8 only.")

    def process_response(self, request: HttpRequest, response: HttpResponseBase) -> HttpResponseBase:
        return response if area_of(request.path) else super().process_response(request, response)


class _OfPages:
    """A middleware that calls of the APIs pass without it."""

    get_response: Any

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        middleware: Any = self.get_response if area_of(request.path) else super().__call__  # type: ignore[misc]  # a mixin
        response: HttpResponseBase = middleware(request)
        return response


class PageSessionMiddleware(_OfPages, SessionMiddleware):
    """Sets `request.session`."""

    def process_response(self, request: HttpRequest, response: HttpResponse) -> HttpResponse:
        try:
            return super().process_response(request, response)
        except SessionInterrupted as error:
            # Django reads every error of the database while it saves the session as a session that was deleted: 400.
            cause = error.__context__.__context__ if error.__context__ else None
            if cause and is_unavailable(cause):
                raise cause  # noqa: B904  # it has its own cause
            raise


class PageUserMiddleware(_OfPages, AuthenticationMiddleware):
    """Sets `request.user`."""


class PageMessageMiddleware(_OfPages, MessageMiddleware):
    """Keeps messages for the next page."""


class VersionMiddleware(_OfPages, MiddlewareMixin):
    """Tells staff who are logged in the version of this service, and nobody else."""

    def process_response(self, request: HttpRequest, response: HttpResponseBase) -> HttpResponseBase:
        person = _person(request)
        if person and person.is_staff:
            response["X-Rota-Version"] = settings.VERSION
        return response
