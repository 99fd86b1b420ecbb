"""Errors that no endpoint answers itself: a page, or the error body of the API that the path belongs to.

Pages are rendered here and not by `django.views.defaults`, whose CSRF check reads the body of the request that failed
and may fail itself.
"""

import sys
from typing import Protocol

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.template.loader import render_to_string

from common.connections import is_unavailable
from config.areas import Area, area_of
from config.limits import TooLong
from delivery.api import problems
from integration.api import answers


class _Bodies(Protocol):
    """What the modules with the error bodies of the two APIs have in common."""

    def bad_request(self, request: HttpRequest, /) -> HttpResponse: ...
    def server_error(self, request: HttpRequest, /) -> HttpResponse: ...
    def late_body(self, request: HttpRequest, /) -> HttpResponse: ...
    def tls_required(self, request: HttpRequest, /) -> HttpResponse: ...
    def busy(self, request: HttpRequest, /) -> HttpResponse: ...
    def unavailable(self, request: HttpRequest, /) -> HttpResponse: ...


_BODIES: dict[Area, _Bodies] = {Area.A: problems, Area.B: answers}


def _bodies(request: HttpRequest) -> _Bodies | None:
    """The error bodies of the API that the path belongs to; None for a page."""
    area = area_of(request.path)
    return _BODIES[area] if area else None


def bad_request(request: HttpRequest, exception: Exception) -> HttpResponse:  # noqa: ARG001  # named by Django
    """What Django itself refuses, such as a Host header that ALLOWED_HOSTS does not know."""
    bodies = _bodies(request)
    return bodies.bad_request(request) if bodies else HttpResponse(render_to_string("400.html"), status=400)


def server_error(request: HttpRequest) -> HttpResponse:
    """What a view raised, while Django handles it: 503 if PostgreSQL was unavailable, else 500."""
    bodies = _bodies(request)
    if is_unavailable(sys.exc_info()[1]):
        response = bodies.unavailable(request) if bodies else HttpResponse(render_to_string("away.html"), status=503)
        response["Retry-After"] = "5"  # seconds
        return response
    return bodies.server_error(request) if bodies else HttpResponse(render_to_string("500.html"), status=500)


def late_body(request: HttpRequest) -> HttpResponse:
    """408: the body did not arrive in time."""
    bodies = _bodies(request)
    return bodies.late_body(request) if bodies else render(request, "408.html", status=408)


def tls_required(request: HttpRequest) -> HttpResponse:
    """403: a call of an API over plain HTTP."""
    return _BODIES[area_of(request.path) or Area.A].tls_required(request)


def busy(request: HttpRequest) -> HttpResponse:
    """503: too many large bodies at once."""
    bodies = _bodies(request)
    response = bodies.busy(request) if bodies else render(request, "503.html", status=503)
    response["Retry-After"] = "1"  # seconds
    return response


def too_long(request: HttpRequest, limit: TooLong) -> HttpResponse:
    """414 or 431: the URL or a header is longer than a limit."""
    match area_of(request.path):
        case Area.A:
            return problems.too_long(request, limit.english, status=limit.status, code=limit.code)
        case Area.B:
            return answers.too_long(limit.portuguese, status=limit.status, code=limit.code)
        case None:
            return render(request, "too_long.html", status=limit.status)
